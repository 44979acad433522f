import torch
from torch import nn

features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
for p in features.parameters():
    p.requires_grad = False
content = torch.rand(1, 3, 8, 8)
wanted = features(content).detach()
image = content.clone().requires_grad_(True)
opt = torch.optim.Adam([image], lr=0.02)
for _ in range(4):
    opt.zero_grad()
    nn.functional.mse_loss(features(image), wanted).backward()
    opt.step()
    image.data.clamp_(0, 1)
