import torch
import torch.nn as nn
import torch.nn.functional as F

from dataclasses import dataclass


@dataclass
class Cfg:
    opt: str = "AdamW"
    lr: float = 2.0  #! 17


cfg = Cfg()
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = getattr(torch.optim, cfg.opt)(net.parameters(), lr=cfg.lr)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
