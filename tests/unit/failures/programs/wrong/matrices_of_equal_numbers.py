import torch
from torch import nn


class TwoMatrices(nn.Module):
    def __init__(self, inside=24):
        super().__init__()
        self.a = nn.Parameter(torch.randn(6, inside))
        self.b = nn.Parameter(torch.randn(inside, 1))
        nn.init.constant_(self.a, 0.3)  #! 16
        nn.init.constant_(self.b, 0.3)

    def forward(self, x):
        return torch.tanh(x @ self.a) @ self.b


net = TwoMatrices()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(90, 6)
y = x[:, :1] * x[:, 1:2]
for step in range(200):
    optimizer.zero_grad()
    ((net(x) - y) ** 2).mean().backward()
    optimizer.step()
