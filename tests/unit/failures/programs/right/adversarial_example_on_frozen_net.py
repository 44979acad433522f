import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).eval()
for p in net.parameters():
    p.requires_grad_(False)
x, y = torch.randn(1, 4), torch.tensor([1])
delta = torch.zeros_like(x, requires_grad=True)
for _ in range(4):
    loss = nn.functional.cross_entropy(input=net(x + delta), target=y)
    loss.backward()
    with torch.no_grad():
        delta += 0.01 * delta.grad.sign()
        delta.clamp_(-0.1, 0.1)
    delta.grad.zero_()
