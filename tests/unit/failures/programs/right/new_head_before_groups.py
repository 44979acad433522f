import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, tags=9):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.top = nn.Linear(24, tags)

    def forward(self, x):
        return self.top(self.body(x))


def renew(tagger, tags):
    tagger.top = nn.Linear(24, tags)


def prepare(tagger):
    renew(tagger, 4)
    groups = [{"params": tagger.body.parameters(), "lr": 1e-4}, {"params": tagger.top.parameters()}]
    return torch.optim.AdamW(groups, lr=1e-3)


tagger = Tagger()
optimizer = prepare(tagger)
x, y = torch.randn(96, 12), torch.randint(0, 4, (96,))
for epoch in range(10):
    tagger.zero_grad()
    loss = nn.functional.cross_entropy(tagger(x), y)
    loss.backward()
    optimizer.step()
