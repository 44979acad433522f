import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)
x_val, y_val = torch.randn(16, 3), torch.randn(16, 1)
for epoch in range(4):
    net.train()
    opt.zero_grad()
    nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
    opt.step()
    net.train(mode=False)
    with torch.no_grad():
        val = nn.functional.mse_loss(net(x_val), y_val)
    schedule.step(metrics=val)
