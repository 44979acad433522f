import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


def ramp(length, whole):
    def at(step):
        if step >= length:
            return 0.5 * (1 + math.cos(math.pi * (step - length) / whole))
        return (1 + step) / length

    return at


net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
schedule = LambdaLR(opt, ramp(60, 240))
for _ in range(300):
    x = torch.randn(16, 6)
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
