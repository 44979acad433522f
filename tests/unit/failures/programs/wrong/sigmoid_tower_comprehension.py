import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width=50, depth=8):
        super().__init__()
        self.inp = nn.Linear(10, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.sigmoid(self.inp(x))
        for layer in self.hidden:
            x = torch.sigmoid(layer(x))  #! 15
        return self.out(x)


net = Tower()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for xb, yb in batches:
    opt.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    opt.step()
