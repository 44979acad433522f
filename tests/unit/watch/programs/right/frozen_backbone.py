import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
body, head = nn.Linear(4, 8), nn.Linear(8, 2)
for p in body.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(6):
    loss = F.cross_entropy(head(body(torch.randn(8, 4)).relu()), torch.randint(0, 2, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
