import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(5, 1), nn.Linear(5, 1)])
        self.shares = nn.Parameter(torch.ones(2))

    def forward(self, x):
        out = 0
        for share, part in zip(self.shares, self.parts):
            out = out + float(share) * part(x)  #! 13
        return out


mixture = Mixture()
optimizer = torch.optim.SGD(mixture.parameters(), lr=0.1)
x, y = torch.randn(70, 5), torch.randn(70, 1)
for step in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(mixture(x), y)
    loss.backward()
    optimizer.step()
