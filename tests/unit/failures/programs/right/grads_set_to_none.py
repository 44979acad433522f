import torch
from torch import nn

net = nn.Linear(5, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for x, y in loader:
    for p in net.parameters():
        p.grad = None
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
