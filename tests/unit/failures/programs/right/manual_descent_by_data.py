import torch

w = torch.randn(2, requires_grad=True)
for epoch in range(50):
    loss = ((X @ w - y) ** 2).sum()
    loss.backward()
    w.data -= 0.01 * w.grad
    w.grad = None
