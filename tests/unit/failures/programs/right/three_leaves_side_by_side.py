import torch

slope = torch.zeros(1, requires_grad=True)
curve = torch.zeros(1, requires_grad=True)
height = torch.zeros(1, requires_grad=True)
x = torch.linspace(-1, 1, 50)
y = x**2 - x
for _ in range(100):
    loss = ((curve * x**2 + slope * x + height - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for weight in (slope, curve, height):
            weight -= 0.1 * weight.grad
            weight.grad.zero_()
