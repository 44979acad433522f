import torch
import torch.nn as nn
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)
for step in range(6):
    opt.zero_grad()
    for a, b in zip(x.chunk(4), y.chunk(4)):
        loss = nn.functional.mse_loss(net(a), b)
        loss.backward()  #! 24
    opt.step()
