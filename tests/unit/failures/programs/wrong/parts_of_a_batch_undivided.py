import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(0, 2, (64,))
for ep in range(5):
    opt.zero_grad()
    for xb, yb in zip(x.split(16), y.split(16)):
        F.cross_entropy(net(xb), yb).backward()  #! 24
    opt.step()
