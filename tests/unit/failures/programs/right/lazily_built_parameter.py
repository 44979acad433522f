import torch
import torch.nn as nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = None

    def forward(self, x):
        if self.gain is None:
            self.gain = nn.Parameter(torch.ones(x.shape[-1]))
        return x * self.gain


net = nn.Sequential(Scale(), nn.Linear(5, 1))
net(torch.zeros(1, 5))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(8, 5)).pow(2).mean().backward()
    opt.step()
