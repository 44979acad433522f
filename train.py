"""Train a classifier with the engine: `python train.py`, or `train(Config(...))` from a page or a notebook.

Read it from top to bottom: the settings (`Config`), the training itself (`Trainer`: one batch is one `step()`, and an
epoch ends with `finish_epoch()` and its record), `train()`, which yields these records, and the command line.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import itertools
import json
import math
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.datasets import NAMES, DataError, Dataset, load
from lab.diagnose import Finding, diagnose
from lab.runs import Record, Run, RunError, State, alone_in, new_run_path, slim, write_atomic
from model import ACTIVATIONS, INITS, MLP, SGD, Adam, Tensor, clip_grad_norm, cross_entropy, no_grad

if TYPE_CHECKING:
    from lab.events import EventWriter  # an optional extra

# ---------------------------------------------------------------- settings

DEFAULT_LR = MappingProxyType({"adam": 0.001, "sgd": 0.05})
SCHEDULES = ("constant", "step", "cosine")


class ConfigError(ValueError):
    """A setting cannot be used. The message is one sentence for the learner: what is wrong, and what to do."""


@dataclass(frozen=True)
class Config:
    """Everything that determines a run. Raises ConfigError for a setting that makes no sense.

    hidden: the widths of the hidden layers; none at all is softmax regression. lr: None takes the optimizer's default.
    clip: the largest norm of all gradients together; None does not clip. target: the label column of a CSV file.
    schedule, warmup: how the learning rate changes (see `learning_rate`). patience: stop after so many epochs without
    a better one; None does not stop early.
    """

    data: str = "digits"
    data_dir: str | None = None
    target: str | None = None
    hidden: tuple[int, ...] = (128, 64)
    activation: str = "relu"
    init: str = "he"
    optimizer: str = "adam"
    lr: float | None = None
    schedule: str = "constant"
    warmup: int = 0
    momentum: float = 0.0
    clip: float | None = None
    batch_size: int = 32
    epochs: int = 20
    patience: int | None = None
    seed: int = 0
    val_fraction: float = 0.2

    def __post_init__(self) -> None:
        for name, value in (("data", self.data), ("data-dir", self.data_dir), ("target", self.target)):
            _require(isinstance(value, str) or (value is None and name != "data"), f"--{name} must be a text.")
        _require(
            isinstance(self.hidden, (list, tuple)) and all(_is_whole(width, 1) for width in self.hidden),
            f"--hidden must be whole numbers from 1 (the widths of the layers), not {_shown(self.hidden)}: "
            f"write for example --hidden 64 32.",
        )
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list comes from JSON and from the command line
        _require_one_of("activation", self.activation, ACTIVATIONS)
        _require_one_of("init", self.init, INITS)
        _require_one_of("optimizer", self.optimizer, tuple(DEFAULT_LR))
        if self.lr is None:
            object.__setattr__(self, "lr", DEFAULT_LR[self.optimizer])
        _require(
            _is_number(self.lr) and self.lr > 0,
            f"--lr (the learning rate) must be a positive number, not {_shown(self.lr)}: "
            f"try {DEFAULT_LR[self.optimizer]}.",
        )
        _require(
            _is_number(self.momentum) and 0 <= self.momentum < 1,
            f"--momentum must be at least 0 and less than 1, not {_shown(self.momentum)}: try 0.9.",
        )
        _require(
            self.optimizer == "sgd" or self.momentum == 0,
            "--momentum belongs to sgd, and adam has its own: add --optimizer sgd, or leave --momentum out.",
        )
        _require(
            self.clip is None or (_is_number(self.clip) and self.clip > 0),
            f"--clip (the largest gradient norm) must be a positive number, not {_shown(self.clip)}: try 1.",
        )
        for name, value, low in (
            ("batch-size", self.batch_size, 1),
            ("epochs", self.epochs, 1),
            ("warmup", self.warmup, 0),
            ("patience", 1 if self.patience is None else self.patience, 1),
            ("seed", self.seed, 0),
        ):
            _require(_is_whole(value, low), f"--{name} must be a whole number from {low}, not {_shown(value)}.")
        _require_one_of("schedule", self.schedule, SCHEDULES)
        _require(
            self.warmup < self.epochs,
            f"--warmup {self.warmup} leaves nothing of {self.epochs} epochs: choose a smaller one.",
        )
        _require(
            _is_number(self.val_fraction) and 0 < self.val_fraction < 1,
            f"--val-fraction must lie between 0 and 1, not {_shown(self.val_fraction)}: try 0.2.",
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"hidden": list(self.hidden)}

    @classmethod
    def from_json(cls, settings: dict[str, Any]) -> Config:
        """The inverse of `to_json`. A setting that is missing has its default, one that is unknown is an error."""
        unknown = sorted(settings.keys() - {field.name for field in fields(cls)})
        _require(
            not unknown, f"There is no setting called {', '.join(map(repr, unknown))}: remove it from config.json."
        )
        return cls(**settings)


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise ConfigError(sentence)


def _require_one_of(name: str, value: Any, choices: Sequence[str]) -> None:
    close = difflib.get_close_matches(str(value).lower(), choices, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(choices)}."
    _require(value in choices, f"--{name} cannot be {_shown(value)}: {hint}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_whole(value: Any, low: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def _shown(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else repr(value)


# ---------------------------------------------------------------- training


def learning_rate(config: Config, step: int, steps_per_epoch: int) -> float:
    """The rate of the step with this number, counted from 0 over the whole run.

    In the warm-up it grows in a straight line, from nearly 0 up to config.lr. Then, by config.schedule, it
    constant   stays
    step       falls to a tenth after half of the epochs, and to a hundredth after three quarters
    cosine     falls along half a wave of the cosine, nearly to 0 at the end of the last epoch
    """
    warmup, total = config.warmup * steps_per_epoch, config.epochs * steps_per_epoch
    if step < warmup:
        return config.lr * (step + 1) / warmup
    if config.schedule == "step":
        return config.lr * (1 if 2 * step < total else 0.1 if 4 * step < 3 * total else 0.01)
    if config.schedule == "cosine":
        return config.lr * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2
    return config.lr


EVALUATION_BATCH = 250  # large enough to be fast, small enough that its activations are no burden
HISTOGRAM_BINS = 48
_POWERS = [float(f"{10 ** (third / 3):.3g}") for third in range(-18, 4)]  # 1e-06, 2.15e-06, 4.64e-06, 1e-05, ... 10
GRADIENT_EDGES = (*(-power for power in reversed(_POWERS)), *_POWERS)  # of all runs; the middle bin holds the zeros
SATURATED = 0.05  # of its largest value: an activation's derivative below this lets hardly any gradient through
MOST_WEIGHTS = 100_000_000  # with the optimizer's memory of them about 2 GB
_INIT, _SHUFFLE = 1, 2  # with the seed, these make independent streams of random numbers


class Trainer:
    """A network in training. `step()` trains on one batch; after `steps_per_epoch` of them, `finish_epoch()` measures.

    Between any two calls it can be paused, or saved with `state()` and brought back with `load_state()`, and it goes
    on bit for bit as if nothing had happened. Nothing random is left to save: the order of the samples in an epoch
    depends on the seed and the number of the epoch alone.
    """

    def __init__(self, config: Config, dataset: Dataset | None = None) -> None:
        """Without a dataset, load the one that the config names. Raises DataError, ConfigError (too many weights)."""
        self.config = config
        self.dataset = dataset or load(config.data, config.data_dir, config.target, config.val_fraction, config.seed)
        self.sizes = (self.dataset.train_x.shape[1], *config.hidden, len(self.dataset.classes))
        weights = sum((n_in + 1) * n_out for n_in, n_out in itertools.pairwise(self.sizes))
        _require(
            weights <= MOST_WEIGHTS,
            f"--hidden {_shown(config.hidden)} makes a network of {weights:,} weights, more than the {MOST_WEIGHTS:,} "
            f"that are trained here: use narrower layers.",
        )
        rng = np.random.default_rng([config.seed, _INIT])
        self.model = MLP(self.sizes, config.activation, config.init, rng, dtype=np.float32)
        parameters = self.model.parameters()
        if config.optimizer == "sgd":
            self.optimizer = SGD(parameters, config.lr, config.momentum)
        else:
            self.optimizer = Adam(parameters, config.lr)
        self.steps_per_epoch = -(-len(self.dataset.train_x) // config.batch_size)  # rounded up
        self.layer_names = [f"layer{number}" for number in range(1, len(self.sizes))]
        self.histogram_edges = self._per_layer(_histogram_edges(layer.weight.numpy()) for layer in self.model.layers)
        self.layer_gradient_norms: dict[str, float] = {}  # of the last batch, before clipping

        self.epoch = 0  # how many are finished
        self.batch = 0  # how many of the current epoch are done
        self.diverged = False
        self.best_epoch = 0
        self.best_accuracy = 0.0
        self.best_loss = math.inf
        self.best_weights = self.weights()
        self._begin_epoch()

    @property
    def done(self) -> bool:
        return self.epoch >= self.config.epochs or self.stopped_early or (self.diverged and self.batch == 0)

    @property
    def stopped_early(self) -> bool:
        """Has it lost patience, with epochs to go?"""
        patience = self.config.patience
        lost = patience is not None and self.epoch - self.best_epoch >= patience
        return lost and self.epoch < self.config.epochs and not self.diverged

    @property
    def epoch_complete(self) -> bool:
        """Is it time for `finish_epoch()`? After the last batch, or at once when the loss is no longer a number."""
        return self.batch == self.steps_per_epoch or (self.diverged and self.batch > 0)

    def _begin_epoch(self) -> None:
        self.batch = 0
        self._order = self._shuffled()
        self._grad_norm_sums = np.zeros(len(self.model.layers))
        self._clipped = 0
        self._update_ratios = np.full(len(self.model.layers), np.nan)
        self._gradient_counts = np.zeros((len(self.model.layers), len(GRADIENT_EDGES) + 1), dtype=int)
        self._seconds = 0.0

    def _shuffled(self) -> np.ndarray:
        rng = np.random.default_rng([self.config.seed, _SHUFFLE, self.epoch])
        return rng.permutation(len(self.dataset.train_x))

    def step(self) -> float:
        """Train on the next batch and return its loss, as it was before the step.

        A loss that is inf or nan ends the training: the weights stay as they are, the epoch is complete.
        """
        started = time.perf_counter()
        rows = self._order[self.batch * self.config.batch_size : (self.batch + 1) * self.config.batch_size]
        self.batch += 1
        with np.errstate(all="ignore"):  # a loss that overflows is told in one sentence, not in NumPy's warnings
            self.optimizer.zero_grad()
            loss = self.loss(rows)
            value = loss.item()
            if math.isfinite(value):
                loss.backward()
                self._update()
            else:
                self.diverged = True
        self._seconds += time.perf_counter() - started
        return value

    def loss(self, rows: np.ndarray) -> Tensor:
        """The loss of the training samples in these rows, integers (n,), with its graph: what a step lowers."""
        return cross_entropy(self.model(self.dataset.train_x[rows]), self.dataset.train_y[rows])

    def _update(self) -> None:
        """One step of the optimizer, with the measurements that need the gradients."""
        layers = self.model.layers
        norms = [math.sqrt(sum(float(np.vdot(p.grad, p.grad)) for p in layer.parameters())) for layer in layers]
        self.layer_gradient_norms = self._per_layer(norms)
        self._grad_norm_sums += norms
        if self.batch == self.steps_per_epoch:
            self._gradient_counts[:] = [_counts(layer.weight.grad, GRADIENT_EDGES) for layer in layers]
        if self.config.clip is not None:
            self._clipped += clip_grad_norm(self.model.parameters(), self.config.clip) > self.config.clip
        steps_before = self.epoch * self.steps_per_epoch + self.batch - 1
        self.optimizer.lr = learning_rate(self.config, steps_before, self.steps_per_epoch)
        if self.batch < self.steps_per_epoch:
            self.optimizer.step()
            return
        before = [layer.weight.numpy() for layer in layers]
        self.optimizer.step()
        for index, layer in enumerate(layers):
            change = np.linalg.norm(layer.weight.numpy() - before[index])
            self._update_ratios[index] = change / np.linalg.norm(before[index])

    def finish_epoch(self) -> Record:
        """Measure the network and return the epoch's record, which is JSON as it stands: inf and nan are None.

        epoch                            from 1
        ...                              everything that `measure` returns, with the weights at the end of the epoch
        grad_norm                        per layer: norm of the gradient of its weights and biases, before clipping,
                                         averaged over the batches of the epoch
        gradient_histogram               per layer: the gradients of the weights in the epoch's last batch, before
                                         clipping, in the bins of GRADIENT_EDGES, which are the same for all runs
        update_ratio                     per layer: how far the epoch's last step moved the weights, over their norm
        lr                               the learning rate of that step
        clipped                          the share of the epoch's steps whose gradients were clipped, 0 to 1
        best                             is this the best epoch so far, by validation accuracy, then by loss?
        since_best                       epochs since the best so far; with this many, patience is compared
        diverged                         did the loss stop being a number? It is the last record, then
        seconds                          time spent on the epoch
        """
        if not self.epoch_complete:
            raise RuntimeError(
                f"Epoch {self.epoch + 1} has {self.steps_per_epoch - self.batch} batches to go: call step()."
            )
        started = time.perf_counter()
        measured = self.measure()
        self.epoch += 1
        val_accuracy, val_loss = measured["val_accuracy"], measured["val_loss"]
        if val_loss is None:
            val_loss = math.inf
        best = self.best_epoch == 0 or (val_accuracy, -val_loss) > (self.best_accuracy, -self.best_loss)
        if best:
            self.best_epoch, self.best_accuracy, self.best_loss = self.epoch, val_accuracy, val_loss
            self.best_weights = self.weights()
        record = {
            "epoch": self.epoch,
            **measured,
            "grad_norm": self._per_layer(_number(total / self.batch) for total in self._grad_norm_sums),
            "gradient_histogram": self._per_layer(_histogram(row, GRADIENT_EDGES) for row in self._gradient_counts),
            "update_ratio": self._per_layer(_number(ratio) for ratio in self._update_ratios),
            "lr": self.optimizer.lr,
            "clipped": self._clipped / self.batch,
            "best": best,
            "since_best": self.epoch - self.best_epoch,
            "diverged": self.diverged,
            "seconds": self._seconds + time.perf_counter() - started,
        }
        self._begin_epoch()
        return record

    def measure(self) -> dict[str, Any]:
        """The network as it is now, at any moment: before the first batch, too. It changes nothing.

        train_loss, val_loss             mean cross-entropy
        train_accuracy, val_accuracy     the share of samples classified correctly, 0 to 1
        gap                              train_accuracy - val_accuracy: 0.1 is a gap of ten points
        dead_units                       per hidden layer: the share of units whose output is the same for all samples
        saturated                        per hidden layer: the share of outputs in the flat ends of tanh or sigmoid,
                                         where the derivative is below 5 % of its largest; 0 for other activations
        weight_histogram                 per layer: counts of the weights in bins between edges, which stay the same
                                         all through the run, and how many weights lie below and above them
        """
        train_loss, train_accuracy, dead, saturated = self._evaluate(self.dataset.train_x, self.dataset.train_y)
        val_loss, val_accuracy, _, _ = self._evaluate(self.dataset.val_x, self.dataset.val_y)
        histograms = (
            _histogram(_counts(layer.weight.numpy(), edges), edges)
            for layer, edges in zip(self.model.layers, self.histogram_edges.values(), strict=True)
        )
        return {
            "train_loss": _number(train_loss),
            "val_loss": _number(val_loss),
            "train_accuracy": train_accuracy,
            "val_accuracy": val_accuracy,
            "gap": train_accuracy - val_accuracy,
            "dead_units": self._per_layer(dead),
            "saturated": self._per_layer(saturated),
            "weight_histogram": self._per_layer(histograms),
        }

    def _evaluate(self, inputs: np.ndarray, labels: np.ndarray) -> tuple[float, float, list[float], list[float]]:
        """Mean loss, accuracy, and for each hidden layer the share of dead units and of saturated outputs."""
        loss_sum, correct = 0.0, 0
        saturated = [0] * len(self.config.hidden)
        lows = [np.full(width, np.inf) for width in self.config.hidden]
        highs = [np.full(width, -np.inf) for width in self.config.hidden]
        with no_grad(), np.errstate(all="ignore"):
            for start in range(0, len(inputs), EVALUATION_BATCH):
                batch = slice(start, start + EVALUATION_BATCH)
                logits, hidden = self._forward(inputs[batch])
                loss_sum += cross_entropy(logits, labels[batch]).item() * len(labels[batch])
                correct += int(np.count_nonzero(logits.numpy().argmax(axis=1) == labels[batch]))
                for index, outputs in enumerate(hidden):
                    np.minimum(lows[index], outputs.min(axis=0), out=lows[index])
                    np.maximum(highs[index], outputs.max(axis=0), out=highs[index])
                    saturated[index] += _saturated(self.config.activation, outputs)
        dead = [float(np.mean(low == high)) for low, high in zip(lows, highs, strict=True)]
        shares = [n / (len(labels) * width) for n, width in zip(saturated, self.config.hidden, strict=True)]
        return loss_sum / len(labels), correct / len(labels), dead, shares

    def _forward(self, inputs: np.ndarray) -> tuple[Tensor, list[np.ndarray]]:
        """The logits (n, classes) for inputs (n, features), and the outputs of the hidden layers."""
        *hidden, logits = layer_outputs(self.model, inputs)
        return logits, [outputs.numpy() for outputs in hidden]

    def _per_layer(self, values: Any) -> dict[str, Any]:
        return dict(zip(self.layer_names, values, strict=False))  # hidden layers come first, so fewer values fit

    def weights(self) -> np.ndarray:
        """All parameters as one flat float32 array, layer by layer: weights row by row, then biases."""
        return np.concatenate([p.numpy().ravel() for p in self.model.parameters()])

    def set_weights(self, flat: np.ndarray) -> None:
        """The inverse of `weights`, for example with `np.load("best_weights.npy")`."""
        if flat.shape != self.weights().shape:
            raise RunError(
                f"{flat.size:,} weights do not fit the network {_sizes(self.sizes)}, which has "
                f"{self.weights().size:,}: use the settings that they were trained with."
            )
        ends = np.cumsum([p.size for p in self.model.parameters()])
        for parameter, values in zip(self.model.parameters(), np.split(flat, ends[:-1]), strict=True):
            parameter.data = values.reshape(parameter.shape)

    def state(self) -> State:
        """Everything that changes in training, as arrays. Any moment will do, also in the middle of an epoch."""
        state = {
            "sizes": np.array(self.sizes),
            "data": np.array(self.dataset.fingerprint),
            "epoch": np.array(self.epoch),
            "batch": np.array(self.batch),
            "diverged": np.array(self.diverged),
            "weights": self.weights(),
            "best_epoch": np.array(self.best_epoch),
            "best_accuracy": np.array(self.best_accuracy),
            "best_loss": np.array(self.best_loss),
            "best_weights": self.best_weights,
            "grad_norm_sums": self._grad_norm_sums.copy(),
            "clipped": np.array(self._clipped),
            "update_ratios": self._update_ratios.copy(),
            "gradient_counts": self._gradient_counts.copy(),
            "seconds": np.array(self._seconds),
        }
        return state | {f"optimizer.{name}": array for name, array in self.optimizer.state().items()}

    def load_state(self, state: State) -> None:
        """Go back, or ahead, to a state. Raises RunError when it belongs to another network or to other data."""
        try:
            sizes = tuple(state["sizes"].tolist())
            if sizes != self.sizes:
                raise RunError(
                    f"The checkpoint is of a network {_sizes(sizes)}, but this one is {_sizes(self.sizes)}: "
                    f"use the settings that it was trained with."
                )
            if state["data"] != self.dataset.fingerprint:
                raise RunError(
                    "The data are not those that the checkpoint was trained on: restore them, or start a new run."
                )
            self.set_weights(state["weights"])
            prefix = "optimizer."
            self.optimizer.load_state(
                {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            )
            self.epoch = int(state["epoch"])
            self._begin_epoch()
            self.batch = int(state["batch"])
            self.diverged = bool(state["diverged"])
            self.best_epoch = int(state["best_epoch"])
            self.best_accuracy = float(state["best_accuracy"])
            self.best_loss = float(state["best_loss"])
            self.best_weights = state["best_weights"]
            self._grad_norm_sums = state["grad_norm_sums"].copy()
            self._clipped = int(state["clipped"])
            self._update_ratios = state["update_ratios"].copy()
            self._gradient_counts = state["gradient_counts"].copy()
            self.layer_gradient_norms = {}
            self._seconds = float(state["seconds"])
        except KeyError as missing:
            raise RunError(
                f"The checkpoint lacks {missing}: it was made with other settings, start a new run."
            ) from None


def train(
    config: Config, trainer: Trainer | None = None, on_batch: Callable[[], Any] | None = None
) -> Iterator[Record]:
    """Train and yield the record of each epoch (see `Trainer.finish_epoch`), until `trainer.done`.

    Give a `trainer` to go on with one, or to look into it meanwhile; `on_batch` is called after every batch.
    """
    trainer = trainer or Trainer(config)
    while not trainer.done:
        trainer.step()
        if on_batch is not None:
            on_batch()
        if trainer.epoch_complete:
            yield trainer.finish_epoch()


def layer_outputs(model: MLP, inputs: np.ndarray) -> list[Tensor]:
    """What `model(inputs)` computes on its way for inputs (n, features): the outputs (n, width) of all hidden layers,
    then the logits (n, classes)."""
    x, outputs = Tensor(inputs, requires_grad=False), []
    for layer in model.layers[:-1]:
        x = layer(x)
        if model.activation != "identity":
            x = getattr(x, model.activation)()
        outputs.append(x)
    return [*outputs, model.layers[-1](x)]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _sizes(sizes: Sequence[int]) -> str:
    return "-".join(map(str, sizes))


def _histogram_edges(weights: np.ndarray) -> np.ndarray:
    """Bins for all epochs of a run: twice as wide as the initial weights, or as Xavier's where these are smaller."""
    reach = 2 * max(float(np.abs(weights).max()), 3 * math.sqrt(2 / sum(weights.shape)))
    return np.linspace(-reach, reach, HISTOGRAM_BINS + 1).round(6)


