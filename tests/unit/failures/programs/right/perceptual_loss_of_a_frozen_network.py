import torch
import torch.nn.functional as F
from torch import nn

features = nn.Sequential(nn.Conv2d(3, 12, 5), nn.ReLU(), nn.Conv2d(12, 12, 3))
features.requires_grad_(False)
photo = torch.rand(1, 3, 24, 24)
target = features(photo)
canvas = torch.rand(1, 3, 24, 24, requires_grad=True)
optimizer = torch.optim.Adam([canvas], lr=0.02)
for _ in range(300):
    optimizer.zero_grad()
    loss = F.mse_loss(features(canvas), target)
    loss.backward()
    optimizer.step()
