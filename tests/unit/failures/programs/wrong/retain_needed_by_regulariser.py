import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))
x = torch.randn(5, 2, requires_grad=True)
y = net(x).sum()
y.backward()
g2 = torch.autograd.grad(y, x)[0]  #! 2
print(g2)
