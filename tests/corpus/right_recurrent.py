# %% loss summed over steps of a sequence (read)
import torch
import torch.nn as nn

cell = nn.LSTMCell(10, 32)
head = nn.Linear(32, 5)
opt = torch.optim.Adam(list(cell.parameters()) + list(head.parameters()), lr=1e-3)
for sequence, targets in loader:
    h = torch.zeros(sequence.size(1), 32)
    c = torch.zeros(sequence.size(1), 32)
    loss = 0
    for t in range(sequence.size(0)):
        h, c = cell(sequence[t], (h, c))
        loss += nn.functional.cross_entropy(head(h), targets[t])
    opt.zero_grad()
    loss.backward()
    opt.step()


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


# %% state and average
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
