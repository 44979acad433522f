import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
x = torch.randn(64, 4)
z = net(x)
zn = (z - z.mean(0)) / (z.std(0) + 1e-5)
share = z / z.sum(1, keepdim=True).clamp(min=1e-6)
length = torch.sqrt((z**2).sum(1) + 1e-8)
y = net[0](x)
unit = y / y.norm(dim=1, keepdim=True)
(zn.pow(4).mean() + share.mean() + length.mean() + unit.mean()).backward()
