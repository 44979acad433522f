import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(30):
    x = torch.rand(64, 2, requires_grad=True)
    u = net(x)
    g = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    uxx = torch.autograd.grad(g[:, 1].sum(), x, create_graph=True)[0][:, 1]
    f = torch.sin(x[:, 1]).detach()
    residual = g[:, 0] - (f + 0.9 * uxx)
    loss = residual.pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
