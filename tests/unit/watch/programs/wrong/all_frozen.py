import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
for parameter in net.parameters():
    parameter.requires_grad = False  #! 4
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.randn(5, 3)).mean()
loss.backward()
