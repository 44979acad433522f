# %% leaf minus equals (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
loss = w.pow(2).sum()
loss.backward()
w -= 0.1 * w.grad  #! 7
