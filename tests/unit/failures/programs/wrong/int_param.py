import torch
from torch import nn


class Count(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.Parameter(torch.tensor([1, 2, 3]))  #! 22

    def forward(self, x):
        return x * self.n
