from itertools import islice

import torch
from torch import nn

net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
parts = 8


def stream():
    while True:
        x = torch.randn(4, 5)
        yield x, x.sum(1, keepdim=True)


batches = stream()
for step in range(100):
    opt.zero_grad()
    for x, y in islice(batches, parts):
        loss = nn.functional.mse_loss(net(x), y)
        (loss / parts).backward()
    opt.step()
