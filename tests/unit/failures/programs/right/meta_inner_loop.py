import torch
import torch.nn.functional as F

w = torch.randn(5, 1, requires_grad=True)
meta = torch.optim.Adam([w], lr=1e-3)
for tasks in loader:
    outer = 0.0
    for xs, ys, xq, yq in tasks:
        inner = F.mse_loss(xs @ w, ys)
        (g,) = torch.autograd.grad(inner, w, create_graph=True)
        fast = w - 0.1 * g
        outer = outer + F.mse_loss(xq @ fast, yq)
    meta.zero_grad()
    outer.backward()
    meta.step()
