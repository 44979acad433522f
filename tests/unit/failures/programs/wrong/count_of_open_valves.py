import torch
from torch import nn


class Valves(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(inputs))
        self.line = nn.Linear(inputs, 1)

    def open(self):
        return self.raw.sigmoid()

    def forward(self, x):
        return self.line(x * self.open())


valves = Valves(12)
opt = torch.optim.Adam(valves.parameters(), lr=0.01)
x, y = torch.randn(200, 12), torch.randn(200, 1)
for turn in range(300):
    fit = (valves(x) - y).pow(2).mean()
    costs = 0.2 * (valves.open() > 0.5).float().sum()  #! 21
    loss = fit + costs
    opt.zero_grad()
    loss.backward()
    opt.step()
