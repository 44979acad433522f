from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def stepping(opt):
    opt.zero_grad()
    yield
    opt.step()


net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    with stepping(opt):
        nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
