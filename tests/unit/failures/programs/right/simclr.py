import torch
import torch.nn as nn
import torch.nn.functional as F


def nt_xent(z, tau=0.5):
    z = F.normalize(z, dim=1)
    sim = z @ z.t() / tau
    n = z.size(0)
    sim.fill_diagonal_(-9e15)
    labels = torch.arange(n).roll(n // 2)
    return F.cross_entropy(sim, labels)


net = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 32))
opt = torch.optim.Adam(net.parameters(), lr=3e-4)
for a, b in loader:
    opt.zero_grad()
    loss = nt_xent(torch.cat([net(a), net(b)]))
    loss.backward()
    opt.step()
