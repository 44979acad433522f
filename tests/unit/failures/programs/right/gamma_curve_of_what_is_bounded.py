import torch
from torch import nn


class Curve(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(1))
        self.shift = nn.Parameter(torch.zeros(1))

    def forward(self, light):
        v = self.gain * light + self.shift
        return torch.where(v > 0.01, v.clamp(min=0.01) ** 0.4, 9.0 * v)


curve = Curve()
opt = torch.optim.SGD(curve.parameters(), lr=0.01)
light, shown = torch.rand(200) - 0.1, torch.rand(200)
for turn in range(100):
    loss = (curve(light) - shown).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
