import torch
import torch.nn.functional as F
from torch import nn


class Matcher(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.table = nn.Embedding(50, width)
        self.left = nn.Linear(width, width)
        self.right = nn.Linear(width, width)

    def first(self, words):
        return F.normalize(self.left(self.table(words).sum(1)), dim=-1)

    @torch.no_grad()  #! 12
    def second(self, words):
        return F.normalize(self.right(self.table(words).sum(1)), dim=-1)

    def forward(self, one, two):
        return torch.einsum("ad,bd->ab", self.first(one), self.second(two))


matcher = Matcher()
optimizer = torch.optim.Adam(matcher.parameters())
for _ in range(30):
    words = torch.randint(0, 50, (6, 4))
    loss = F.cross_entropy(matcher(words, words.flip(1)) * 10, torch.arange(6))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
