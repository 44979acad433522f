import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.s = nn.Linear(d, d)
        self.t = nn.Linear(d, d)

    def forward(self, x):
        scale = torch.exp(self.s(x))
        y = x * scale + self.t(x)
        scale += 1e-6  #! 1
        return y, scale.log().sum(-1)


flow = Coupling(4)
opt = torch.optim.Adam(flow.parameters(), lr=1e-3)
for _ in range(10):
    x = torch.randn(32, 4)
    y, logdet = flow(x)
    loss = (0.5 * (y**2).sum(-1) - logdet).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
