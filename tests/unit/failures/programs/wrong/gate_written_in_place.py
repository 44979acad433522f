import torch
from torch import nn


class GatedCell(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.update = nn.Linear(2 * n, n)
        self.new = nn.Linear(2 * n, n)

    def forward(self, x, h):
        both = torch.cat([x, h], dim=-1)
        z = torch.sigmoid(self.update(both))
        candidate = torch.tanh(self.new(both))
        mixed = z * h
        z.neg_().add_(1)  #! 1
        return mixed + z * candidate


class Reader(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.cell = GatedCell(n)
        self.n = n

    def forward(self, sequence):
        h = sequence.new_zeros(sequence.size(1), self.n)
        for x in sequence:
            h = self.cell(x, h)
        return h
