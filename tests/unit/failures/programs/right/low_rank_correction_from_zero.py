import torch
import torch.nn as nn
import torch.nn.functional as F


class Adapted(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + 2.0 * (x @ self.down.t() @ self.up.t())


x, y = torch.randn(64, 8), torch.randint(0, 3, (64,))
model = nn.Sequential(Adapted(nn.Linear(8, 16), 4), nn.Tanh(), Adapted(nn.Linear(16, 3), 4))
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for _ in range(20):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
