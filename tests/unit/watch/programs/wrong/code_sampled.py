"""sample() draws without a graph: the encoder of a variational autoencoder never learns."""

import torch
from torch import nn

torch.manual_seed(0)
enc, dec = nn.Linear(8, 4), nn.Linear(2, 8)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
for _ in range(5):
    x = torch.randn(16, 8)
    mean, log_scale = enc(x).chunk(2, -1)
    z = torch.distributions.Normal(mean, log_scale.exp()).sample()  #! 12
    opt.zero_grad()
    (dec(z) - x).pow(2).mean().backward()
    opt.step()
