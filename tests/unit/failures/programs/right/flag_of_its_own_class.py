import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, learns):
        super().__init__()
        self.fc = nn.Linear(10, 10)
        self.requires_grads = learns
        for weight in self.parameters():
            weight.requires_grad = learns

    def forward(self, x):
        return torch.relu(self.fc(x))


blocks = nn.Sequential(Block(False), Block(True), nn.Linear(10, 2))
optimizer = torch.optim.Adam((w for w in blocks.parameters() if w.requires_grad), lr=1e-3)
x, y = torch.randn(80, 10), torch.randint(0, 2, (80,))
for epoch in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(blocks(x), y).backward()
    optimizer.step()
