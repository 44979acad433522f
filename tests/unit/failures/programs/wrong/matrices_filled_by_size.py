import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Parameter(torch.empty(4, 32))
        self.shift = nn.Parameter(torch.empty(32))
        self.leave = nn.Parameter(torch.empty(32, 2))
        for weight in self.parameters():
            size = weight.shape[0] ** -0.5
            weight.data.fill_(size)  #! 16

    def forward(self, x):
        return torch.sigmoid(x @ self.enter + self.shift) @ self.leave


small = Small()
optimizer = torch.optim.Adam(small.parameters(), lr=1e-2)
x, y = torch.randn(100, 4), torch.randint(0, 2, (100,))
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(small(x), y)
    loss.backward()
    optimizer.step()
