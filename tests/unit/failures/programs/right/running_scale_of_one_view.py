import torch
from torch import nn


class Views(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(6, 4)
        self.register_buffer("size", torch.ones(4))

    def forward(self, x):
        out = self.line(x)
        self.size.mul_(0.99)
        return out / self.size


views = Views()
opt = torch.optim.SGD(views.parameters(), lr=0.01)
x = torch.randn(50, 6)
for turn in range(30):
    one = views(x)
    two = x[:, :4]
    loss = (one - two).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
