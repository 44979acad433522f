import torch
from torch import nn


def mlp(sizes, activation=nn.ReLU, last=None):
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(n_in, n_out), activation()]
    layers[-1] = last if last is not None else nn.Identity()
    return nn.Sequential(*layers)


def fit(model, batches, loss_fn=nn.functional.mse_loss, weights=None):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for x, y in batches:
        losses = torch.stack([loss_fn(model(part), target) for part, target in zip(x.chunk(4), y.chunk(4))])
        loss = losses.mean() if weights is None else (losses * weights).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


fit(mlp([4, 16, 16, 1]), [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)])
