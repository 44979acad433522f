import torch
from torch import nn

squeeze, stretch = nn.Linear(9, 2), nn.Linear(2, 9)
optimizer = torch.optim.Adam([*squeeze.parameters(), *stretch.parameters()])
kept = []
for turn in range(40):
    codes, losses = [], []
    for part in torch.randn(16, 9).split(4):
        codes.append(torch.tanh(squeeze(part)))
        losses.append((stretch(codes[-1]) - part).pow(2).mean())
    optimizer.zero_grad()
    torch.stack(losses).mean().backward()
    optimizer.step()
    last = []
    for code in codes:
        last.append(code)
    kept.append(torch.cat(last).detach())
print(torch.cat(kept).shape)
