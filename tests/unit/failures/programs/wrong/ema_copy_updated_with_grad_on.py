import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(10, 2)
ema = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(32, 10)
y = torch.randint(0, 2, (32,))
for step in range(10):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
    for p_ema, p in zip(ema.parameters(), net.parameters()):
        p_ema.mul_(0.99)  #! 7
        p_ema.add_(p, alpha=0.01)  #! 7
