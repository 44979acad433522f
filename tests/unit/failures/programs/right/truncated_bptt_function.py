import torch
import torch.nn as nn


def detach(state):
    return tuple(s.detach() for s in state)


lstm = nn.LSTM(10, 20, batch_first=True)
head = nn.Linear(20, 10)
opt = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=1e-3)
data = torch.randn(4, 100, 10)
state = None
for t in range(0, 90, 10):
    x, y = data[:, t : t + 10], data[:, t + 1 : t + 11]
    out, state = lstm(x, state)
    loss = (head(out) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    state = detach(state)
