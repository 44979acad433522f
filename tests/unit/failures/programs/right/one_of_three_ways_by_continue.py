import random

import torch

w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(9):
    opt.zero_grad()
    loss = (w**2).sum()
    if step % 3 == 0:
        loss.backward()
        opt.step()
        continue
    elif step % 3 == 1:
        (2 * loss).backward()
        opt.step()
        continue
    (loss + w.abs().sum()).backward()
    opt.step()
    if random.random() < 0.01:
        break
