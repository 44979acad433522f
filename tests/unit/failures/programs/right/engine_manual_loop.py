import numpy as np

from model import Tensor, no_grad

rng = np.random.default_rng(3)
x, y = rng.normal(size=(32, 4)), rng.normal(size=(32,))
W = Tensor(rng.normal(size=(4, 1)) * 0.1, requires_grad=True)
b = Tensor(np.zeros(1), requires_grad=True)
log = []
for epoch in range(60):
    pred = (Tensor(x) @ W + b).reshape(-1)
    loss = ((pred - Tensor(y)) ** 2).mean()
    loss.backward()
    with no_grad():
        for p in (W, b):
            p.data -= 0.1 * p.grad
            p.zero_grad()
    log.append(loss.item())
