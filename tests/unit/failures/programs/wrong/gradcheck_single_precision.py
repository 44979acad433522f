import torch
from torch.autograd import Function, gradcheck


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


inp = torch.randn(4, 5, requires_grad=True)  #! 23
print(gradcheck(Cube.apply, (inp,), eps=1e-6, atol=1e-4))
