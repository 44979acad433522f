import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, n=10, d=16):
        super().__init__()
        self.inp = nn.Linear(2, d)
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])
        self.out = nn.Linear(d, 1)
        self.act = nn.Sigmoid()

    def forward(self, x):
        h = self.act(self.inp(x))
        for i in range(len(self.layers)):
            h = self.act(self.layers[i](h))  #! 15
        return self.out(h)


net = Deep()
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    loss = (net(torch.randn(5, 2)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
