import torch
from torch import nn
from torch.func import functional_call
torch.manual_seed(8)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-3)
def task():
    a, p = torch.rand(1) * 4 + 0.1, torch.rand(1) * 3
    return lambda n: (lambda x: (x, a * (x + p).sin()))(torch.rand(n, 1) * 10 - 5)
for _ in range(6):
    outer = 0.0
    for _ in range(3):
        draw = task()
        fast = dict(net.named_parameters())
        for _ in range(2):
            x, y = draw(10)
            loss = nn.functional.mse_loss(functional_call(net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: p - 0.01 * g for (name, p), g in zip(fast.items(), grads)}
        x, y = draw(10)
        outer = outer + nn.functional.mse_loss(functional_call(net, fast, (x,)), y)
    meta.zero_grad()
    (outer / 3).backward()
    meta.step()
