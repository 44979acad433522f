import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randn(32, 1)
for _ in range(3):
    l2 = sum(p.pow(2).sum().item() for p in net.parameters())  #! 13
    loss = F.mse_loss(net(x), y) + 0.1 * l2
    opt.zero_grad()
    loss.backward()
    opt.step()
