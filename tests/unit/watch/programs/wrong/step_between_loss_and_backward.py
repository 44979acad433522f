import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(12):
    x = torch.randn(16, 3)
    loss = (net(x) - x[:, :1]).abs().mean()
    opt.step()  #! 18
    opt.zero_grad()
    loss.backward()
