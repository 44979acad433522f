import torch
from helpers import *
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in batches():
    out = net(x)
    loss = criterion(out, y)
    prepare(opt)
    loss.backward()
    opt.step()
