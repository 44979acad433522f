import torch
from torch import nn

vgg = nn.Conv2d(3, 4, 3).requires_grad_(False)
content = torch.rand(1, 3, 8, 8)
image = content.clone().requires_grad_(True).to(torch.float32) * 1.0  #! 19
opt = torch.optim.Adam([image], lr=0.05)
