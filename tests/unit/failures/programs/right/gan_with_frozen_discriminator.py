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
