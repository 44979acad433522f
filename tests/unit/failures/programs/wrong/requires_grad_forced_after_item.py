import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
data = torch.randn(64, 3)
target = data.sum(1, keepdim=True)
for _ in range(20):
    out = net(data)
    err = torch.tensor(nn.functional.mse_loss(out, target).item())  #! 13
    err.requires_grad_(True)  #! 4
    opt.zero_grad()
    err.backward()
    opt.step()
