import torch
import torch.nn.functional as F
from torch import nn

ACCUM = 4
net = nn.Linear(5, 3)
optim = torch.optim.SGD(net.parameters(), lr=0.2)
batches = [(torch.randn(8, 5), torch.randint(0, 3, (8,))) for _ in range(24)]
for start in range(0, len(batches), ACCUM):
    optim.zero_grad()
    for inputs, labels in batches[start : start + ACCUM]:
        loss = F.cross_entropy(net(inputs), labels)
        loss.backward()  #! 24
    optim.step()
