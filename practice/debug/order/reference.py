"""Trains y = w x on batches, one step each."""

from model import Tensor
from nn import SGD


def trained(batches, lr):
    w = Tensor(0.0)
    optimizer = SGD([w], lr=lr)
    for x, y in batches:
        loss = ((w * x - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return w.item()
