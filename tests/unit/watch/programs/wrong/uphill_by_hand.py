import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.ones(3, requires_grad=True)
for _ in range(8):
    loss = (w - 2).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        w += 0.1 * w.grad  #! 18
    w.grad = None
