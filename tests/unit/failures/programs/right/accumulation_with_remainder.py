import torch
from torch import nn

net, every = nn.Linear(3, 1), 4
opt = torch.optim.SGD(net.parameters(), lr=0.01)
batches = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(10)]
opt.zero_grad()
for i, (x, y) in enumerate(batches, 1):
    loss = nn.functional.mse_loss(net(x), y) / every
    loss.backward()
    if i % every and i != len(batches):
        continue
    opt.step()
    opt.zero_grad()
