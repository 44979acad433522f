import torch
from torch import nn

torch.manual_seed(16)
u = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.Adam(u.parameters(), lr=1e-3)


def residual(t):
    y = u(t)
    dy = torch.autograd.grad(y, t, torch.ones_like(y))[0]  #! 2
    return dy + y


for _ in range(5):
    t = torch.rand(32, 1, requires_grad=True)
    loss = residual(t).square().mean() + (u(torch.zeros(1, 1)) - 1).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
