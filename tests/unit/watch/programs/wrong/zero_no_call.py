import torch
import torch.nn as nn
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
for step in range(12):
    opt.zero_grad  #! 6
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    opt.step()
