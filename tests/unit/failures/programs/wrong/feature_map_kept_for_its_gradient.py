import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(4, 6), nn.Linear(6, 2)

    def forward(self, x):
        self.seen = torch.tanh(self.stem(x))  #! 5
        return self.head(self.seen)


net = Net()
net(torch.randn(3, 4))[0, 1].backward()
print(net.seen.grad.abs())
