import torch
from torch import nn
torch.manual_seed(14)
backbone = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
for p in backbone.parameters():
    p.requires_grad = False
head = nn.Linear(4, 2)
opt = torch.optim.Adam(head.parameters(), lr=1e-2)
for x in torch.randn(12, 16, 1, 7, 7):
    with torch.no_grad():
        h = backbone(x).mean((2, 3))
    loss = nn.functional.cross_entropy(head(h), (x.mean((1, 2, 3)) > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
