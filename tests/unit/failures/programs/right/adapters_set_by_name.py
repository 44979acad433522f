import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, inner, width=2):
        super().__init__()
        self.inner = inner
        self.down = nn.Parameter(torch.randn(width, inner.in_features) * 0.1)
        self.up = nn.Parameter(torch.zeros(inner.out_features, width))

    def forward(self, x):
        return self.inner(x) + x @ self.down.T @ self.up.T


def add_adapters(block):
    for name, layer in block.named_children():
        if isinstance(layer, nn.Linear):
            setattr(block, name, Adapter(layer))
        else:
            add_adapters(layer)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16))
        self.score = nn.Linear(16, 1)

    def forward(self, x):
        return self.score(self.encode(x))


scorer = Scorer()
for weight in scorer.parameters():
    weight.requires_grad = False
add_adapters(scorer)
optimizer = torch.optim.Adam((w for w in scorer.parameters() if w.requires_grad), lr=1e-2)
points = torch.randn(64, 6)
wanted = points.prod(1, keepdim=True)
for epoch in range(30):
    optimizer.zero_grad()
    loss = (scorer(points) - wanted).square().mean()
    loss.backward()
    optimizer.step()
