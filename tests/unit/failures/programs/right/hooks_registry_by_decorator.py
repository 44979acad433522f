import torch
from torch import nn

HOOKS = {}


def register(name):
    def inner(function):
        HOOKS.setdefault(name, []).append(function)
        return function

    return inner


@register("before")
def clear(opt):
    opt.zero_grad()


@register("after")
def move(opt):
    opt.step()


net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    for hook in HOOKS["before"]:
        hook(opt)
    nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
    for hook in HOOKS["after"]:
        hook(opt)
