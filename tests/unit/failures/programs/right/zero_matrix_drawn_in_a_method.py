import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(10, 2))
        self.b = nn.Parameter(torch.zeros(2, 4))
        self.reset()

    def reset(self):
        with torch.no_grad():
            self.a.uniform_(-1, 1)

    def forward(self, x):
        return x @ self.a @ self.b


ad = Adapter()
opt = torch.optim.Adam(ad.parameters(), lr=1e-2)
for turn in range(10):
    loss = ad(torch.randn(3, 10)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
