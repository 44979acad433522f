import torch
from torch.autograd import gradgradcheck
x = torch.randn(4, requires_grad=True)  #! 23
print(gradgradcheck(lambda v: (v ** 3).sum(), (x,)))
