import torch
from torch import nn


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 3)
        self.fc = nn.Linear(8, 100)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).mean(2))


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Body()
        self.last = nn.Linear(10, 2)

    def forward(self, x):
        return self.last(self.body(x))


whole = Whole()
sgd = torch.optim.SGD(whole.parameters(), lr=0.05)
whole.body.fc = nn.Linear(8, 10)  #! 19
waves, kinds = torch.randn(40, 1, 30), torch.randint(0, 2, (40,))
for _ in range(50):
    sgd.zero_grad()
    nn.functional.cross_entropy(whole(waves), kinds).backward()
    sgd.step()
