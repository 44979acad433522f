import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, tags=9):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.top = nn.Linear(24, tags)

    def forward(self, x):
        return self.top(self.body(x))


def renew(net, tags):
    net.top = nn.Linear(24, tags)  #! 19


def prepare(tagger):
    slow = {"params": tagger.body.parameters(), "lr": 1e-4}
    fast = {"params": tagger.top.parameters()}
    optimizer = torch.optim.AdamW([slow, fast], lr=1e-3)
    renew(tagger, 4)
    return optimizer


tagger = Tagger()
optimizer = prepare(tagger)
x, y = torch.randn(96, 12), torch.randint(0, 4, (96,))
for epoch in range(10):
    tagger.zero_grad()
    loss = nn.functional.cross_entropy(tagger(x), y)
    loss.backward()
    optimizer.step()
