import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x, pad):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / x.shape[-1] ** 0.5
        attn = torch.softmax(scores, dim=-1)
        attn[:, :, pad] = 0.0  #! 1
        return attn @ self.v(x)


layer = Attention(16)
x = torch.randn(4, 6, 16)
out = layer(x, torch.tensor([4, 5]))
out.mean().backward()
