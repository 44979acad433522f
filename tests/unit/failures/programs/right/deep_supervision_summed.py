import torch
import torch.nn as nn

blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.ReLU()) for _ in range(3))
heads = nn.ModuleList(nn.Linear(16, 4) for _ in range(3))
opt = torch.optim.Adam([*blocks.parameters(), *heads.parameters()], lr=1e-3)
for _ in range(5):
    h, y, loss = torch.randn(8, 16), torch.randint(0, 4, (8,)), 0
    for block, head in zip(blocks, heads):
        h = block(h)
        loss += nn.functional.cross_entropy(head(h), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
