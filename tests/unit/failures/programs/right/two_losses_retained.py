import torch
import torch.nn as nn

net = nn.Linear(5, 3)
aux = nn.Linear(5, 1)
base = nn.Linear(8, 5)
opt = torch.optim.SGD([*net.parameters(), *aux.parameters(), *base.parameters()], lr=0.01)
for _ in range(4):
    h = torch.tanh(base(torch.randn(16, 8)))
    one = nn.functional.cross_entropy(net(h), torch.randint(0, 3, (16,)))
    two = aux(h).pow(2).mean()
    opt.zero_grad()
    one.backward(retain_graph=True)
    two.backward()
    opt.step()
