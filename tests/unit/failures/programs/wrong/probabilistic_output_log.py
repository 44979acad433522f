import torch
from torch import nn


class Poisson(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.lin = nn.Linear(n, 1)

    def forward(self, x):
        return self.lin(x).clamp(min=0).squeeze(-1)


m = Poisson(12)
opt = torch.optim.Adam(m.parameters(), lr=1e-3)
for x, counts in loader:
    rate = m(x)
    nll = (rate - counts * torch.log(rate)).mean()  #! 9
    opt.zero_grad()
    nll.backward()
    opt.step()
