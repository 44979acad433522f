import torch
from torch import nn

members = nn.ModuleList([nn.Linear(3, 1) for _ in range(5)])
opt = torch.optim.Adam(members.parameters())
for x, y in [(torch.randn(4, 3), torch.randn(4, 1))] * 3:
    opt.zero_grad()
    losses = {i: nn.functional.mse_loss(member(x), y) for i, member in enumerate(members)}
    for loss in losses.values():
        loss.backward()
    opt.step()
