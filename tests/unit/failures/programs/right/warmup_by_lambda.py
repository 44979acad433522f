import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lr_lambda=lambda step: min(1.0, (step + 1) / 10))
for epoch in range(2):
    for _ in range(5):
        opt.zero_grad()
        nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
        opt.step()
        schedule.step()
