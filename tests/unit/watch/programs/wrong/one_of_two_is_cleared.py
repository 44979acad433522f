import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(4, 5), nn.Linear(5, 1)
slow = torch.optim.SGD(first.parameters(), lr=0.01)
fast = torch.optim.SGD(second.parameters(), lr=0.02)
for _ in range(6):
    x = torch.randn(8, 4)
    loss = (second(first(x).tanh()) - x[:, :1]).square().mean()
    fast.zero_grad()  #! 6
    loss.backward()
    fast.step()
    slow.step()
