import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 4), nn.Sigmoid(), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters())
for x in torch.randn(5, 8, 2):
    cost = net(x).square().mean()
    opt.zero_grad()
    opt.step()  #! 18
    cost.backward()
