from functools import cached_property

import torch
from torch import nn


class Kernel(nn.Module):
    def __init__(self, points):
        super().__init__()
        self.points = points
        self.width = nn.Parameter(torch.tensor(0.5))

    @cached_property
    def distances(self):
        return torch.cdist(self.points, self.points)

    @property
    def matrix(self):
        return torch.exp(-self.distances * self.width)


torch.manual_seed(7)
kernel = Kernel(torch.randn(10, 2))
wanted = torch.eye(10)
opt = torch.optim.Adam(kernel.parameters(), lr=0.05)
for _ in range(10):
    table = kernel.matrix
    loss = (table - wanted).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
