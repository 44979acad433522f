import torch
from torch import nn


class Halves:
    def __init__(self):
        self.first, self.second = nn.Linear(6, 4), nn.Linear(4, 6)
        self.one = torch.optim.SGD(self.first.parameters(), lr=0.05)
        self.two = torch.optim.SGD(self.second.parameters(), lr=0.05)

    def clear(self):
        for weight in [*self.first.parameters(), *self.second.parameters()]:
            weight.grad = None

    def learn(self, x):
        for turn in range(100):
            self.clear()
            loss = (self.second(self.first(x).tanh()) - x).pow(2).mean()
            loss.backward()
            self.one.step()
            self.two.step()


Halves().learn(torch.randn(50, 6))
