import torch
from torch import nn

shared, one, two = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
opt = torch.optim.SGD([*shared.parameters(), *one.parameters(), *two.parameters()], lr=0.01)
for _ in range(3):
    h = shared(torch.randn(8, 3)).tanh()
    opt.zero_grad()
    one(h).pow(2).mean().backward(retain_graph=True)
    two(h).pow(2).mean().backward()
    opt.step()
