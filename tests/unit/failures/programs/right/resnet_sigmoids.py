import torch
from torch import nn


class Gates(nn.Module):
    def __init__(self, d=32, depth=12):
        super().__init__()
        self.gates = nn.ModuleList([nn.Linear(d, d) for _ in range(depth)])
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        for gate in self.gates:
            x = x + torch.sigmoid(gate(x))
        return self.out(x)


net = Gates()
opt = torch.optim.Adam(net.parameters())
for x, y in loader:
    opt.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    opt.step()
