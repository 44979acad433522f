from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class TrainConfig:
    hidden: int = 128
    lr: float = 2.0  #! 17
    epochs: int = 20


class Net(nn.Module):
    def __init__(self, cfg: TrainConfig):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(784, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, 10))

    def forward(self, x):
        return self.body(x.flatten(1))


def train(cfg: TrainConfig, loader):
    net = Net(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for _ in range(cfg.epochs):
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            opt.step()


train(TrainConfig(), loader)
