import torch
from torch import nn

torch.manual_seed(6)


class Forget:
    def run(self, opt):
        opt.zero_grad()


class Move:
    def run(self, opt):
        opt.step()


net = nn.Linear(4, 2)
opt = torch.optim.RMSprop(net.parameters(), lr=0.01)
for x in torch.randn(10, 16, 4):
    nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long()).backward()
    for plugin in [Move(), Forget()]:
        plugin.run(opt)
