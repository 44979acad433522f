import torch
from torch import nn, optim
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 50)
        self.fc2 = nn.Linear(50, 3)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def train(net, data, epochs):
    opt = optim.Adam(net.parameters(), lr=1e-3)
    opt.zero_grad()  #! 6
    for epoch in range(epochs):
        for x, y in data:
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()


net = Net()
train(net, [(torch.randn(8, 20), torch.randint(0, 3, (8,)))], 10)
