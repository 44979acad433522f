import torch
from torch import nn


def train_head(network, batches):
    for weight in network.parameters():
        weight.requires_grad_(False)  #! 4
    opt = torch.optim.Adam(network.parameters())
    for x, y in batches:
        opt.zero_grad()
        nn.functional.mse_loss(network(x), y).backward()
        opt.step()


network = nn.Sequential()
network.add_module("body", nn.Linear(4, 6))
network.add_module("head", nn.Linear(6, 1))
train_head(network, [(torch.randn(3, 4), torch.randn(3, 1))] * 2)
