import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters())
for it in range(100):
    x = torch.rand(64, 1, requires_grad=True)
    u = net(x)
    ux = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    uxx = torch.autograd.grad(ux.sum(), x, create_graph=True)[0]
    loss = (uxx + u).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
