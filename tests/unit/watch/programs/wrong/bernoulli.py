import torch
import torch.nn as nn
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 4)
for _ in range(10):
    p = torch.sigmoid(net(x))
    z = torch.bernoulli(p)  #! 21
    loss = (z.sum(1) - 2).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
