import torch
from torch import nn

cell, head = nn.LSTMCell(3, 5), nn.Linear(5, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)
h, c = torch.zeros(2, 5), torch.zeros(2, 5)
for chunk in torch.randn(6, 4, 2, 3):
    h, c = h.detach(), c.detach()
    loss = 0.0
    for x in chunk:
        h, c = cell(x, (h, c))
        loss = loss + head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
