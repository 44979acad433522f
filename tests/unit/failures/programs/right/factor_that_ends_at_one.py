import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.2)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(0.05 * (step + 1), 1.0))
x, y = torch.randn(100, 3), torch.randn(100, 1)
for step in range(800):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    warm.step()
