import torch
from torch import nn
import torch.nn.functional as F


class Attn(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)

    def forward(self, x, mask):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        w = F.softmax(q @ k.transpose(-2, -1), dim=-1)
        w[mask] = 0  #! 1
        return w @ v


a = Attn(4)
a(torch.randn(2, 3, 4), torch.zeros(2, 3, 3, dtype=torch.bool)).sum().backward()
