import torch
import torch.nn as nn

lin = nn.Linear(8, 4)
x = torch.randn(16, 8)
e = lin(x).exp()
first = e[:, 0]
first.zero_()  #! 1
e.sum().backward()
