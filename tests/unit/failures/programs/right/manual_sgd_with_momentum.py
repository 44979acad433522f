import torch

w, v = torch.randn(3, requires_grad=True), torch.zeros(3)
for _ in range(5):
    loss = ((w - 2) ** 2).sum()
    (g,) = torch.autograd.grad(loss, [w])
    v = 0.9 * v - 0.01 * g
    with torch.no_grad():
        w.add_(v)
