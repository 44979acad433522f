"""Gradient descent on (w - target)**2: the way from w, one number a step."""

from model import Tensor


def way(w, target, steps, lr):
    w = Tensor(w)
    visited = []
    for _ in range(steps):
        w.zero_grad()
        loss = (w - target) ** 2
        loss.backward()
        w.data = w.data + -lr * w.grad
        visited.append(w.item())
    return visited
