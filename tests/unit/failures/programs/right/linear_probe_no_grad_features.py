import torch
import torch.nn as nn

backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
backbone.requires_grad_(False)
head = nn.Linear(8, 2)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for x, y in loader:
    with torch.no_grad():
        feats = backbone(x)
    loss = nn.functional.cross_entropy(head(feats), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
