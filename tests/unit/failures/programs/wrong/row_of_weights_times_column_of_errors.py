import torch
import torch.nn as nn

net = nn.Linear(4, 1)
x, y, w = torch.randn(64, 4), torch.randn(64, 1), torch.rand(64)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    se = (net(x) - y) ** 2
    loss = (w * se).mean()  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
