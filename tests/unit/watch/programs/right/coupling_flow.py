import math
import torch
from torch import nn
torch.manual_seed(11)
class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip, self.net = flip, nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2))
        nn.init.zeros_(self.net[-1].weight); nn.init.zeros_(self.net[-1].bias)
    def forward(self, x):
        a, b = x.chunk(2, 1)
        a, b = (b, a) if self.flip else (a, b)
        s, t = self.net(a).chunk(2, 1)
        s = s.tanh()
        b = b * s.exp() + t
        return torch.cat((b, a) if self.flip else (a, b), 1), s.squeeze(1)
flow = nn.ModuleList(Coupling(i % 2) for i in range(4))
opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
for x in torch.randn(25, 64, 2):
    z, logdet = torch.stack([x[:, 0], x[:, 0] ** 2 + 0.3 * x[:, 1]], 1), torch.zeros(64)
    for layer in flow:
        z, s = layer(z)
        logdet = logdet + s
    loss = (0.5 * z.square().sum(1) + math.log(2 * math.pi) - logdet).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
