"""A recurrent network by hand: sequences of several lengths, a masked state and a masked loss, a learned start."""
import torch
from torch import nn

torch.manual_seed(15)
cell, read = nn.RNNCell(3, 12), nn.Linear(12, 3)
h0 = nn.Parameter(torch.zeros(12))
opt = torch.optim.Adam([*cell.parameters(), *read.parameters(), h0], lr=5e-3)
lengths = torch.randint(4, 10, (16,))
ids = torch.randint(0, 3, (16, 10))
hot = nn.functional.one_hot(ids, 3).float()
mask = (torch.arange(9)[None] < (lengths - 1)[:, None]).float()
for it in range(12):
    h, terms = h0.expand(16, -1), []
    for t in range(9):
        keep = mask[:, t : t + 1]
        h = keep * cell(hot[:, t], h) + (1 - keep) * h
        terms.append(nn.functional.cross_entropy(read(h), ids[:, t + 1], reduction="none"))
    loss = (torch.stack(terms, 1) * mask).sum() / mask.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
