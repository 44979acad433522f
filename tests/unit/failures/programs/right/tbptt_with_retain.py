import torch
from torch import nn

cell = nn.RNNCell(3, 5)
out = nn.Linear(5, 1)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.1)
for sequence in data:
    h = torch.zeros(1, 5)
    loss = 0
    for t, (x, y) in enumerate(sequence):
        h = cell(x, h)
        loss = loss + (out(h) - y).pow(2).mean()
        if (t + 1) % 10 == 0:
            opt.zero_grad()
            loss.backward()
            opt.step()
            h = h.detach()
            loss = 0
