import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
decay = sum(p.pow(2).sum() for p in net.parameters())  #! 2
for _ in range(4):
    loss = net(torch.randn(8, 3)).pow(2).mean() + 0.01 * decay
    opt.zero_grad()
    loss.backward()
    opt.step()
