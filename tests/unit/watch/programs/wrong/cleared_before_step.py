import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    opt.zero_grad()  #! 18
    opt.step()
