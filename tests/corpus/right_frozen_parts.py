# %% attack on a frozen network
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).requires_grad_(False)
x, y = torch.randn(5, 8), torch.randint(0, 3, (5,))
delta = (torch.randn(5, 8) * 0.01).requires_grad_()
for step in range(10):
    loss = nn.functional.cross_entropy(net(x + delta), y)
    loss.backward()
    with torch.no_grad():
        delta += 0.3 * delta.grad / delta.grad.norm(dim=1, keepdim=True)
        delta.grad.zero_()


# %% frozen lower layers
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
for p in net[:3].parameters():
    p.requires_grad = False
opt = torch.optim.SGD((p for p in net.parameters() if p.requires_grad), lr=0.1)
for _ in range(5):
    loss = nn.functional.cross_entropy(net(torch.randn(8, 10)), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% lora layers (read)
import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank=8, alpha=16):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.empty(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.A.T @ self.B.T) * self.scale


def inject(model, rank=8):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear):
            setattr(model, name, LoRALinear(child, rank))
        else:
            inject(child, rank)
    return model


model = inject(load_pretrained())
trainable = [p for n, p in model.named_parameters() if n.endswith((".A", ".B"))]
optimizer = torch.optim.AdamW(trainable, lr=2e-4)
for batch in loader:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
