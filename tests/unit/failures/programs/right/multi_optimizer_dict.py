import torch
from torch import nn

models = {"a": nn.Linear(2, 2), "b": nn.Linear(2, 1)}
optims = {k: torch.optim.SGD(m.parameters(), lr=0.1) for k, m in models.items()}
for x, y in [(torch.randn(3, 2), torch.randn(3, 1))] * 3:
    for o in optims.values():
        o.zero_grad()
    pred = models["b"](models["a"](x))
    loss = (pred - y).pow(2).mean()
    loss.backward()
    for o in optims.values():
        o.step()
