import torch
from torch import nn

coder = nn.Linear(12, 3)
opt = torch.optim.Adam(coder.parameters(), lr=1e-2)
x, wanted = torch.randn(30, 12), torch.rand(30, 30)


def spread(z):
    gaps = z.unsqueeze(1) - z.unsqueeze(0)
    return torch.pow((gaps * gaps).sum(2) + 1e-9, 0.5)


for turn in range(50):
    loss = (spread(coder(x)) - wanted).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
