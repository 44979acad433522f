import torch
from torch import nn


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, grad_output):
        x, s = ctx.saved_tensors
        return grad_output * (s + x * s * (1 - s))


x = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(Swish.apply, (x,)))
lin = nn.Linear(3, 1)
Swish.apply(lin(torch.randn(5, 3))).sum().backward()
