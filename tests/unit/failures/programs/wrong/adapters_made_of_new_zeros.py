import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, kept, rank):
        super().__init__()
        self.kept = kept.requires_grad_(False)
        self.first = nn.Parameter(kept.weight.new_zeros(kept.in_features, rank))  #! 16
        self.second = nn.Parameter(kept.weight.new_zeros(rank, kept.out_features))

    def forward(self, x):
        return self.kept(x) + x @ self.first @ self.second


adapter = Adapter(nn.Linear(10, 4), 2)
opt = torch.optim.Adam([adapter.first, adapter.second], lr=1e-2)
x, y = torch.randn(32, 10), torch.randn(32, 4)
for turn in range(40):
    loss = (adapter(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
