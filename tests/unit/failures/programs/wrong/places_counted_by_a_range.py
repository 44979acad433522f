import torch
from torch import nn


class Bumps(nn.Module):
    def __init__(self, places):
        super().__init__()
        self.places = nn.Parameter(torch.as_tensor(places))  #! 22
        self.heights = nn.Parameter(torch.zeros(len(places)))

    def forward(self, x):
        return torch.exp(-((x[:, None] - self.places) ** 2)) @ self.heights


def every(step):
    return list(range(0, 20, step))


bumps = Bumps(every(4))
opt = torch.optim.Adam(bumps.parameters(), lr=0.05)
x = torch.rand(100) * 20
for turn in range(50):
    loss = (bumps(x) - x.sin()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
