import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)
        self.conv2, self.bn2 = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(inplace=True), Block(8), Block(8), nn.Flatten(), nn.Linear(8 * 36, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(net(torch.randn(2, 3, 8, 8)), torch.randint(0, 4, (2,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
