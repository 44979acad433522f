import torch
import torch.nn as nn


class Dense(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(o, i))  #! 16
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x):
        return x @ self.weight.T + self.bias


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Dense(10, 32), Dense(32, 2)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
for x, y in loader:
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
