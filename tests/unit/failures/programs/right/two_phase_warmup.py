import torch
from torch import nn

backbone = nn.Linear(10, 10)
head = nn.Linear(10, 2)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    nn.functional.cross_entropy(head(backbone(x).detach()), y).backward()
    opt.step()
opt = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.01)
for x, y in loader:
    opt.zero_grad()
    nn.functional.cross_entropy(head(backbone(x)), y).backward()
    opt.step()
