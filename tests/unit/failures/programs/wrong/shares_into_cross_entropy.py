import torch
from torch import nn


class Sorter:
    def __init__(self):
        self.body = nn.Linear(6, 3)
        self.opt = torch.optim.Adam(self.body.parameters(), lr=0.01)

    def shares(self, rows):
        return torch.softmax(self.body(rows), dim=1)

    def surest(self, rows):
        with torch.no_grad():
            return self.shares(rows).max(1).values

    def learn(self, rows, kinds):
        loss = nn.functional.cross_entropy(self.shares(rows), kinds)  #! 25
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


sorter = Sorter()
for _ in range(20):
    sorter.learn(torch.randn(16, 6), torch.randint(0, 3, (16,)))
print(sorter.surest(torch.randn(4, 6)))
