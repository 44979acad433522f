# %% lstm state detached as pair (read)
import torch
from torch import nn

lstm = nn.LSTM(10, 20)
optimizer = torch.optim.RMSprop(lstm.parameters(), lr=1e-3)
state = None
for chunk, target in chunks:
    optimizer.zero_grad()
    output, (h, c) = lstm(chunk, state)
    state = (h.detach(), c.detach())
    loss = nn.functional.mse_loss(output, target)
    loss.backward()
    optimizer.step()


# %% lstm state repackaged (read)
import torch
from torch import nn


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


lstm = nn.LSTM(10, 20)
head = nn.Linear(20, 3)
optimizer = torch.optim.SGD([*lstm.parameters(), *head.parameters()], lr=0.1)
hidden = (torch.zeros(1, 4, 20), torch.zeros(1, 4, 20))
for chunk, target in chunks:
    hidden = repackage_hidden(hidden)
    optimizer.zero_grad()
    output, hidden = lstm(chunk, hidden)
    loss = nn.functional.cross_entropy(head(output).view(-1, 3), target.view(-1))
    loss.backward()
    optimizer.step()


# %% mean of stacked losses
import torch
from torch import nn

net = nn.GRU(2, 4)
out = nn.Linear(4, 1)
opt = torch.optim.Adam([*net.parameters(), *out.parameters()])
seqs = [(torch.randn(5, 1, 2), torch.randn(5, 1, 1)) for _ in range(8)]
for epoch in range(2):
    per_step = []
    for x, y in seqs:
        h, _ = net(x)
        per_step.append((out(h) - y).pow(2).mean())
    loss = torch.stack(per_step).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% truncated
import torch
import torch.nn as nn

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


# %% hidden state detached in place before each window
import torch
from torch import nn

cell, head = nn.GRU(5, 8, batch_first=True), nn.Linear(8, 5)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
series = torch.randn(2, 60, 5)
hidden = torch.zeros(1, 2, 8)
for start in range(0, 50, 10):
    hidden.detach_()
    out, hidden = cell(series[:, start : start + 10], hidden)
    loss = (head(out) - series[:, start + 1 : start + 11]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
