import torch
from torch import nn

model = nn.Linear(4, 2)
opt = torch.optim.Adam(model.parameters())
for (xa, ya), (xb, yb) in zip(task_a, task_b):
    opt.zero_grad()
    for x, y in ((xa, ya), (xb, yb)):
        loss = nn.functional.cross_entropy(model(x), y) * 0.5
        loss.backward()
    opt.step()
