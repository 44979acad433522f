import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 100))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def for_classes(network, count):
    network[-1] = nn.Linear(8, count)  #! 19
    return network


net = for_classes(net, 5)
for x, y in loader:
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
