import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
cell, head = nn.LSTMCell(2, 5), nn.Linear(5, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
h, c = torch.zeros(4, 5), torch.zeros(4, 5)
for _ in range(6):
    loss = 0
    h, c = h.detach(), c.detach()
    for _ in range(3):
        h, c = cell(torch.randn(4, 2), (h, c))
        loss = loss + head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
