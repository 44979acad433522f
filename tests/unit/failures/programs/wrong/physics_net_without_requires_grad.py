import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
t = torch.linspace(0, 1, 100).view(-1, 1)  #! 4

for step in range(5000):
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    residual = (du + 2 * u).pow(2).mean()
    start = (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    loss = residual + start
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
