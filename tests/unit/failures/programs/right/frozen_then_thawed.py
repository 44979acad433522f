import torch
from torch import nn

net = nn.Linear(4, 2)
net.requires_grad_(False)
print(net(torch.zeros(1, 4)))
net.requires_grad_(True)
opt = torch.optim.Adam(net.parameters())
for x, y in [(torch.randn(3, 4), torch.randint(0, 2, (3,)))] * 3:
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
