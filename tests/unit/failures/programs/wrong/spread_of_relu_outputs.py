import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
x = torch.randn(64, 4)
z = net(x)
zn = (z - z.mean(0)) / z.std(0)  #! 9
zn.pow(4).mean().backward()
