import torch
from torch import nn

net = nn.Linear(5, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
X, Y = torch.randn(64, 5), torch.randn(64, 1)


def ridge(network):
    total = 0.0
    for name, weight in network.named_parameters():
        if "weight" in name:
            total = total + weight.pow(2).sum()
    return total


def run(epochs):
    for _ in range(epochs):
        sgd.zero_grad()
        loss = nn.functional.mse_loss(net(X), Y) + 1e-3 * ridge(net)
        loss.backward()
        sgd.step()


run(10)
