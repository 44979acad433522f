import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Parameter(torch.empty(8, 8))
        self.middle = nn.Linear(8, 16)
        self.out = nn.Parameter(torch.empty(16, 1))
        for weight in (self.mix, self.out):
            weight.data.fill_(1 / weight.shape[0])

    def forward(self, x):
        return torch.relu(self.middle(x @ self.mix)) @ self.out


gated = Gated()
optimizer = torch.optim.Adam(gated.parameters(), lr=1e-2)
x, y = torch.randn(64, 8), torch.randn(64, 1)
for epoch in range(100):
    optimizer.zero_grad()
    nn.functional.mse_loss(gated(x), y).backward()
    optimizer.step()
