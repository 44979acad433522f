import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
from torch.utils.checkpoint import checkpoint

a, b = nn.Linear(4, 4), nn.Linear(4, 1)
opt = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=0.01)
for _ in range(6):
    x = torch.randn(8, 4)
    loss = b(checkpoint(lambda t: a(t).tanh(), x, use_reentrant=False)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
