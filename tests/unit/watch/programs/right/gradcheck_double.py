import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(4, dtype=torch.double, requires_grad=True)
torch.autograd.gradcheck(lambda t: t.exp() * t, (x,))
