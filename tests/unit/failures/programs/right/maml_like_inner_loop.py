import torch
from torch import nn

model = nn.Linear(1, 1)
meta = torch.optim.Adam(model.parameters(), lr=1e-3)
for tasks in loader:
    meta_loss = 0.0
    for xs, ys, xq, yq in tasks:
        fast = dict(model.named_parameters())
        loss = ((torch.func.functional_call(model, fast, xs) - ys) ** 2).mean()
        grads = torch.autograd.grad(loss, fast.values(), create_graph=True)
        fast = {k: p - 0.01 * g for (k, p), g in zip(fast.items(), grads)}
        meta_loss = meta_loss + ((torch.func.functional_call(model, fast, xq) - yq) ** 2).mean()
    meta.zero_grad()
    meta_loss.backward()
    meta.step()
