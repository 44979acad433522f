import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
GROUP = 4
pending = 0
for x, y in [(torch.randn(2, 3), torch.randn(2, 1))] * 16:
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()  #! 24
    pending += 1
    if pending == GROUP:
        opt.step()
        opt.zero_grad()
        pending = 0
