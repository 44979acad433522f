import torch


def f(x):
    return (x**3).sum()


x = torch.tensor([1.5], dtype=torch.float64, requires_grad=True)
f(x).backward()
h = 1e-6
with torch.no_grad():
    slope = (f(x + h) - f(x - h)) / (2 * h)
print(slope, x.grad)
