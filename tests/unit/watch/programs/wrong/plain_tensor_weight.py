import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, 1)  #! 4
x = torch.randn(9, 3)
loss = (x @ w).pow(2).mean()
loss.backward()
