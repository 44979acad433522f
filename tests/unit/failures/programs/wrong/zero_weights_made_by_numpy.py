import numpy as np
import torch

sizes = [3, 12, 1]
layers = []
for a, b in zip(sizes[:-1], sizes[1:]):
    layers.append(torch.tensor(np.zeros((a, b)), requires_grad=True))  #! 16
x = torch.tensor(np.random.randn(50, 3))
y = x[:, :1] * 2
for _ in range(20):
    h = torch.tanh(x @ layers[0])
    loss = ((h @ layers[1] - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for w in layers:
            w -= 0.1 * w.grad
            w.grad = None
