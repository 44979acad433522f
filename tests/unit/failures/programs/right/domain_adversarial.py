import torch
from torch import nn
from torch.autograd import Function


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.alpha, None


feature, label, domain = nn.Linear(20, 16), nn.Linear(16, 3), nn.Linear(16, 2)
opt = torch.optim.Adam([p for m in [feature, label, domain] for p in m.parameters()], lr=1e-3)
ce = nn.CrossEntropyLoss()
for (xs, ys), (xt, _) in zip(source, target):
    opt.zero_grad()
    fs = feature(xs)
    err = ce(label(fs), ys) + ce(domain(Reverse.apply(fs, 0.1)), torch.zeros(len(xs)).long())
    err = err + ce(domain(Reverse.apply(feature(xt), 0.1)), torch.ones(len(xt)).long())
    err.backward()
    opt.step()
