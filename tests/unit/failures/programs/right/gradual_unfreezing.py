import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
for p in net.parameters():
    p.requires_grad = False
stages = [net[4], net[2], net[0]]
for stage in stages:
    for p in stage.parameters():
        p.requires_grad = True
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
    for _ in range(3):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
        loss.backward()
        opt.step()
