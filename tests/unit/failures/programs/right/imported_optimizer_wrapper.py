import torch
from mylib import SAM
from torch import nn

net = nn.Linear(3, 1)
opt = SAM(net.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
for _ in range(3):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    nn.functional.mse_loss(net(x), y).backward()
    opt.first_step(zero_grad=True)
    nn.functional.mse_loss(net(x), y).backward()
    opt.second_step(zero_grad=True)
