import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.02)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(3):
    opt.zero_grad()  #! 6
    for part in range(0, 20, 5):
        loss = (net(x[part : part + 5]) - y[part : part + 5]).square().mean()
        loss.backward()
        opt.step()
