import torch
from torch import nn
torch.manual_seed(25)
x, y = torch.randn(300, 5), torch.randn(300)
def fit(lam):
    w, b = torch.zeros(5, requires_grad=True), torch.zeros((), requires_grad=True)
    opt = torch.optim.SGD([w, b], lr=0.1)
    for epoch in range(20):
        loss = (x @ w + b - y).square().mean() + lam * w.abs().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item(), w.detach()
results = [fit(lam) for lam in (0.0, 0.01, 0.1)]
print(min(results, key=lambda r: r[0])[0])
