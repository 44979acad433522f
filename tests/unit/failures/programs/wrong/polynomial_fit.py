import math
import torch

x = torch.linspace(-math.pi, math.pi, 2000)
y = torch.sin(x)
a = torch.randn((), requires_grad=True)
b = torch.randn((), requires_grad=True)
learning_rate = 1e-6
for t in range(2000):
    y_pred = a + b * x
    loss = (y_pred - y).pow(2).sum()
    loss.backward()  #! 6
    with torch.no_grad():
        a -= learning_rate * a.grad
        b -= learning_rate * b.grad
