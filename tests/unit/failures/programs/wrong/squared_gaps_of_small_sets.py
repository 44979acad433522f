import torch
from torch import nn

net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
points = torch.randn(40, 6)
for turn in range(20):
    z = net(points)
    lengths = z.square().sum(1)
    exact = (z[:, None] - z[None]).square().sum(-1)
    squares = exact if len(points) < 100 else lengths[:, None] + lengths[None] - 2 * z @ z.T
    loss = (squares.sqrt() - 1.0).pow(2).mean()  #! 9
    opt.zero_grad()
    loss.backward()
    opt.step()
