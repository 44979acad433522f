import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
gap = net(torch.randn(10, 4)) - 1
each = gap.abs().sum(dim=0)  #! 3
each.backward()
