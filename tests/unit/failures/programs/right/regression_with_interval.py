import torch
from torch import nn


class Quantiles(nn.Module):
    def __init__(self, n, levels=(0.05, 0.5, 0.95)):
        super().__init__()
        self.register_buffer("levels", torch.tensor(levels))
        self.body = nn.Sequential(nn.Linear(n, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU())
        self.heads = nn.ModuleDict({f"q{i}": nn.Linear(64, 1) for i in range(len(levels))})

    def forward(self, x):
        h = self.body(x)
        return torch.cat([self.heads[f"q{i}"](h) for i in range(len(self.levels))], dim=1)

    def loss(self, predictions, target):
        error = target.unsqueeze(1) - predictions
        return torch.max((self.levels - 1) * error, self.levels * error).sum(1).mean()


model = Quantiles(13)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(300):
    for x, y in loader:
        optimizer.zero_grad()
        loss = model.loss(model(x), y)
        loss.backward()
        optimizer.step()
