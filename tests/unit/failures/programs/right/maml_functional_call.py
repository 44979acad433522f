import torch
import torch.nn as nn
from torch.func import functional_call

net = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-3)
for it in range(3):
    meta.zero_grad()
    total = 0.0
    for task in range(4):
        x, y = torch.randn(10, 1), torch.randn(10, 1)
        params = dict(net.named_parameters())
        inner = (functional_call(net, params, (x,)) - y).pow(2).mean()
        grads = torch.autograd.grad(inner, params.values(), create_graph=True)
        fast = {k: p - 0.01 * g for (k, p), g in zip(params.items(), grads)}
        outer = (functional_call(net, fast, (x,)) - y).pow(2).mean()
        total = total + outer
    total.backward()
    meta.step()
