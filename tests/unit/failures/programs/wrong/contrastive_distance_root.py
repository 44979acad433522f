import torch
import torch.nn as nn

embed = nn.Linear(8, 4)
opt = torch.optim.Adam(embed.parameters())
anchor = torch.randn(16, 8)
positive = anchor.clone()
for _ in range(3):
    diff = embed(anchor) - embed(positive)
    dist = torch.sqrt((diff**2).sum(dim=1))  #! 9
    loss = dist.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
