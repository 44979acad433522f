from dataclasses import dataclass, field
from typing import Callable

import torch
from torch import nn


@dataclass
class State:
    epoch: int = 0
    losses: list = field(default_factory=list)
    best: float = float("inf")


class Callback:
    def on_epoch_end(self, trainer): ...


class EarlyStopping(Callback):
    def __init__(self, patience=3):
        self.patience, self.bad = patience, 0

    def on_epoch_end(self, trainer):
        current = trainer.state.losses[-1]
        if current < trainer.state.best:
            trainer.state.best, self.bad = current, 0
        else:
            self.bad += 1
        trainer.stop = self.bad >= self.patience


class Trainer:
    def __init__(self, net: nn.Module, loss: Callable, optimizer_factory, callbacks=()):
        self.net = net
        self.loss = loss
        self.optimizer = optimizer_factory(net.parameters())
        self.callbacks = list(callbacks)
        self.state = State()
        self.stop = False

    def backward(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def train_epoch(self, loader):
        total, seen = 0.0, 0
        for x, y in loader:
            loss = self.loss(self.net(x), y)
            self.backward(loss)
            total += loss.detach() * len(x)
            seen += len(x)
        return (total / seen).item()

    def fit(self, loader, epochs):
        for self.state.epoch in range(epochs):
            self.state.losses.append(self.train_epoch(loader))
            for callback in self.callbacks:
                callback.on_epoch_end(self)
            if self.stop:
                break


trainer = Trainer(nn.Linear(5, 3), nn.CrossEntropyLoss(), lambda p: torch.optim.Adam(p, 1e-3), [EarlyStopping()])
trainer.fit(loader, 50)
