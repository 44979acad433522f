import torch
from torch import nn


def ridge(network, skip="bias"):
    total = 0.0
    for key, weight in network.named_parameters():
        if skip not in key:
            total += weight.square().sum().item()  #! 13
    return total


network = nn.Linear(6, 1)
opt = torch.optim.SGD(network.parameters(), lr=0.01)
inputs, goal = torch.randn(20, 6), torch.randn(20, 1)
for _ in range(10):
    opt.zero_grad()
    cost = nn.functional.mse_loss(network(inputs), goal) + 0.1 * ridge(network)
    cost.backward()
    opt.step()
