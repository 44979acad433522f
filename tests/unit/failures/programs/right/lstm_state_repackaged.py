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
