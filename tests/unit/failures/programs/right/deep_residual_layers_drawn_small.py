import torch
from torch import nn


class Step(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.line(x))


def start(part):
    if isinstance(part, nn.Linear):
        nn.init.normal_(part.weight, 0.0, 0.01)


net = nn.Sequential(nn.Linear(5, 100), *[Step(100) for _ in range(9)], nn.Linear(100, 3))
net.apply(start)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(200, 5), torch.randint(0, 3, (200,))
for turn in range(100):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
