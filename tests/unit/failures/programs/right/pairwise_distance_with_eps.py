import torch
import torch.nn as nn

embed = nn.Linear(8, 4)
opt = torch.optim.Adam(embed.parameters())
for _ in range(3):
    a, p, n = (embed(torch.randn(16, 8)) for _ in range(3))
    dp = torch.sqrt(((a - p) ** 2).sum(1) + 1e-9)
    dn = torch.sqrt(((a - n) ** 2).sum(1).clamp(min=1e-9))
    loss = torch.relu(dp - dn + 0.2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
