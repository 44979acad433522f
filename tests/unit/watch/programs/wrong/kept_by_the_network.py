import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 5), nn.Linear(5, 1)
        self.middle = None

    def forward(self, x):
        self.middle = self.first(x).tanh()  #! 5
        return self.last(self.middle)


net = Net()
net(torch.randn(3, 4)).sum().backward()
print(net.middle.grad)
