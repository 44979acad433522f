import torch
from torch.func import functional_call
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(10):
    opt.zero_grad()
    total = 0.0
    for _ in range(3):
        a = torch.rand(1) * 3
        x = torch.randn(10, 1)
        p = dict(net.named_parameters())
        inner = (functional_call(net, p, x) - a * x).pow(2).mean()
        g = torch.autograd.grad(inner, p.values(), create_graph=True)
        fast = {k: v - 0.1 * d for (k, v), d in zip(p.items(), g)}
        total = total + (functional_call(net, fast, x) - a * x).pow(2).mean()
    (total / 3).backward()
    opt.step()
