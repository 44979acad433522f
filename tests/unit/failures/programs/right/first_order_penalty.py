import torch
import torch.nn as nn

f = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(f.parameters())
for x in loader:
    x.requires_grad_()
    u = f(x)
    (du,) = torch.autograd.grad(u.sum(), x, create_graph=True)
    loss = ((du.norm(dim=1) - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
