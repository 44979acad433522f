import torch
import torch.nn as nn

unet = nn.Sequential(nn.Linear(9, 64), nn.SiLU(), nn.Linear(64, 8))
opt = torch.optim.AdamW(unet.parameters(), lr=1e-4)
for _ in range(3):
    x0, t = torch.randn(32, 8), torch.rand(32, 1)
    noise = torch.randn_like(x0)
    pred = unet(torch.cat([x0 + t * noise, t], dim=1))
    simple = (pred - noise).pow(2).mean()
    vlb = (pred.abs() - noise.abs()).pow(2).mean()
    opt.zero_grad()
    simple.backward()  #! 2
    vlb.backward()
    opt.step()