def _counts(values: np.ndarray, edges: Sequence[float]) -> np.ndarray:
    """How many values lie below the first edge, in each bin, and above the last edge."""
    counts, _ = np.histogram(values, edges)
    return np.array([np.count_nonzero(values < edges[0]), *counts, np.count_nonzero(values > edges[-1])])


def _histogram(counts: np.ndarray, edges: Sequence[float]) -> dict[str, Any]:
    below, *inside, above = counts.tolist()
    return {"edges": np.asarray(edges).tolist(), "counts": inside, "below": below, "above": above}


def _saturated(activation: str, outputs: np.ndarray) -> int:
    """How many outputs lie where the activation is flat. Only tanh and sigmoid level off at both ends."""
    if activation not in ("tanh", "sigmoid"):
        return 0
    y = outputs if activation == "tanh" else 2 * outputs - 1  # sigmoid is a tanh of another scale
    return int(np.count_nonzero(1 - y * y < SATURATED))  # 1 - tanh^2 is the derivative, at most 1


# ---------------------------------------------------------------- command line

EXIT_CODES = "exit codes: 0 trained, 1 the loss diverged, 2 something given cannot be used, 130 stopped by Ctrl-C"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        raise ConfigError(f"{message}; python {self.prog} --help lists what there is.")


def _parser() -> argparse.ArgumentParser:
    """The flags. Those of the config have no default here, so that only the given ones are in the namespace."""
    defaults = Config()
    parser = _Parser(
        prog="train.py",
        description="Train a classifier with the engine of model.py. To compare runs: train.py report RUN RUN ...",
        epilog=EXIT_CODES,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    add("--data", metavar="NAME", help=f"{', '.join(NAMES)} or csv:PATH (default {defaults.data})")
    add("--data-dir", metavar="DIR", help="the folder of the MNIST files (default: they are downloaded)")
    add("--target", metavar="COLUMN", help="the label column of a CSV, a name or a number from 1 (default: the last)")
    add(
        "--hidden",
        metavar="WIDTH",
        type=int,
        nargs="*",
        help=f"widths of the hidden layers (default {' '.join(map(str, defaults.hidden))})",
    )
    add("--activation", metavar="NAME", help=f"{', '.join(ACTIVATIONS)} (default {defaults.activation})")
    add("--init", metavar="NAME", help=f"{', '.join(INITS)} (default {defaults.init})")
    add("--optimizer", metavar="NAME", help=f"{', '.join(DEFAULT_LR)} (default {defaults.optimizer})")
    rates = ", ".join(f"{rate} for {name}" for name, rate in DEFAULT_LR.items())
    add("--lr", metavar="RATE", type=float, help=f"learning rate (default {rates})")
    add(
        "--schedule", metavar="NAME", help=f"of the learning rate: {', '.join(SCHEDULES)} (default {defaults.schedule})"
    )
    add("--warmup", metavar="EPOCHS", type=int, help="epochs in which the learning rate grows from 0 (default 0)")
    add("--momentum", metavar="SHARE", type=float, help=f"momentum of sgd (default {defaults.momentum:g})")
    add("--clip", metavar="NORM", type=float, help="largest norm of all gradients together (default: no limit)")
    add("--batch-size", metavar="N", type=int, help=f"samples in a batch (default {defaults.batch_size})")
    add("--epochs", metavar="N", type=int, help=f"passes over the training samples (default {defaults.epochs})")
    add("--patience", metavar="N", type=int, help="stop after N epochs without a better one (default: train them all)")
    add("--seed", metavar="N", type=int, help=f"fixes everything that is random (default {defaults.seed})")
    add("--val-fraction", metavar="SHARE", type=float, help=f"held out to validate (default {defaults.val_fraction})")
    add(
        "--sweep",
        metavar="NAME=VALUE,VALUE",
        nargs="+",
        default=None,
        help="a run for each combination, over all processors: --sweep lr=0.01,0.1 hidden=64-32,128; "
        "the same command again continues it",
    )
    add(
        "--scheduler",
        metavar="ADDRESS",
        default=None,
        help="hand the sweep to a Dask cluster, such as tcp://host:8786, whose workers were started in this folder",
    )
    add("--out", metavar="DIR", default=None, help="the folder of the run, or of a sweep (default: runs/NAME-NUMBER)")
    add("--resume", action="store_true", default=False, help="continue the run in --out; --epochs may extend it")
    add("--tensorboard", action="store_true", default=False, help="write TensorBoard's event files into the run, too")
    add("--quiet", action="store_true", default=False, help="print the last line only")
    add("--json", action="store_true", default=False, help="print one JSON object per epoch and nothing else")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. A user's mistake is one line on stderr, never a traceback."""
    try:
        argv = sys.argv[1:] if argv is None else list(argv)
        if argv[:1] == ["report"]:
            return _report_command(argv[1:])
        given = vars(_parser().parse_args(argv))
        sweep, scheduler = given.pop("sweep"), given.pop("scheduler")
        _require(sweep is not None or scheduler is None, "--scheduler is for a --sweep: a single run trains here.")
        return _run_command(given) if sweep is None else _sweep_command(sweep, scheduler, given)
    except (ConfigError, DataError, RunError) as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("There is not enough memory for these data and this network: use less of either.")
    except KeyboardInterrupt:
        print("train.py: stopped by Ctrl-C.", file=sys.stderr)
        return 130
    except OSError as error:  # stdout: a full disk, or the reader of a pipe has gone. Files raise RunError
        return _fail(f"The output could not be written ({error.strerror}); what was trained is kept in the run folder.")


def _fail(sentence: str) -> int:
    print(f"train.py: {sentence}", file=sys.stderr)
    return 2


def _run_command(given: dict[str, Any]) -> int:
    out, resume, quiet, as_json = (given.pop(name) for name in ("out", "resume", "quiet", "json"))
    open_events = _event_writer() if given.pop("tensorboard") else None
    if resume:
        _require(out is not None, "--resume needs --out DIR: the folder of the run to continue.")
        run, trainer = Run(Path(out)), None
    else:
        trainer = Trainer(Config(**given))  # first, so that a mistake in the data leaves no folder behind
        path = new_run_path(trainer.config.data) if out is None else Path(out)
        run = Run.create(path, trainer.config.to_json())
    with alone_in(run.path):
        try:
            return _train_run(run, trainer or _resume(run, given), open_events, quiet, as_json)
        except KeyboardInterrupt:
            complete, epochs = len(run.records()), Config.from_json(run.config()).epochs
            print(
                f"Stopped by Ctrl-C with {complete} of {epochs} epochs complete. Continue with: {_resume_command(run)}",
                file=sys.stderr,
            )
            return 130


def _train_run(run: Run, trainer: Trainer, open_events: type[EventWriter] | None, quiet: bool, as_json: bool) -> int:
    log = None if quiet else sys.stderr if as_json else sys.stdout
    if log:
        print("\n".join(_introduction(trainer, run)), file=log, flush=True)
    interrupted = False
    doctor = Doctor(run.records())
    events = open_events(run.path) if open_events else None
    total, begun = (epochs * trainer.steps_per_epoch for epochs in (trainer.config.epochs, trainer.epoch))
    with _bar(total, begun, "batch", show=not (quiet or as_json)) as bar:
        try:
            for record in train(trainer.config, trainer, on_batch=bar.update):
                with _ctrl_c_held_back():
                    run.save(record, trainer.state())
                    if events:
                        events.write(record)
                    news = doctor.look(record)
                    with bar.external_write_mode():
                        if as_json:
                            print(json.dumps(record), flush=True)
                        elif not quiet:
                            print(_line(record, trainer.config.epochs), flush=True)
                        if not (quiet or trainer.done):  # at the end, all that stands is told
                            _warn(news)
        except KeyboardInterrupt:
            interrupted = True
        except RunError as error:
            raise RunError(f"{error} Then continue with: {_resume_command(run)}") from None
    with _ctrl_c_held_back(and_forget=True):
        save_summary(run, trainer)
        if events:
            events.close()
    if not quiet:
        _warn(doctor.findings())
    if interrupted:
        raise KeyboardInterrupt
    if not (as_json and quiet):
        print(_conclusion(trainer, run), file=sys.stderr if as_json else sys.stdout, flush=True)
    return 1 if trainer.diverged else 0


class Doctor:
    """Follows a run with `lab.diagnose`. `look` tells somebody who waits for its end what has gone wrong meanwhile.

    It tells a finding once, when it is no passing one. Each look reads the whole history; they become rarer as it
    grows, so that they cost an epoch the same all along.
    """

    STANDS = 3  # looks in a row, before a finding is told
    SILENT = 5.0  # seconds: of a run that is over so soon, all is told at the end, and once

    def __init__(self, records: Sequence[Record]) -> None:
        """records: of the epochs that the run has already, if any."""
        self._speaks_from = time.monotonic() + self.SILENT
        self._records = [*records[:1], *slim(records[1:-1]), *records[1:][-1:]]
        self._next_look = 0
        self._seen: dict[str, int] = {}  # in how many looks in a row, up to the last one
        self._told: set[str] = set()

    def look(self, record: Record) -> list[Finding]:
        """Add the record of an epoch. Returns what is new: each finding at most once in a run."""
        if len(self._records) > 1:  # of the histograms, the rules read the first and the last
            self._records[-1:] = slim(self._records[-1:])
        self._records.append(record)
        if record["epoch"] < self._next_look:
            return []
        self._next_look = record["epoch"] + 1 + record["epoch"] // 20
        found = {finding.name: finding for finding in self.findings()}
        self._seen = {name: self._seen.get(name, 0) + 1 for name in found}
        if time.monotonic() < self._speaks_from:
            return []
        news = [name for name, looks in self._seen.items() if looks >= self.STANDS and name not in self._told]
        self._told.update(news)
        return [found[name] for name in news]

    def findings(self) -> list[Finding]:
        """All that stand now, causes before consequences; none when the run is healthy or has only begun."""
        found = diagnose(self._records) if self._records else []
        return [finding for finding in found if finding.key not in ("healthy", "early")]


def _warn(findings: Sequence[Finding]) -> None:
    for finding in findings:
        print(f"warning: {finding}", file=sys.stderr, flush=True)


def _event_writer() -> type[EventWriter]:
    try:
        from lab.events import EventWriter
    except ImportError:
        raise ConfigError("--tensorboard needs the package tensorboard: pip install tensorboard.") from None
    return EventWriter


def _resume(run: Run, given: dict[str, Any]) -> Trainer:
    """The flags given must be those of the run; only epochs, patience and data_dir may change."""
    out = str(run.path)
    begun = Config.from_json(run.config())
    for name, value in given.items():
        before = getattr(begun, name)
        same = list(value) == list(before) if name == "hidden" else value == before
        _require(
            same or name in ("epochs", "patience", "data_dir"),
            f"--{name.replace('_', '-')} {_shown(value)} contradicts the run in {out!r}, which has {_shown(before)}: "
            f"leave it out, or start a new run in another --out.",
        )
    config = replace(begun, **given)
    _require(
        begun.schedule == "constant" or config.epochs == begun.epochs,
        f"--epochs {config.epochs} would change the learning rates of the run in {out!r}, because its {begun.schedule} "
        f"schedule is laid out over {begun.epochs} epochs: leave it out, or start a new run in another --out.",
    )
    trainer = trainer_of(run, config)
    if config != begun:
        run.write_config(config.to_json())
    return trainer


def trainer_of(run: Run, config: Config) -> Trainer:
    """A trainer that stands where the checkpoint of the run does. Raises DataError, ConfigError, RunError."""
    trainer = Trainer(config)
    state = run.checkpoint()
    if state is not None:
        trainer.load_state(state)
    _require(
        config.epochs >= trainer.epoch,
        f"--epochs {config.epochs} is less than the {trainer.epoch} epochs that the run in {str(run.path)!r} has "
        f"already.",
    )
    run.rewind(trainer.epoch, trainer.best_weights)
    return trainer


def save_summary(run: Run, trainer: Trainer) -> None:
    """Draw summary.png, if there is anything to draw."""
    records = run.records()
    if records:
        from lab.summary import draw  # brings in matplotlib, which would slow down every start

        run.write_summary(
            draw(records, f"{run.path.name}: {describe(trainer.sizes, trainer.config)}", trainer.stopped_early)
        )


def _sweep_command(texts: list[str], scheduler: str | None, given: dict[str, Any]) -> int:
    from lab import sweep

    out, resume, quiet, as_json = (given.pop(name) for name in ("out", "resume", "quiet", "json"))
    _require(not given.pop("tensorboard"), "--tensorboard is for a single run: leave it out of a sweep.")
    _require(not resume, "--resume is for a single run: the same --sweep with the same --out continues a sweep.")
    axes = _sweep_axes(texts)
    folder = new_run_path(f"sweep-{given.get('data', Config.data)}") if out is None else Path(out)
    members = sweep.plan(axes, given, folder)
    client = None if scheduler is None else sweep.connect(scheduler)
    again = f"Go on with the same --sweep and --out {shlex.quote(str(folder))}."
    sweep.make_folders(members)
    try:
        ready = sum(member.finished() for member in members)
        if not (quiet or as_json):
            finished = f", {ready} of them finished already" if ready else ""
            print(f"sweep: {len(members)} runs in {folder}{finished}", flush=True)
        with (
            _bar(sum(member.config.epochs for member in members), 0, "epoch", show=not (quiet or as_json)) as bar,
            sweep.cluster_workers(client) if client else sweep.local_workers(len(members) - ready) as workers,
        ):
            sweep.train_all(members, workers, on_progress=lambda epochs: bar.update(epochs - bar.n))
    except KeyboardInterrupt:
        with _ctrl_c_held_back(and_forget=True):
            begun = ""
            if client:
                sweep.stop(members)
                begun = " Those that the cluster has begun stop after their present epoch."
            done = sum(member.finished() for member in members)
            print(f"Stopped by Ctrl-C with {done} of {len(members)} runs finished.{begun} {again}", file=sys.stderr)
        return 130
    except BrokenExecutor:
        raise RunError(f"A worker process was killed, perhaps for want of memory. {again}") from None
    except (DataError, RunError) as error:
        raise RunError(f"{error} {again}") from None
    table = sweep.rows(members)
    lines = [json.dumps(row) for row in table] if as_json else sweep.as_text(table)
    print("\n".join(lines[:2] if quiet and not as_json else lines), flush=True)
    return 0


def _report_command(argv: Sequence[str]) -> int:
    parser = _Parser(
        prog="train.py report",
        description="Draw summary.png in each run, and compare the runs in one HTML file that needs no network.",
        allow_abbrev=False,
    )
    parser.add_argument("runs", metavar="RUN", nargs="+", help="the folder of a run, or of a sweep")
    parser.add_argument("--out", metavar="FILE", default="report.html", help="default: %(default)s")
    given = parser.parse_args(argv)
    from lab import report

    entries = report.read(dict.fromkeys(map(Path, given.runs)))
    page = report.report(entries)
    for entry in entries:
        entry.run.write_summary(entry.picture)
    write_atomic(Path(given.out), page.encode())
    print(f"report of {len(entries)} runs in {given.out}" if len(entries) > 1 else f"report in {given.out}", flush=True)
    return 0


def _sweep_axes(texts: Sequence[str]) -> dict[str, list[Any]]:
    """The values that --sweep names, read as the flag of that name reads them; the widths of `hidden` have dashes."""
    settings = {field.name for field in fields(Config)}
    axes: dict[str, list[Any]] = {}
    for text in texts:
        flag, equals, values = text.partition("=")
        name = flag.replace("-", "_")
        _require(bool(equals and values), f"--sweep {text} has no values: write for example lr=0.01,0.1.")
        close = difflib.get_close_matches(name, sorted(settings), n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(sorted(settings))}."
        _require(name in settings, f"--sweep cannot vary {flag!r}: {hint}")
        _require(name not in axes, f"--sweep names {flag} twice: put all its values behind one.")
        axes[name] = []
        for value in values.split(","):
            words = ["--hidden", *value.split("-")] if name == "hidden" else [f"--{name.replace('_', '-')}={value}"]
            parsed = getattr(_parser().parse_args(words), name)
            axes[name].append(tuple(parsed) if name == "hidden" else parsed)
    return axes


def _resume_command(run: Run) -> str:
    return f"python train.py --resume --out {shlex.quote(str(run.path))}"


@contextlib.contextmanager
def _ctrl_c_held_back(and_forget: bool = False) -> Iterator[None]:
    """While files are written, Ctrl-C waits; it takes effect at the end of the block, or not at all."""
    pressed = []
    previous = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pressed and not and_forget:
        raise KeyboardInterrupt


def _bar(total: int, initial: int, unit: str, show: bool) -> Any:
    from tqdm import tqdm

    return tqdm(
        total=total,
        initial=initial,
        unit=unit,
        leave=False,
        file=sys.stderr,
        disable=None if show else True,  # None: disabled unless stderr is a terminal
    )


def describe(sizes: Sequence[int], config: Config) -> str:
    """A network and its training in one line; sizes: all widths, from the inputs to the classes."""
    momentum = f", momentum {config.momentum:g}" if config.momentum else ""
    schedule = f" {config.schedule}" if config.schedule != "constant" else ""
    schedule += f" after {_epochs(config.warmup)} of warm-up" if config.warmup else ""
    return f"{_sizes(sizes)} {config.activation}, {config.optimizer}, lr {config.lr:g}{schedule}{momentum}"


def _introduction(trainer: Trainer, run: Run) -> list[str]:
    config = trainer.config
    resumed = f", continued after epoch {trainer.epoch}" if trainer.epoch else ""
    return [
        *trainer.dataset.notes,
        f"network: {describe(trainer.sizes, trainer.config)}, {config.init} init, batches of {config.batch_size}, "
        f"{trainer.weights().size:,} weights in float32, seed {config.seed}",
        f"run: {run.path}{resumed}",
    ]


def _line(record: Record, epochs: int) -> str:
    norms = " ".join(_rounded(norm, "{:.2g}") for norm in record["grad_norm"].values())
    return (
        f"epoch {record['epoch']:>{len(str(epochs))}}/{epochs}"
        f"  loss {_rounded(record['train_loss'], '{:.4f}')} train {_rounded(record['val_loss'], '{:.4f}')} val"
        f"  accuracy {record['train_accuracy']:.1%} train {record['val_accuracy']:.1%} val"
        f"  gap {100 * record['gap']:+.1f} points  gradients {norms}  {record['seconds']:.2f} s"
    )


def _epochs(number: int) -> str:
    return f"{number} epoch" if number == 1 else f"{number} epochs"


def _rounded(value: float | None, form: str) -> str:
    return "nan" if value is None else form.format(value)


def _conclusion(trainer: Trainer, run: Run) -> str:
    best = (
        f"best validation accuracy {trainer.best_accuracy:.2%} in epoch {trainer.best_epoch} of {trainer.epoch}; "
        f"run in {run.path}"
    )
    if trainer.stopped_early:
        return f"Stopped early, after {_epochs(trainer.config.patience)} without a better one; {best}"
    if not trainer.diverged:
        return best
    remedy = "a smaller --lr" if trainer.config.clip else "a smaller --lr, or --clip 1"
    return (
        f"The training diverged in epoch {trainer.epoch}: the loss is no longer a number. "
        f"Start again with {remedy} (--lr was {trainer.config.lr:g}). {best[0].upper()}{best[1:]}"
    )


if __name__ == "__main__":
    import train  # this module by its own name: what it hands to worker processes must be found there

    sys.exit(train.main())
