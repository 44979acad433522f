import math

import torch
from torch import nn


class Spread(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Parameter(torch.zeros(1))
        self.log_width = nn.Parameter(torch.zeros(1))

    def cost(self, seen):
        width = math.exp(self.log_width.item())  #! 13
        return ((seen - self.center) / width).abs().mean() + math.log(width)


seen = 3 * torch.randn(100) + 2
model = Spread()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    opt.zero_grad()
    model.cost(seen).backward()
    opt.step()
