import torch
import torch.nn as nn


class Online(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 8)
        self.out = nn.Linear(8, 1)
        self.h = torch.zeros(1, 8)

    def forward(self, x):
        self.h = self.cell(x, self.h)  #! 11
        return self.out(self.h)


net = Online()
opt = torch.optim.Adam(net.parameters())
for t in range(50):
    x = torch.randn(1, 3)
    loss = (net(x) - x.sum()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
