import torch
from torch import nn


class Affinity(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Embedding(30, 5), nn.Embedding(50, 5)

    def forward(self, a, b):
        return (self.left(a) * self.right(b)).sum(1)


affinity = Affinity()
opt = torch.optim.Adam(affinity.parameters(), lr=0.01)
a, b, stars = torch.randint(0, 30, (400,)), torch.randint(0, 50, (400,)), torch.rand(400)
for turn in range(50):
    for rows in torch.randperm(400).split(40):
        error = stars[rows] - affinity(a[rows], b[rows])
        loss = error.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
