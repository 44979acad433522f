import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16 * 16, 10)).eval()
for p in net.parameters():
    p.requires_grad_(False)
image = torch.zeros(1, 3, 16, 16, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.05)
for _ in range(5):
    opt.zero_grad()
    loss = -net(image)[0, 3] + 1e-3 * image.norm()
    loss.backward()
    opt.step()
    image.data.clamp_(-1, 1)
