import torch
from torch import nn

net = nn.Linear(4, 3)
scores = net(torch.randn(5, 4))
e = scores.exp()
e /= e.sum(1, keepdim=True)
print(e.argmax(1))
