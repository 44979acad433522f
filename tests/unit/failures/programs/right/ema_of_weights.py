import copy

import torch
from torch import nn

model = nn.Linear(10, 10)
shadow = copy.deepcopy(model)
for p in shadow.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
decay = 0.999
for x, y in loader:
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for s, p in zip(shadow.parameters(), model.parameters()):
            s.mul_(decay).add_(p, alpha=1 - decay)
