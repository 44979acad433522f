import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Deep(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(32, 32), nn.GELU()) for _ in range(n))
        self.out = nn.Linear(32, 4)

    def forward(self, x):
        for block in self.blocks:
            x = x + checkpoint(block, x, use_reentrant=False)
        return self.out(x)


model = Deep(12)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
x = torch.randn(8, 32).requires_grad_(True)
for _ in range(2):
    loss = nn.functional.cross_entropy(model(x), torch.randint(0, 4, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
