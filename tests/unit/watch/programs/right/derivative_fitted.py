import torch
from torch import nn
torch.manual_seed(28)
class Siren(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.line = nn.Linear(n, m)
        nn.init.uniform_(self.line.weight, -1 / n, 1 / n)
    def forward(self, x):
        return torch.sin(6 * self.line(x))
net = nn.Sequential(Siren(1, 24), Siren(24, 24), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(20):
    t = torch.rand(64, 1, requires_grad=True)
    u = net(t)
    du, = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = (du - torch.cos(3 * t)).square().mean() + net(torch.zeros(1, 1)).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
