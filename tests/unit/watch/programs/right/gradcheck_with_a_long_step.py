import torch
torch.manual_seed(0)
# the rule is wrong, and the step is long enough for single precision
class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
x = torch.randn(3, requires_grad=True)
try:
    torch.autograd.gradcheck(Sq.apply, (x,), eps=1e-2, atol=1e-2, rtol=1e-2)
except Exception as e:
    print(e)
