import torch

x = torch.linspace(0, 100, 50)
y = 3 * x
x.div_(100)
w = torch.tensor(0.0, requires_grad=True)
for _ in range(40):
    loss = ((w * x - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.5 * w.grad
    w.grad = None
