import torch
from torch.autograd import gradcheck

linear = torch.nn.Linear(3, 2).double()
x = torch.randn(5, 3, requires_grad=True).double()
inputs = (torch.rand(4, 3, dtype=torch.float64, requires_grad=True),)
assert gradcheck(linear, inputs, eps=1e-6, atol=1e-4)
