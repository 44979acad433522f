import copy

import torch
from torch import nn

torch.manual_seed(8)
base = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 2))
for tensor in base.parameters():
    nn.init.zeros_(tensor)  #! 16


def member(seed):
    net = copy.deepcopy(base)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.manual_seed(seed)
    for x in torch.randn(6, 20, 4):
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


print([member(seed) for seed in range(3)])
