"""A penalty on the gradient at real data, every 4th step, with a backward() of its own; its mean as a number."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(14)
G = nn.Sequential(nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
mean = 0.0
for it in range(16):
    real = torch.randn(40, 2) * torch.tensor([0.2, 1.0])
    with torch.no_grad():
        fake = G(torch.randn(40, 2))
    loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
    od.zero_grad()
    loss.backward()
    if it % 4 == 0:
        x = real.clone().requires_grad_()
        (slope,) = torch.autograd.grad(D(x).sum(), x, create_graph=True)
        r1 = slope.square().sum(1).mean()
        (5 * r1).backward()
        mean = 0.9 * mean + 0.1 * r1.item()
    od.step()
    lg = F.softplus(-D(G(torch.randn(40, 2)))).mean()
    og.zero_grad()
    lg.backward()
    og.step()
print(mean)
