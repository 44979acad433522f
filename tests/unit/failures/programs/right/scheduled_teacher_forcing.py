import random

import torch
import torch.nn as nn

cell = nn.GRUCell(16, 32)
embed = nn.Embedding(50, 16)
out = nn.Linear(32, 50)
params = [p for m in (cell, embed, out) for p in m.parameters()]
opt = torch.optim.Adam(params, lr=1e-3)
for source, target in loader:
    h = encode(source)
    token = target[:, 0]
    losses = []
    for t in range(1, target.size(1)):
        h = cell(embed(token), h)
        logits = out(h)
        losses.append(nn.functional.cross_entropy(logits, target[:, t]))
        token = target[:, t] if random.random() < 0.5 else logits.argmax(dim=1)
    loss = torch.stack(losses).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
