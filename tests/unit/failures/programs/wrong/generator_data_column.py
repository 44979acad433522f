import torch
from torch import nn


def batches(n, size):
    xs = torch.randn(n, 5)
    w = torch.randn(5)
    ys = xs @ w + 0.1 * torch.randn(n)
    for i in range(0, n, size):
        yield xs[i : i + size], ys[i : i + size]


model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(30):
    for x, y in batches(1024, 32):
        pred = model(x)
        loss = ((pred - y) ** 2).mean()  #! 8
        opt.zero_grad()
        loss.backward()
        opt.step()
