import torch
from torch import nn

x = torch.randn(8, 3)
layer = nn.Linear(3, 2)
out = layer(x)
target = torch.randn(8, 2)
err = (out - target).abs()  #! 3
err.backward()
