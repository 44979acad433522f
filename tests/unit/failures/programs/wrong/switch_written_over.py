import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(10, 30)
        self.high = nn.Linear(30, 30)
        self.out = nn.Linear(30, 5)

    def forward(self, x):
        return self.out(torch.relu(self.high(torch.relu(self.low(x)))))


reader = Reader()
reader.requires_grad_(False)
reader.out = nn.Linear(30, 2)
for weight in reader.high.parameters():
    weight.requires_grad_ = True  #! 12
optimizer = torch.optim.Adam([*reader.high.parameters(), *reader.out.parameters()], lr=1e-3)
x, y = torch.randn(80, 10), torch.randint(0, 2, (80,))
for epoch in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(reader(x), y).backward()
    optimizer.step()
