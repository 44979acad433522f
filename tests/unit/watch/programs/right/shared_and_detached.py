import torch
from torch import nn
torch.manual_seed(30)
shared = nn.Linear(5, 10)
a, b = nn.Linear(10, 1), nn.Linear(10, 1)
oa = torch.optim.Adam([*shared.parameters(), *a.parameters()], lr=1e-3)
ob = torch.optim.Adam([*b.parameters()], lr=1e-3)
for x in torch.randn(12, 20, 5):
    h = shared(x).relu()
    la, lb = (a(h) - x[:, :1]).square().mean(), (b(h.detach()) - x[:, 1:2]).square().mean()
    oa.zero_grad()
    ob.zero_grad()
    (la + lb).backward()
    oa.step()
    ob.step()
