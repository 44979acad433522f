import torch
from torch import nn


class Mean:
    def __init__(self):
        self.total, self.seen = 0, 0

    def add(self, value):
        self.total += value
        self.seen += 1


def fit(net, opt):
    shown = Mean()
    for _ in range(6):
        loss = net(torch.randn(8, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        shown.add(loss)  #! 10
    print(shown.total / shown.seen)


net = nn.Linear(4, 1)
fit(net, torch.optim.SGD(net.parameters(), lr=0.01))
