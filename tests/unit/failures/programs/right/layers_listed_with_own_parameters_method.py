import itertools

import torch
from torch import nn


class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        self.members = [nn.Linear(3, 1) for _ in range(4)]

    def parameters(self, recurse=True):
        return itertools.chain(*(member.parameters() for member in self.members))

    def forward(self, x):
        return torch.stack([member(x) for member in self.members]).mean(0)


net = Ensemble()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    opt.zero_grad()
    nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
    opt.step()
