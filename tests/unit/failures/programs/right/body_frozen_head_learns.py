import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
for weight in net.parameters():
    weight.requires_grad_(False)
net[2] = nn.Linear(6, 2)
opt = torch.optim.Adam(net[2].parameters())
for x, y in [(torch.randn(3, 4), torch.randint(0, 2, (3,)))] * 3:
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
