import torch
import torch.nn as nn
from collections import defaultdict

net = nn.Linear(20, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
meters = defaultdict(float)
for x, y in loader:
    losses = {"ce": nn.functional.cross_entropy(net(x), y), "l2": 1e-4 * net.weight.pow(2).sum()}
    opt.zero_grad()
    sum(losses.values()).backward()
    opt.step()
    for k, v in losses.items():
        meters[k] += v.item()
