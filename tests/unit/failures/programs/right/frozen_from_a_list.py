import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
fixed = [p for name, p in net.named_parameters() if name.startswith("0.")]
for parameter in fixed:
    parameter.requires_grad_(False)
for name, parameter in net.named_parameters():
    if name.startswith("4."):
        continue
    parameter.requires_grad_(False)
opt = torch.optim.SGD((p for p in net.parameters() if p.requires_grad), lr=0.05)
x, y = torch.randn(40, 6), torch.randn(40, 1)
for _ in range(5):
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
