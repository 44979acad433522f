import torch


class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = x / (1 + x.abs())
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, grad):
        (s,) = ctx.saved_tensors
        return grad * (1 - s.abs()) ** 2


def layer(x, w, scale):
    s = Softsign.apply(x @ w)
    s *= scale  #! 1
    return s


torch.manual_seed(12)
w1 = torch.randn(4, 6, requires_grad=True)
w2 = torch.randn(6, 1, requires_grad=True)
opt = torch.optim.SGD([w1, w2], lr=0.1)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(3):
    opt.zero_grad()
    loss = (layer(x, w1, 1.5) @ w2 - y).square().mean()
    loss.backward()
    opt.step()
