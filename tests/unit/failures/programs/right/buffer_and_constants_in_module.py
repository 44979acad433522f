import torch
import torch.nn as nn


class Normalise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean))
        self.std = torch.tensor(std)
        self.scale = nn.Parameter(torch.ones(3))
        self.sizes = [3, 4]

    def forward(self, x):
        return (x - self.mean) / (self.std + 1e-8) * self.scale
