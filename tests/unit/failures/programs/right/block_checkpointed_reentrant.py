import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

body, head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
for _ in range(3):
    x, y = torch.randn(8, 4, requires_grad=True), torch.randn(8, 1)
    opt.zero_grad()
    h = checkpoint(body, x, use_reentrant=True)
    nn.functional.mse_loss(head(h), y).backward()
    opt.step()
