import torch
import torch.nn as nn

net = nn.Linear(10, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    mse = ((net(x) - y) ** 2).mean()
    opt.zero_grad()
    loss = mse.item()  #! 13
    loss.backward()
    opt.step()
