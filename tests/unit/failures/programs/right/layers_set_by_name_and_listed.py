import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.layers = []
        for i in range(depth):
            layer = nn.Linear(4, 4)
            setattr(self, f"layer{i}", layer)
            self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(3):
    x = torch.randn(8, 4)
    opt.zero_grad()
    (net(x) - x).pow(2).mean().backward()
    opt.step()
