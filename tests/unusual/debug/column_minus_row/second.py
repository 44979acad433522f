"""A mean squared error. x has one row a sample, y one number a sample, w one column."""

from model import Tensor, mse_loss


def loss_and_gradient(x, y, w):
    w = Tensor(w)
    prediction = x @ w
    loss = mse_loss(prediction.squeeze(1), y)
    loss.backward()
    return loss.item(), w.grad
