import torch
from torch import nn

net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(12, 8, 4):
    error = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.step()  #! 18
    optimizer.zero_grad()
    error.backward()
