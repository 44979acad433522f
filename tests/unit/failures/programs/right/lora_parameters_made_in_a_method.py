import torch
import torch.nn as nn


class LoRA(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.build(rank)

    def build(self, rank):
        self.a = nn.Parameter(torch.randn(rank, self.base.in_features) * 0.01)
        self.b = nn.Parameter(torch.zeros(self.base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T


layer = LoRA(nn.Linear(16, 4))
opt = torch.optim.AdamW([p for p in layer.parameters() if p.requires_grad], lr=1e-3)
for _ in range(3):
    loss = nn.functional.cross_entropy(layer(torch.randn(8, 16)), torch.randint(0, 4, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
