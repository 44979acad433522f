import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.linear = nn.Linear(width, classes)

    @staticmethod
    def normalised(scores):
        powers = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
        return powers / powers.sum(dim=1, keepdim=True)  #! 25

    def forward(self, h):
        return self.normalised(self.linear(h))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.head = Head(16, 3)

    def forward(self, x):
        return self.head(self.body(x))


net = Net()
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for _ in range(100):
    x, y = torch.randn(32, 4), torch.randint(0, 3, (32,))
    sgd.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    sgd.step()
