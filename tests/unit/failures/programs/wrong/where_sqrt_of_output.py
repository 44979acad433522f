import torch
from torch import nn


class Radius(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(3, 1)

    def forward(self, x):
        r2 = self.f(x)
        inside = r2 > 0
        return torch.where(inside, r2.sqrt(), torch.zeros_like(r2))  #! 20


net = Radius()
net(torch.randn(5, 3)).sum().backward()
