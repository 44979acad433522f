import torch
from torch import nn

raw = nn.Parameter(torch.zeros(12))
line = nn.Linear(12, 1)
opt = torch.optim.Adam([raw, *line.parameters()], lr=0.01)
x, y = torch.randn(200, 12), torch.randn(200, 1)
for turn in range(300):
    soft = raw.sigmoid()
    hard = (soft > 0.5).float()
    loss = (line(x * soft) - y).pow(2).mean() + (hard - soft.detach() + soft).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
