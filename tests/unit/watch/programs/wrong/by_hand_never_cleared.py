import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
for _ in range(6):
    loss = (w - 1).pow(2).sum()
    loss.backward()  #! 6
    with torch.no_grad():
        w -= 0.05 * w.grad
