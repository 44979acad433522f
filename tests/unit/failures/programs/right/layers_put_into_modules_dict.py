import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = []
        for i in range(2):
            layer = nn.Linear(3, 3)
            self._modules[f"step{i}"] = layer
            self.steps.append(layer)

    def forward(self, x):
        for step in self.steps:
            x = x + step(x).relu()
        return x


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    x = torch.randn(8, 3)
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
