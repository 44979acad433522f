import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def update(loss, **how):
    for name, action in how.items():
        if name != "after":
            action()
    loss.backward()
    how["after"]()


for _ in range(3):
    loss = nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1))
    update(loss, before=opt.zero_grad, after=opt.step)
