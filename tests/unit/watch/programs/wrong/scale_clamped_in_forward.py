import torch
from torch import nn


class Clip(nn.Module):
    """Keeps its own weights in a box."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(4))

    def forward(self, x):
        self.scale.clamp_(0.1, 2.0)  #! 7
        return x * self.scale


torch.manual_seed(12)
net = nn.Sequential(nn.Linear(4, 4), Clip(), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for batch in (torch.randn(8, 4) for _ in range(10)):
    loss = net(batch).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
