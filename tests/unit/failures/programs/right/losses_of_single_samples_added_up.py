import torch
import torch.nn.functional as F
from torch import nn

size = 16
net = nn.Linear(5, 1)
optim = torch.optim.SGD(net.parameters(), lr=0.002)
samples = [(torch.randn(5), torch.randn(1)) for _ in range(160)]
for start in range(0, len(samples), size):
    optim.zero_grad()
    for one, target in samples[start : start + size]:
        F.mse_loss(net(one), target).backward()
    optim.step()
print([F.mse_loss(net(one), target).item() for one, target in samples[:5]])
