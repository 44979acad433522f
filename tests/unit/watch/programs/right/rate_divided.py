import torch
import torch.nn as nn
torch.manual_seed(0)
# the rate is divided instead of the loss
K = 4
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01 / K)
for i in range(16):
    net(torch.randn(4, 3)).square().mean().backward()
    if (i + 1) % K == 0:
        opt.step()
        opt.zero_grad()
