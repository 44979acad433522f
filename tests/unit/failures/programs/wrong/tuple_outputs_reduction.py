import torch
import torch.nn as nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, 50), nn.Tanh())
        self.age = nn.Linear(50, 1)
        self.kind = nn.Linear(50, 5)

    def forward(self, x):
        h = self.trunk(x)
        return self.age(h).squeeze(-1), self.kind(h)


model = MultiTask()
opt = torch.optim.Adam(model.parameters())
per_age = nn.L1Loss(reduction="none")
per_kind = nn.CrossEntropyLoss(reduction="none")
for x, age, kind in loader:
    a, k = model(x)
    loss = 0.1 * per_age(a, age) + per_kind(k, kind)  #! 3
    opt.zero_grad()
    loss.backward()
    opt.step()
