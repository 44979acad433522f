import copy

import torch
from torch import nn

net = nn.Linear(3, 1)
ema = copy.deepcopy(net).requires_grad_(requires_grad=False)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)


@torch.no_grad()
def update(decay=0.99):
    for e, p in zip(ema.parameters(), net.parameters()):
        e.mul_(decay).add_(p, alpha=1 - decay)
    for e, b in zip(ema.buffers(), net.buffers()):
        e.copy_(b)


for _ in range(4):
    loss = nn.functional.mse_loss(input=net(torch.randn(8, 3)), target=torch.randn(8, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    update()
