"""Sharpness-aware minimisation that restores the parameters from a copy, without an optimizer."""

import torch

torch.manual_seed(2)
w, b = torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for _ in range(8):
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    gradients = torch.autograd.grad((x @ w + b - y).pow(2).mean(), (w, b))
    kept = [p.detach().clone() for p in (w, b)]
    with torch.no_grad():
        for p, g in zip((w, b), gradients):
            p += 0.05 * g
    gradients = torch.autograd.grad((x @ w + b - y).pow(2).mean(), (w, b))
    with torch.no_grad():
        for p, before, g in zip((w, b), kept, gradients):
            p.copy_(before - 0.01 * g)
