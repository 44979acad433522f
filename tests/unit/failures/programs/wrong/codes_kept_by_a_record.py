import torch
from torch import nn


class Record:
    def __init__(self):
        self.rows = []

    def keep(self, turn, **parts):
        self.rows.append((turn, parts))


squeeze, stretch = nn.Linear(9, 2), nn.Linear(2, 9)
optimizer = torch.optim.Adam([*squeeze.parameters(), *stretch.parameters()])
record = Record()
for turn in range(40):
    given = torch.randn(16, 9)
    code = torch.tanh(squeeze(given))
    loss = (stretch(code) - given).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    record.keep(turn, loss=loss.item(), code=code)  #! 10
print(len(record.rows))
