import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
for p in net.parameters():
    nn.init.zeros_(p)  #! 16
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for _ in range(10):
    opt.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    opt.step()
