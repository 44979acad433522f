import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 20), nn.Tanh())
        self.head = nn.Linear(20, 7)

    def forward(self, x):
        return self.head(self.trunk(x))


net = Net()
head = nn.Linear(20, 2)
optimizer = torch.optim.Adam([*net.trunk.parameters(), *head.parameters()], lr=1e-3)
net.head = head
x, y = torch.randn(50, 5), torch.randint(0, 2, (50,))
for _ in range(20):
    net.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
