import torch
import torch.nn as nn


class Normalise(nn.Module):
    def forward(self, v):
        size = (v**2).sum(dim=-1, keepdim=True)
        return torch.where(size > 0, v / torch.sqrt(size), v)  #! 20


net = nn.Sequential(nn.Linear(3, 3, bias=False), nn.ReLU(), Normalise(), nn.Linear(3, 1))
opt = torch.optim.Adam(net.parameters())
x = torch.cat([torch.zeros(1, 3), torch.randn(15, 3)])
loss = net(x).pow(2).mean()
loss.backward()
