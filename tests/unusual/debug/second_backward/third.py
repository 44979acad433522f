"""The gradients of two losses of one hidden value, added up in w.grad."""

from model import Tensor


def gradient(x, w):
    w = Tensor(w)
    hidden = (w * x).tanh()
    first = hidden.sum()
    second = (hidden * hidden).sum()
    second.backward(retain_graph=True)
    first.backward()
    return w.grad
