import torch
from torch import nn

net = nn.Linear(7, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(60, 7), torch.randn(60, 1)
total = 0.0
for turn in range(10):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    total = total + (net(x) - y).abs().mean()
opt.zero_grad()
total.backward()
