import torch
import torch.nn as nn
from torch.autograd import gradcheck

layer = nn.Linear(3, 2).double()
inp = torch.randn(5, 3, requires_grad=True, dtype=torch.float)  #! 23
print(gradcheck(torch.sigmoid, (inp,), eps=1e-6, atol=1e-4))
