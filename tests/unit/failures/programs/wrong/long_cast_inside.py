import torch
from torch import nn

net = nn.Linear(4, 1)
table = torch.randn(10)
opt = torch.optim.Adam(net.parameters())
for x in [torch.rand(6, 4)] * 2:
    slot = net(x).clamp(0, 9).long()  #! 21
    loss = table[slot].mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
