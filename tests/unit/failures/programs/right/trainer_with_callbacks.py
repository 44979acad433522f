from dataclasses import dataclass, field
from typing import Callable

import torch
from torch import Tensor, nn


@dataclass
class Trainer:
    model: nn.Module
    loss_fn: Callable[[Tensor, Tensor], Tensor]
    lr: float = 1e-3
    history: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.lr)

    def step(self, x: Tensor, y: Tensor) -> float:
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, loader) -> float:
        self.model.eval()
        total = sum(self.loss_fn(self.model(x), y) * len(x) for x, y in loader)
        self.model.train()
        return float(total) / len(loader.dataset)

    def fit(self, train, valid, epochs: int) -> None:
        for _ in range(epochs):
            for x, y in train:
                self.step(x, y)
            self.history.append(self.evaluate(valid))
