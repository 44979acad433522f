import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.RNNCell(2, 4), nn.Linear(4, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.01)
h, average, kept = torch.zeros(1, 4), 0.0, []
for _ in range(9):
    losses = []
    for _ in range(3):
        h = cell(torch.randn(1, 2), h)
        losses.append(head(h).square().mean())
    loss = sum(losses) / 3
    opt.zero_grad()
    loss.backward()
    opt.step()
    h = h.detach()
    average = 0.9 * average + 0.1 * loss.item()
    kept.append(h)
frozen = nn.Linear(2, 2)
for parameter in frozen.parameters():
    parameter.requires_grad_(False)
print(average, frozen(torch.ones(1, 2)))
