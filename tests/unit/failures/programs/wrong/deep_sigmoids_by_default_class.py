import torch
from torch import nn


def make_mlp(sizes, activation=nn.Sigmoid):  #! 15
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        layers.append(nn.Linear(n_in, n_out))
        layers.append(activation())
    return nn.Sequential(*layers[:-1])


model = make_mlp([10, 64, 64, 64, 64, 64, 64, 64, 1])
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    opt.zero_grad()
    loss = (model(torch.randn(8, 10)) - torch.randn(8, 1)).pow(2).mean()
    loss.backward()
    opt.step()
