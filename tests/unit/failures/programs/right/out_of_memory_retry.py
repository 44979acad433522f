import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    try:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    except RuntimeError:
        opt.zero_grad()
        for part, wanted in zip(x.chunk(2), y.chunk(2)):
            (nn.functional.mse_loss(net(part), wanted) / 2).backward()
        opt.step()
