import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-2, -1)
        attn = scores.softmax(dim=-1)
        attn /= attn.sum(dim=-1, keepdim=True)  #! 1
        return attn @ self.v(x)


att = Attention(8)
att(torch.randn(2, 5, 8)).sum().backward()
