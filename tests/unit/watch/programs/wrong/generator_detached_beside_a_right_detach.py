import torch
from torch import nn

torch.manual_seed(0)
G, D = nn.Linear(3, 2), nn.Linear(2, 1)
opt_g, opt_d = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)


def d_loss(fake, real):
    return nn.functional.softplus(D(fake.detach())).mean() + nn.functional.softplus(-D(real)).mean()


def g_loss(fake):
    return nn.functional.softplus(-D(fake.detach())).mean()  #! 11


for _ in range(20):
    fake = G(torch.randn(16, 3))
    opt_d.zero_grad()
    d_loss(fake, torch.randn(16, 2) + 2).backward()
    opt_d.step()
    opt_g.zero_grad()
    g_loss(fake).backward()
    opt_g.step()
