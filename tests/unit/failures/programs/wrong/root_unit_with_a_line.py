import torch
from torch import nn


class RootUnit(nn.Module):
    def __init__(self, lift=0.04):
        super().__init__()
        self.lift = lift

    def forward(self, u):
        bent = (u + self.lift) ** 0.5 - self.lift**0.5  #! 20
        return torch.where(u >= 0, bent, 0.2 * u)


net = nn.Sequential(nn.Linear(3, 16), RootUnit(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(128, 3)
y = x.abs().sum(1, keepdim=True)
for step in range(200):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
