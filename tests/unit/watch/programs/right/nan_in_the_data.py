import torch
import torch.nn as nn
torch.manual_seed(0)
# the nan is in the data, not from an operation
x = torch.randn(8, 3)
x[2, 1] = float("nan")
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(6):
    loss = net(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
