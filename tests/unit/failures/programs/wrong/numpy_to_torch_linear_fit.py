import numpy as np
import torch

rng = np.random.default_rng(0)
x_np = rng.uniform(-1, 1, (100, 1))
y_np = 3 * x_np + 0.5 + 0.1 * rng.normal(size=(100, 1))
x = torch.from_numpy(x_np).float()
y = torch.from_numpy(y_np).float()

w = torch.randn(1, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.1
for i in range(200):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()  #! 6
    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad
    if not i % 20:
        print(i, float(loss))
