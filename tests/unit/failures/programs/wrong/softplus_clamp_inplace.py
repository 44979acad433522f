import torch
from torch import nn

net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in [(torch.randn(6, 4), torch.randn(6))] * 2:
    mu, raw = net(x).unbind(1)
    std = raw.exp()
    std.clamp_(min=1e-3)  #! 1
    nll = ((y - mu) / std).pow(2).mean() + std.log().mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
