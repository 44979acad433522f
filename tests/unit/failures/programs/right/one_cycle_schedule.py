import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer=opt, max_lr=0.1, total_steps=12)
for _ in range(12):
    loss = nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
