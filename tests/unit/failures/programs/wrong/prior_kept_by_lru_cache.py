import functools

import torch
from torch import nn

scale = nn.Parameter(torch.zeros(6))
offset = nn.Parameter(torch.zeros(6))
opt = torch.optim.Adam([scale, offset], lr=0.01)


@functools.lru_cache(maxsize=None)  #! 2
def strengths():
    return torch.exp(scale) + 0.1


for _ in range(50):
    x = torch.randn(32, 6)
    loss = ((x - offset) ** 2 / strengths() + torch.log(strengths())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
