import torch
from torch import nn

size = torch.rand(80, 1) * 0.05
line = nn.Linear(1, 1, bias=False)
opt = torch.optim.SGD(line.parameters(), lr=100.0)
for _ in range(40):
    loss = nn.functional.mse_loss(line(size), 4 * size)
    opt.zero_grad()
    loss.backward()
    opt.step()
