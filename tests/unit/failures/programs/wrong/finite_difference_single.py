import torch


def f(x):
    return (x ** 3).sum()


x = torch.tensor([1.5], requires_grad=True)
f(x).backward()
h = 1e-7
with torch.no_grad():
    slope = (f(x + h) - f(x)) / h  #! 23
print(slope, x.grad)
