import torch
from torch import nn


class Listener:
    def passed(self, run):
        run.count += 1
        run.opt.zero_grad()


class Run:
    def __init__(self, net):
        self.net, self.count = net, 0
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.listener = Listener()

    def tell(self):
        self.listener.passed(self)

    def go(self, x, y):
        for turn in range(40):
            loss = nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.opt.step()
            self.tell()


Run(nn.Linear(3, 1)).go(torch.randn(20, 3), torch.randn(20, 1))
