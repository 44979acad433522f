import torch
from torch import nn

nets = {}
opt = None


def network(name):
    if name not in nets:
        nets[name] = nn.Linear(3, 1)
    return nets[name]


opt = torch.optim.SGD(network("main").parameters(), lr=0.1)
for x, y in [(torch.randn(4, 3), torch.randn(4, 1))] * 3:
    opt.zero_grad()
    nn.functional.mse_loss(network("main")(x), y).backward()
    opt.step()
