import torch
import torch.nn as nn
from collections import defaultdict

net = nn.Linear(20, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
meters = defaultdict(float)
for step, (x, y) in enumerate(loader):
    logits = net(x)
    losses = {"ce": nn.functional.cross_entropy(logits, y), "l2": 1e-4 * net.weight.pow(2).sum()}
    total = sum(losses.values())
    opt.zero_grad()
    total.backward()
    opt.step()
    for k, v in losses.items():
        meters[k] += v  #! 10
    meters["seen"] += len(y)
