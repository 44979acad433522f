import math

import torch
from torch import nn


def sinc(t):
    scaled = math.pi * t
    return torch.where(t == 0, torch.ones_like(t), torch.sin(scaled) / scaled)  #! 20


class SincConv(nn.Module):
    def __init__(self, filters, length):
        super().__init__()
        self.cutoff = nn.Parameter(torch.rand(filters))
        self.register_buffer("n", torch.arange(length) - length // 2)

    def forward(self, wave):
        kernel = sinc(2 * self.cutoff.unsqueeze(1) * self.n)
        return torch.nn.functional.conv1d(wave, kernel.unsqueeze(1))
