"""The gradient of a loss. Then x is scaled, so that its largest entry is 1, for the next step."""

from model import Tensor


def gradient_and_scaled(x, w, target):
    x, w = Tensor(x, requires_grad=False), Tensor(w)
    loss = ((w * x - target) ** 2).sum()
    scaled = x.data / x.data.max()
    loss.backward()
    return w.grad, scaled
