import torch

w = torch.randn(3, requires_grad=True)
for step in range(10):
    loss = ((data @ w - target) ** 2).mean()
    loss.backward()
    w = w - 0.1 * w.grad  #! 5|12
