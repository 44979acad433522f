import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
cell, head = nn.GRUCell(2, 5), nn.Linear(5, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
h = torch.zeros(4, 5)
for _ in range(4):
    h = cell(torch.randn(4, 2), h)  #! 11
    loss = head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
