import numpy as np

from model import Tensor, no_grad

rng = np.random.default_rng(1)
x = Tensor(rng.normal(size=(100, 2)))
y = Tensor((rng.normal(size=(100, 1)) > 0) * 1.0)
w1 = Tensor(rng.normal(size=(2, 16)), requires_grad=True)
b1 = Tensor(np.zeros(16), requires_grad=True)
w2 = Tensor(rng.normal(size=(16, 1)) * 0.25, requires_grad=True)
parameters = [w1, b1, w2]

for step in range(200):
    hidden = (x @ w1 + b1).tanh()
    out = hidden @ w2
    loss = ((out - y) ** 2).mean()
    for p in parameters:
        p.grad = None
    loss.backward()
    with no_grad():
        for p in parameters:
            p.data -= 0.1 * p.grad
    if step % 20 == 0:
        print(step, float(loss.data))
