"""Straight through: a codebook with a commitment loss, and a rounding layer."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)
enc, dec, book = nn.Linear(6, 4), nn.Linear(4, 6), nn.Embedding(16, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *book.parameters()], lr=1e-2)
x = torch.randn(128, 6)
for it in range(15):
    z = enc(x)
    near = torch.cdist(z, book.weight).argmin(1)
    q = book(near)
    fit = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
    q = z + (q - z).detach()
    r = q + ((q * 8).round() / 8 - q).detach()
    loss = F.mse_loss(dec(r), x) + fit
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(near.unique()))
