import torch
from torch.autograd import Function


class Clamp(Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.low, ctx.high = low, high
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output.clone()
        grad[x < ctx.low] = 0
        grad[x > ctx.high] = 0
        return grad, None, None


x = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(Clamp.apply, (x, -1.0, 1.0)))
