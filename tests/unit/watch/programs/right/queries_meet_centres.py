import torch
import torch.nn as nn
torch.manual_seed(0)
# every query meets every centre on purpose, and there are as many of both
q = torch.linspace(0, 1, 8).unsqueeze(1)
centers = nn.Parameter(torch.linspace(0, 1, 8))
opt = torch.optim.SGD([centers], lr=0.01)
for _ in range(6):
    loss = (-(q - centers).square() / 0.1).exp().sum().log().neg()
    opt.zero_grad()
    loss.backward()
    opt.step()
