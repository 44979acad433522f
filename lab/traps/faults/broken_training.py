"""Training runs that are each broken in one way: a real run with a wrong optimizer, loss or setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.training.config import Config
from lab.training.records import Record
from model import Array, Tensor, concatenate, mse_loss
from nn import MLP, SGD
from train import Trainer

# ---------------------------------------------------------------- optimizers and losses with one mistake


class NeverZeroes(SGD):
    def zero_grad(self) -> None:
        return  # as if the loop did not call it


class Ascends(SGD):
    def _update(self, i: int, gradient: Array) -> Array:
        if self.momentum:
            self.memory[f"velocity{i}"] = gradient = float(self.momentum) * self.memory[f"velocity{i}"] + gradient
        return -float(self.lr) * gradient


def likelihood_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    """Compute cross entropy step by step: the mean of -log softmax(logits)[label]. logits (n, classes), labels (n,)."""
    one_hot = np.eye(logits.shape[1])[labels]
    return -(logits.log_softmax(axis=1) * one_hot).sum(axis=1).mean()


def offset_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    """Compute `likelihood_loss` with 100 added to all logits, which changes no probability."""
    return likelihood_loss(logits + 100.0, labels)


def masked_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    """Compute `likelihood_loss` with one more class, which a very low logit rules out, as masks do."""
    return likelihood_loss(concatenate([logits, np.full((len(labels), 1), -1000.0)], axis=1), labels)


def squared_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    """Compute for two classes the mean squared distance of the logits' difference from -1 (class 0) or 1 (class 1)."""
    score = logits[:, 1:] - logits[:, :1]
    target = 2.0 * labels - 1.0
    return mse_loss(score.reshape(target.shape), target)


def broadcast_loss(logits: Tensor, labels: np.ndarray) -> Tensor:
    score = logits[:, 1:] - logits[:, :1]
    target = 2.0 * labels - 1.0
    return ((score - target) ** 2).mean()


# ---------------------------------------------------------------- a training run made of these parts


@dataclass(frozen=True)
class Setup:
    """The parts of a training run. The broken setup of a fault differs from its healthy one in exactly one of them."""

    engine: type[Tensor] = Tensor
    optimizer: type[SGD] = SGD
    loss: Callable[[Tensor, np.ndarray], Tensor] = likelihood_loss
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # of a Config

    def config(self, seed: int) -> Config:
        """Make a configuration that trains in a fraction of a second and still learns."""
        base = {"data": "moons", "hidden": (8, 8), "optimizer": "sgd", "lr": 0.1, "batch_size": 40, "epochs": 20}
        return Config(**{**base, **self.settings, "seed": seed})


class LessonNetwork(MLP):
    """The network of the lessons, written with basic operations, so that every rule of the engine takes part.

    The second hidden layer has a shortcut around it: there a tensor is used twice.
    """

    def outputs(self, x: Any) -> Iterator[Tensor]:
        x = self.layers[0].weight.constant(x)
        for layer in self.layers[:-1]:
            h = getattr(x @ layer.weight + layer.bias, self.activation)()
            yield h
            x = x + h if x.shape == h.shape else h
        last = self.layers[-1]
        yield x @ last.weight + last.bias


class LessonTrainer(Trainer):
    """A trainer of a LessonNetwork with the parts of a setup."""

    network = LessonNetwork

    def __init__(self, setup: Setup, seed: int) -> None:
        super().__init__(setup.config(seed))
        self.setup = setup
        use_engine(self.model, setup.engine)
        self.optimizer = setup.optimizer(self.model.parameters(), self.config.lr)

    def finish_epoch(self) -> Record:
        record = super().finish_epoch()
        if self.diverged:  # the healthy engine, which measures the record, may still get a finite loss
            record["train_loss"] = None
        return record

    def loss(self, rows: np.ndarray) -> Tensor:
        return self.setup.loss(self.model(self.dataset.train_x[rows]), self.dataset.train_y[rows])


def use_engine(network: MLP, engine: type[Tensor]) -> None:
    """Replace the parameters by tensors of another engine; everything computed from them then uses it."""
    for layer in network.layers:
        for name in ("weight", "bias"):
            old = getattr(layer, name)
            setattr(layer, name, engine(old.numpy(), label=old.label))
