import torch
import torch.nn as nn

shared = nn.Linear(10, 10)
a, b = nn.Linear(10, 2), nn.Linear(10, 1)
opt = torch.optim.Adam([p for m in (shared, a, b) for p in m.parameters()], lr=1e-3)
for x, ya, yb in loader:
    opt.zero_grad(set_to_none=True)
    h = shared(x)
    loss_a = nn.functional.cross_entropy(a(h), ya)
    loss_b = nn.functional.mse_loss(b(h).squeeze(-1), yb)
    loss_a.backward(retain_graph=True)
    loss_b.backward()
    opt.step()
