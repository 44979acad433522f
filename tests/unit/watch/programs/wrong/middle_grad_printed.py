import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
h = w * 2
h.sum().backward()
print(h.grad)  #! 5
