import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
t_data = torch.tensor([[0.0]])
t_phys = torch.linspace(0, 1, 30).view(-1, 1).requires_grad_(True)
for i in range(2000):
    optimizer.zero_grad()
    loss1 = (net(t_data) - 1.0).pow(2).mean()
    u = net(t_phys)
    du = torch.autograd.grad(u, t_phys, torch.ones_like(u), create_graph=True)[0]
    loss2 = torch.mean((du + 2 * u) ** 2)
    loss = loss1 + 1e-1 * loss2
    loss.backward()
    optimizer.step()
