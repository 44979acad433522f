import torch
from torch import nn

net = nn.Linear(3, 1)
opt = None


def setup():
    global opt
    opt = torch.optim.SGD(net.parameters(), lr=0.01)


def clear():
    opt.zero_grad()


def run():
    setup()
    for _ in range(3):
        clear()
        nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
        opt.step()


run()
