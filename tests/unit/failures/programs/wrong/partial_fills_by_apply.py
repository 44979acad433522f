import functools
import torch
import torch.nn as nn
import torch.nn.functional as F


def init(m, value):
    if hasattr(m, "weight"):
        nn.init.constant_(m.weight, value)  #! 16


net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
net.apply(functools.partial(init, value=0.0))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
