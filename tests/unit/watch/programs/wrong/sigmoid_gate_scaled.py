import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(6, 4)
w = torch.randn(4, 3, requires_grad=True)
gate = torch.sigmoid(x @ w)
gate *= 0.5  #! 1
gate.sum().backward()
