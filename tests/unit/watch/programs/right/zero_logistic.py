import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.zeros(4, 1, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
x = torch.randn(16, 4)
y = (x[:, :1] > 0).float()
for _ in range(6):
    loss = F.binary_cross_entropy_with_logits(x @ w, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
