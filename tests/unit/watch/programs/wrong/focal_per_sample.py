import torch
from torch import nn


def focal(logits, targets, gamma=2.0):
    p = torch.sigmoid(logits)
    bce = nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return (1 - (p * targets + (1 - p) * (1 - targets))) ** gamma * bce  #! 3


torch.manual_seed(4)
net = nn.Sequential(nn.Conv1d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv1d(8, 1, 3, padding=1))
opt = torch.optim.Adam(net.parameters())
for k, _ in enumerate(range(10)):
    x = torch.randn(4, 3, 20)
    loss = focal(net(x), (x.sum(1, keepdim=True) > 0).float())
    opt.zero_grad()
    loss.backward()
    opt.step()
