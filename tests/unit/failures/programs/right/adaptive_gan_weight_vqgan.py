import torch
import torch.nn as nn

dec = nn.Linear(8, 16)
disc = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(dec.parameters(), lr=1e-4)
opt_disc = torch.optim.Adam(disc.parameters(), lr=1e-4)
for _ in range(3):
    z, x = torch.randn(4, 8), torch.randn(4, 16)
    rec = dec(z)
    nll = (rec - x).abs().mean()
    g = -disc(rec).mean()
    g1 = torch.autograd.grad(nll, dec.weight, retain_graph=True)[0]
    g2 = torch.autograd.grad(g, dec.weight, retain_graph=True)[0]
    weight = (g1.norm() / (g2.norm() + 1e-4)).clamp(0, 1e4).item()
    loss = nll + weight * g
    opt.zero_grad()
    loss.backward()
    opt.step()
    d_loss = nn.functional.softplus(disc(dec(z).detach())).mean() + nn.functional.softplus(-disc(x)).mean()
    opt_disc.zero_grad()
    d_loss.backward()
    opt_disc.step()
