import functools
import torch


def init(sizes, generator=None):
    return [
        (torch.randn(i, o, requires_grad=True), torch.zeros(o, requires_grad=True)) for i, o in zip(sizes, sizes[1:])
    ]


def predict(params, x):
    *hidden, (w, b) = params
    return functools.reduce(lambda h, wb: torch.relu(h @ wb[0] + wb[1]), hidden, x) @ w + b


def sgd_step(params, loss, lr):
    loss.backward()  #! 6
    with torch.no_grad():
        for w, b in params:
            w -= lr * w.grad
            b -= lr * b.grad


params = init([3, 16, 1])
for x, y in batches:
    sgd_step(params, (predict(params, x) - y).square().mean(), lr=1e-3)
