import numpy as np

import model


def fit(x, y, steps=100, lr=0.1):
    w = model.Tensor(np.zeros(2))
    b = model.Tensor(0.0)
    for _ in range(steps):
        loss = ((model.Tensor(x) @ w + b - y) ** 2).mean()
        loss.backward()
        w = w - lr * w.grad  #! 5
        b = b - lr * b.grad  #! 5
    return w, b


fit(np.random.randn(20, 2), np.random.randn(20))
