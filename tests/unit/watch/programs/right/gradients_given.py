import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(32, 3)
for _ in range(10):
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
        p.grad = g
    opt.step()
