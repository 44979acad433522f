import sys

import torch

if len(sys.argv) > 5:
    z = torch.zeros(4, requires_grad=True)
else:
    z = torch.randn(4, requires_grad=True)
opt = torch.optim.Adam([z], lr=0.1)
for _ in range(5):
    opt.zero_grad()
    loss = (z - 1).pow(2).sum()
    loss.backward()
    print(z.grad)
    opt.step()
