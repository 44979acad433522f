import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def losses():
    for _ in range(4):
        opt.zero_grad()
        yield nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1))


for loss in losses():
    loss.backward()
    opt.step()
