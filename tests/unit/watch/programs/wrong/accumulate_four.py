import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(16):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    loss.backward()  #! 24
    if (i + 1) % 4 == 0:
        opt.step()
        opt.zero_grad()
