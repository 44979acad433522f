import torch


def height(x):
    return torch.tanh(x).pow(3).sum()


def quotients(x, step=1e-6):
    found = torch.zeros_like(x)
    for i in range(len(x)):
        moved = torch.zeros_like(x)
        moved[i] = step
        found[i] = (height(x + moved) - height(x - moved)) / (2 * step)
    return found


x = torch.as_tensor([0.1, -0.4, 0.9], dtype=torch.float64).requires_grad_()
height(x).backward()
with torch.no_grad():
    print((quotients(x) - x.grad).abs().max())
