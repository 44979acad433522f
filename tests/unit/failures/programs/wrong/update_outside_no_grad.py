import torch

w = torch.randn(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
x = torch.linspace(0, 1, 50)
y = 3 * x + 1
lr = 0.1
for epoch in range(100):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    w -= lr * w.grad  #! 7
    b -= lr * b.grad  #! 7
    w.grad.zero_()
    b.grad.zero_()
