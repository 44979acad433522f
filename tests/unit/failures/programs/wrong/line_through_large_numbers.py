import torch

x = torch.tensor([[30.0], [45.0], [60.0], [80.0], [100.0]])
y = 0.5 * x + 3
w = torch.zeros(1, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for i in range(50):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad  #! 17
        b -= 0.01 * b.grad
    w.grad.zero_()
    b.grad.zero_()
