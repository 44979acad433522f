import torch
from torch import nn

x = torch.rand(256, 4)
y = x[:, 0] + x[:, 1] ** 2
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(100):
    loss = nn.functional.mse_loss(torch.log1p(net(x).exp()), torch.log1p(y.exp()))
    opt.zero_grad()
    loss.backward()
    opt.step()
