import torch
import torch.nn as nn


def mlp(*sizes):
    mods = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        mods.append(nn.Linear(a, b))
        mods.append(nn.ReLU())
    return nn.Sequential(*mods)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(30, 40)
        self.out = nn.Linear(40, 4)

    def forward(self, x):
        return torch.relu(self.out(torch.relu(self.features(x))))  #! 14


model = Classifier()
opt = torch.optim.Adam(model.parameters())
for x, y in loader:
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    opt.step()
