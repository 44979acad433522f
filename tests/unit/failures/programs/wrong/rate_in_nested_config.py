import torch
from torch import nn
from dataclasses import dataclass, field


@dataclass
class OptimConfig:
    name: str = "adam"
    lr: float = 1.0  #! 17
    betas: tuple = (0.9, 0.999)


@dataclass
class TrainConfig:
    epochs: int = 5
    optim: OptimConfig = field(default_factory=OptimConfig)


def build_optimizer(cfg, params):
    if cfg.name == "adam":
        return torch.optim.Adam(params, lr=cfg.lr, betas=cfg.betas)
    raise ValueError(cfg.name)


cfg = TrainConfig()
model = nn.Linear(4, 2)
opt = build_optimizer(cfg.optim, model.parameters())
for _ in range(cfg.epochs):
    opt.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
    opt.step()
