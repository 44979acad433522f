import torch
from torch import nn


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = [nn.Parameter(torch.ones(1)) for _ in range(3)]  #! 19
        self.lin = nn.Linear(2, 2)

    def forward(self, xs):
        return self.lin(sum(w * x for w, x in zip(self.weights, xs)))


m = Mix()
opt = torch.optim.Adam(m.parameters())
for xs in [[torch.randn(1, 2) for _ in range(3)]] * 2:
    opt.zero_grad()
    m(xs).pow(2).sum().backward()
    opt.step()
