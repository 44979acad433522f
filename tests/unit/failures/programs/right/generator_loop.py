import torch
from torch import nn


def batches(n, size):
    xs = torch.randn(n, 5)
    ys = xs.sum(1, keepdim=True)
    for i in range(0, n, size):
        yield xs[i : i + size], ys[i : i + size]


model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
total = 0.0
for epoch in range(30):
    for x, y in batches(1024, 32):
        loss = ((model(x) - y) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
