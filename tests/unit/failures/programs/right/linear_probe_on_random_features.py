import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.fc = nn.Linear(32, 3)

    def forward(self, x):
        return self.fc(self.features(x))


net = Probe()
opt = torch.optim.SGD(net.fc.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 3, (8,)))
    loss.backward()
    opt.step()
