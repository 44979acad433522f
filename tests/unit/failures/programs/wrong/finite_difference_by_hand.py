import torch
from torch.autograd import gradcheck


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


def test_cube():
    sample = torch.randn(6, requires_grad=True)  #! 23
    assert gradcheck(Cube.apply, (sample,))


test_cube()
