import torch
import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes[:-2], sizes[1:-1]):
            layers.append(nn.Linear(a, b))
            layers.append(nn.ReLU())
        layers += [nn.Linear(sizes[-2], sizes[-1])]
        self.net = nn.Sequential(*layers)
        self.extra = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.names = ["a", "b"]

    def forward(self, x):
        for layer in self.extra:
            x = layer(x)
        return self.net(x)


model = MLP([4, 16, 16, 2])
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
