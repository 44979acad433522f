"""Trains y = w x on batches, one step each."""

from model import SGD, Tensor


def trained(batches, lr):
    w = Tensor(0.0)
    optimizer = SGD([w], lr=lr)
    for x, y in batches:
        optimizer.zero_grad()
        loss = ((w * x - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    return w.item()
