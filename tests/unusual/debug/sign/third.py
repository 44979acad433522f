"""Gradient descent on (w - target)**2: the way from w, one number a step."""

from model import SGD, Tensor


def way(w, target, steps, lr):
    w = Tensor(w)
    visited = []
    for _ in range(steps):
        w.zero_grad()
        loss = (w - target) ** 2
        loss.backward()
        SGD([w], lr=lr).step()
        visited.append(w.item())
    return visited
