import torch
from torch import nn

net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
for weight in net.parameters():
    weight.requires_grad_(False)
sample, label = torch.randn(3, 5), torch.tensor([0, 1, 0])


def push(network, x, wanted, size):
    moved = x.clone()  #! 4
    nn.functional.cross_entropy(network(moved), wanted).backward()
    return moved + size * moved.grad.sign()


push(net, sample, label, 0.1)
