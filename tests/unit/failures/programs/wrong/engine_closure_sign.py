import numpy as np

from model import Tensor

rng = np.random.default_rng(0)
X = Tensor(rng.normal(size=(64, 3)))
t = Tensor(rng.normal(size=(64, 1)))
weights = [Tensor(rng.normal(size=(3, 8)), requires_grad=True), Tensor(rng.normal(size=(8, 1)), requires_grad=True)]


def predict(x):
    for w in weights[:-1]:
        x = (x @ w).tanh()
    return x @ weights[-1]


for step in range(200):
    for w in weights:
        w.zero_grad()
    loss = ((predict(X) - t) ** 2).mean()
    loss.backward()
    for w in weights:
        w.data += 0.05 * w.grad  #! 18
