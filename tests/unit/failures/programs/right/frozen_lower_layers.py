import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
for p in net[:3].parameters():
    p.requires_grad = False
opt = torch.optim.SGD((p for p in net.parameters() if p.requires_grad), lr=0.1)
for _ in range(5):
    loss = nn.functional.cross_entropy(net(torch.randn(8, 10)), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
