import torch

w = torch.randn(3, requires_grad=True)
meta = torch.optim.Adam([w], lr=1e-2)
for _ in range(3):
    meta_loss = 0.0
    for task in range(2):
        x, y = torch.randn(8, 3), torch.randn(8)
        inner = ((x @ w - y) ** 2).mean()
        (g,) = torch.autograd.grad(inner, w, create_graph=True)
        fast = w - 0.1 * g
        meta_loss = meta_loss + ((x @ fast - y) ** 2).mean()
    meta.zero_grad()
    meta_loss.backward()
    meta.step()
