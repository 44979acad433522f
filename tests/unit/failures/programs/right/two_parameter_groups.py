import itertools

import torch
from torch import nn

encoder = nn.Linear(100, 8)
decoder = nn.Linear(8, 100)
opt = torch.optim.Adam(itertools.chain(encoder.parameters(), decoder.parameters()), lr=1e-3)
head = nn.Linear(8, 2)
opt2 = torch.optim.SGD([{"params": head.parameters(), "lr": 0.1}, {"params": [encoder.bias]}], lr=0.01)
for x, y in loader:
    z = encoder(x)
    loss = nn.functional.mse_loss(decoder(z), x) + nn.functional.cross_entropy(head(z), y)
    opt.zero_grad()
    opt2.zero_grad()
    loss.backward()
    opt.step()
    opt2.step()
