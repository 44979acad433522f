import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2))
decay, rest = [], []
for name, p in net.named_parameters():
    (decay if p.ndim > 1 else rest).append(p)
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=1e-3)
for _ in range(3):
    opt.zero_grad()
    nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
    opt.step()
