import torch
import torch.nn as nn

net = nn.Linear(10, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    for xs, ys in zip(x.chunk(4), y.chunk(4)):
        loss = nn.functional.mse_loss(net(xs), ys, reduction="sum") / len(x)
        loss.backward()
    opt.step()
