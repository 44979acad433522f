import torch
from torch import nn


class Sum:
    def __init__(self):
        self.all = 0.0

    def add(self, one):
        self.all = self.all + one


net = nn.Linear(7, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(60, 7), torch.randn(60, 1)
others, wanted = torch.randn(30, 7), torch.randn(30, 1)
sums = Sum()
for turn in range(100):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    distance = (net(others) - wanted).abs().mean()
    sums.add(distance.item())
print(sums.all)
