from functools import cached_property

import torch
from torch import nn


def normalised(raw):
    return raw / raw.norm(dim=1, keepdim=True)


class Directions(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.randn(3, 5))

    @cached_property  #! 2
    def weight(self):
        return normalised(self.raw)

    def forward(self, x):
        return x @ self.weight.T


torch.manual_seed(7)
net = Directions()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(6, 16, 5):
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
