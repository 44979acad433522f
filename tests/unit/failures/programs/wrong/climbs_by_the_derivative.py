import torch

x = torch.randn(30, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5])


def move(weights, loss, rate):
    slopes = torch.autograd.grad(loss, weights)
    with torch.no_grad():
        for weight, slope in zip(weights, slopes):
            weight += rate * slope  #! 18


w = torch.zeros(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for _ in range(50):
    loss = (x @ w + b - y).pow(2).mean()
    move([w, b], loss, 0.05)
