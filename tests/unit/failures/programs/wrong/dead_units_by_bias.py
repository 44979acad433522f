import torch
import torch.nn as nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 64)
        self.out = nn.Linear(64, 5)

    def forward(self, x):
        h = torch.relu(self.hidden(x))
        return torch.relu(self.out(h))  #! 14


model = Scorer()
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(100, 12), torch.randint(0, 5, (100,))
for _ in range(20):
    opt.zero_grad()
    loss_fn(model(x), y).backward()
    opt.step()
