"""A mean squared error. x has one row a sample, y one number a sample, w one column."""

from model import Tensor


def loss_and_gradient(x, y, w):
    w = Tensor(w)
    prediction = x @ w[:, 0]
    loss = ((prediction - y) ** 2).mean()
    loss.backward()
    return loss.item(), w.grad
