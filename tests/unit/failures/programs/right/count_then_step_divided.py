import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
GROUP, waiting = 4, 0
for x, y in [(torch.randn(2, 3), torch.randn(2, 1))] * 16:
    loss = nn.functional.mse_loss(net(x), y) / GROUP
    loss.backward()
    waiting += 1
    if waiting == GROUP:
        opt.step()
        opt.zero_grad()
        waiting = 0
