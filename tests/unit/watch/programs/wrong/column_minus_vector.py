import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(16, 2), torch.randn(16)
for _ in range(5):
    loss = ((net(x) - y) ** 2).mean()  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
