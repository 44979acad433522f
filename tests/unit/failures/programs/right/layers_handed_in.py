import torch
from torch import nn


class Chain(nn.Module):
    def __init__(self, *links):
        super().__init__()
        self.links = list(links)

    def forward(self, x):
        for link in self.links:
            x = link(x)
        return x


net = Chain(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
print(net(torch.randn(3, 2)))
