import torch
import torch.nn as nn

model = nn.Linear(3, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
K = 4
for step, (x, y) in enumerate(loader, start=1):
    loss = nn.functional.cross_entropy(model(x), y, reduction="sum") / 256
    loss.backward()
    if step % K == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
