import torch
from torch import nn


def training(model, opt, loader, epochs):
    for epoch in range(epochs):
        for x, y in loader:
            opt.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            yield epoch, loss.detach()


net = nn.Linear(4, 3)
history = []
for epoch, value in training(net, torch.optim.Adam(net.parameters()), loader, 3):
    history.append(value)
