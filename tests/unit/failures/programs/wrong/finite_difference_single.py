import torch


def f(x):
    return (x**3).sum()


x = torch.tensor([1.5], requires_grad=True)
f(x).backward()
h = 1e-7  #! 23
with torch.no_grad():
    slope = (f(x + h) - f(x)) / h
print(slope, x.grad)
