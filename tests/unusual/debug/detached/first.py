"""The gradients of a two-layer network, and its hidden values for a plot."""

from model import Tensor


def gradients_and_hidden(x, w1, w2):
    w1, w2 = Tensor(w1), Tensor(w2)
    hidden = (x @ w1).tanh()
    for_plot = hidden.data.copy()
    out = (hidden @ w2).sum()
    out.backward()
    return w1.grad, w2.grad, for_plot
