import torch
import torch.nn as nn
torch.manual_seed(0)
# the targets drift: the loss rises though the rate is small
w = nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([w], lr=0.001)
for t in range(20):
    x = torch.randn(16, 3)
    loss = (x @ w - float(t) * x.sum(1)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
