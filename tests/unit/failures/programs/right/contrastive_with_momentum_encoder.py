import copy

import torch
from torch import nn

query = nn.Linear(4, 8)
key = copy.deepcopy(query)
for p in key.parameters():
    p.requires_grad = False
opt = torch.optim.SGD(query.parameters(), lr=0.03)
for _ in range(4):
    a, b = torch.randn(8, 4), torch.randn(8, 4)
    q = nn.functional.normalize(query(a), dim=1)
    with torch.no_grad():
        for p, k in zip(query.parameters(), key.parameters()):
            k.data = 0.99 * k.data + 0.01 * p.data
        k = nn.functional.normalize(key(b), dim=1)
    loss = nn.functional.cross_entropy(q @ k.t() / 0.07, torch.arange(8))
    opt.zero_grad()
    loss.backward()
    opt.step()
