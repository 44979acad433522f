import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for _ in range(10):
    loss = -F.mse_loss(net(x), y)  #! 18
    opt.zero_grad()
    loss.backward()
    opt.step()
