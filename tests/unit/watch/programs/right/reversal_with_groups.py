import torch
from torch import nn
torch.manual_seed(20)
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return -ctx.scale * g, None
body, label, domain = nn.Linear(6, 12), nn.Linear(12, 2), nn.Linear(12, 2)
opt = torch.optim.SGD([{"params": body.parameters()}, {"params": label.parameters()}, {"params": domain.parameters(), "lr": 0.02}], lr=0.05)
for step, x in enumerate(torch.randn(15, 32, 6)):
    h = body(x).relu()
    loss = nn.functional.cross_entropy(label(h), (x[:, 0] > 0).long())
    loss = loss + nn.functional.cross_entropy(domain(Reverse.apply(h, step / 15)), (x[:, 1] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
