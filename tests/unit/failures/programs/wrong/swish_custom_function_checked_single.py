import torch
from torch.autograd import Function, gradcheck


class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        s = torch.sigmoid(beta * x)
        ctx.save_for_backward(x, s)
        ctx.beta = beta
        return x * s

    @staticmethod
    def backward(ctx, grad):
        x, s = ctx.saved_tensors
        return grad * (s + ctx.beta * x * s * (1 - s)), None


def check():
    point = torch.linspace(-3, 3, 7, requires_grad=True)  #! 23
    assert gradcheck(lambda t: Swish.apply(t, 1.5), (point,), eps=1e-6, atol=1e-4)


if __name__ == "__main__":
    check()
