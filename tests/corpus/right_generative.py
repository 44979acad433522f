# %% gan
import torch
import torch.nn as nn

torch.manual_seed(0)
G, D = nn.Linear(2, 4), nn.Linear(4, 1)
og, od = torch.optim.Adam(G.parameters(), lr=1e-3), torch.optim.Adam(D.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
for _ in range(8):
    real, fake = torch.randn(8, 4), G(torch.randn(8, 2))
    od.zero_grad()
    bce(D(real), torch.ones(8, 1)).backward()
    bce(D(fake.detach()), torch.zeros(8, 1)).backward()
    od.step()
    og.zero_grad()
    bce(D(fake), torch.ones(8, 1)).backward()
    og.step()


# %% gan with frozen discriminator
import torch
from torch import nn

G = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g, opt_d = (torch.optim.Adam(m.parameters(), lr=2e-4, betas=(0.5, 0.999)) for m in (G, D))
bce = nn.BCEWithLogitsLoss()


def requires_grad(model, flag):
    for p in model.parameters():
        p.requires_grad_(flag)


for _ in range(4):
    requires_grad(D, True)
    real, fake = torch.randn(8, 2), G(torch.randn(8, 2)).detach()
    d_loss = bce(D(real), torch.ones(8, 1)) + bce(D(fake), torch.zeros(8, 1))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    requires_grad(D, False)
    g_loss = bce(D(G(torch.randn(8, 2))), torch.ones(8, 1))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
