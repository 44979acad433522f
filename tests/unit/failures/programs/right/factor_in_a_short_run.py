import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: (step + 1) / 50)
x, y = torch.randn(100, 3), torch.randn(100, 1)
for step in range(50):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    warm.step()
