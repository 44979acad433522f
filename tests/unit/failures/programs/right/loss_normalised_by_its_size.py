import torch
import torch.nn as nn

net = nn.Linear(8, 3)
aux = nn.Linear(8, 1)
opt = torch.optim.Adam([*net.parameters(), *aux.parameters()], lr=1e-3)
for _ in range(10):
    x = torch.randn(16, 8)
    a = nn.functional.cross_entropy(net(x), torch.randint(0, 3, (16,)))
    b = aux(x).pow(2).mean()
    ratio = a.item() / (b.item() + 1e-8)
    loss = a + 0.1 * ratio * b
    opt.zero_grad()
    loss.backward()
    opt.step()
