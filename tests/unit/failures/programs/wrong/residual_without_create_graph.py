import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters())


def residual(x):
    u = net(x)
    ux = torch.autograd.grad(u, x, torch.ones_like(u))[0]  #! 4
    return ux


for it in range(100):
    x = torch.rand(64, 1, requires_grad=True)
    loss = (residual(x) - torch.cos(x)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
