"""torch.tensor() around a tensor copies its numbers: the encoder never learns."""

import torch
from torch import nn

torch.manual_seed(0)
enc, dec = nn.Linear(12, 4), nn.Linear(4, 12)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
x = torch.randn(32, 12)
for _ in range(5):
    z = torch.tensor(enc(x))  #! 4
    opt.zero_grad()
    ((dec(z) - x) ** 2).mean().backward()
    opt.step()
