import torch


def example(rows=4, kind=torch.float32):  #! 23
    return torch.linspace(-1, 1, 3 * rows, dtype=kind).view(rows, 3).requires_grad_()


def gate(x):
    return x * torch.sigmoid(2 * x)


print(torch.autograd.gradcheck(gate, (example(),)))
