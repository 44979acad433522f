import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
t = torch.rand(200, 1)
x = torch.rand(200, 1)  #! 4
for it in range(50):
    u = net(torch.cat([t, x], dim=1))
    u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    residual = (u_x + u).pow(2).mean()
    opt.zero_grad()
    residual.backward()
    opt.step()
