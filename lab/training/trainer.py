"""A network in training: one batch is one `step()`, and an epoch ends with `finish_epoch()` and its record.

`train` yields these records; a page, the command line and the tests all consume it.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from lab.ops import OPS, UNKNOWN
from lab.training import features
from lab.training.config import Config, describe, require, sizes_text, typed
from lab.training.data_card import baseline
from lab.training.datasets import Dataset, load_dataset
from lab.training.records import Histogram, Measure, Origin, Record
from lab.training.run_folder import RunError, RunFolder, State
from model import MLP, SGD, Adam, Tensor, clip_grad_norm, cross_entropy, mse_loss, no_grad

T = TypeVar("T")


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
LARGEST_NETWORK = 100_000_000  # weights: with the optimizer's memory of them about 2 GB
_INIT, _SHUFFLE = 1, 2  # with the seed, these make independent streams of random numbers
_TRAIN_ANEW = "move the folder of the run away, and train it anew."
_PROGRESS = ("epoch", "batch", "diverged", "best_epoch", "best_accuracy", "best_loss")  # of a Trainer, in its state


class Tally:
    """What is gathered over the batches of an epoch: an array for each quantity. All of them are part of a state."""

    def __init__(self, layers: int) -> None:
        self.grad_norm_sums = np.zeros(layers)
        self.clipped = np.zeros((), int)  # steps
        self.update_ratios = np.full(layers, np.nan)  # of the last step
        self.gradient_counts = np.zeros((layers, len(GRADIENT_EDGES) + 1), int)  # of the last batch
        self.seconds = np.zeros(())


class Trainer:
    """A network in training. `step()` trains on one batch; after `steps_per_epoch` of them, `finish_epoch()` measures.

    Between any two calls it can be paused, or saved with `state()` and brought back with `load_state()`, and it goes
    on bit for bit as if nothing had happened. Nothing random is left to save: the order of the samples in an epoch
    depends on the seed and the number of the epoch alone.
    """

    network: type[MLP] = MLP  # a subclass may have one of its own

    def __init__(self, config: Config, dataset: Dataset | None = None) -> None:
        """Without a dataset, load the one that the config names. Raises DataError, ConfigError (too many weights)."""
        require(
            isinstance(config, Config),
            f"The settings must be a Config, not a {type(config).__name__}: write Config(lr=0.01, epochs=10), or "
            f"Config(**settings) for a dict.",
        )
        self.config = config
        self.dataset = dataset or load_dataset(config)
        inputs = self.dataset.train_x.shape[1]
        require(
            inputs == 2 or not config.features,
            f"belong to data with two inputs, and {config.data!r} has {inputs}: leave them out.",
            "features",
        )
        self._noisy = {config.noise: self.dataset}
        self.sizes = (len(config.features) or inputs, *config.hidden, self.dataset.outputs)
        weights = sum((n_in + 1) * n_out for n_in, n_out in itertools.pairwise(self.sizes))
        require(
            weights <= LARGEST_NETWORK,
            f"{typed(config.hidden)} makes a network of {weights:,} weights, more than the {LARGEST_NETWORK:,} that "
            f"are trained here: use narrower layers.",
            "hidden",
        )
        rng = np.random.default_rng([config.seed, _INIT])
        self.model = self.new_network(config.init, rng)
        parameters = self.model.parameters()
        self.optimizer: SGD | Adam = (
            SGD(parameters, config.lr, config.momentum, config.weight_decay)
            if config.optimizer == "sgd"
            else Adam(parameters, config.lr, weight_decay=config.weight_decay)
        )
        self.layer_names = config.layer_names
        self.histogram_edges = self._per_layer(_histogram_edges(layer.weight.numpy()) for layer in self.model.layers)

        for after, *_ in config.changes:
            self._adopt(after)  # data that cannot be had are said at once
        self.epoch = 0  # how many are finished
        self.batch = 0  # how many of the current epoch are done
        self.diverged = False
        self.best_epoch = 0
        self.best_accuracy = 0.0
        self.best_loss = math.inf
        self.best_weights = self.weights()
        self._begin_epoch()
        self.start = self.measure()  # the untrained network
        self.origin = self._origin()

    def new_network(self, init: str, rng: np.random.Generator | None = None) -> MLP:
        """A network as that of the run, with other weights."""
        config, skip = self.config, self.config.skip == "yes"
        if config.features:
            return features.network(config.features, self.sizes, config.activation, init, rng, skip)
        return self.network(self.sizes, config.activation, init, rng, np.float32, skip)

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

    @property
    def first_dataset(self) -> Dataset:
        """The samples that the run began with: other noise makes others."""
        return self._noisy[self.config.noise]

    def reconfigure(self, config: Config) -> None:
        """Go on with a configuration that differs only in changes that are still to come."""
        self.config = config
        if self.batch == 0:
            self._begin_epoch()

    def _adopt(self, epoch: int) -> None:
        """Take the settings that are in force after so many epochs."""
        self.settings = settings = self.config.at(epoch)
        if settings.noise not in self._noisy:
            self._noisy[settings.noise] = load_dataset(settings)
        self.dataset = self._noisy[settings.noise]
        self.steps_per_epoch = self.steps_in(epoch)
        self.optimizer.weight_decay = settings.weight_decay
        if isinstance(self.optimizer, SGD):
            self.optimizer.momentum = settings.momentum

    def steps_in(self, epoch: int) -> int:
        """How many batches the epoch has that follows so many."""
        return -(-len(self.dataset.train_x) // self.config.at(epoch).batch_size)  # rounded up

    def _begin_epoch(self) -> None:
        self._adopt(self.epoch)
        self.batch = 0
        self._order = self._shuffled()
        self._tally = Tally(len(self.model.layers))

    def _shuffled(self) -> np.ndarray:
        rng = np.random.default_rng([self.config.seed, _SHUFFLE, self.epoch])
        return rng.permutation(len(self.dataset.train_x))

    @property
    def next_rows(self) -> np.ndarray:
        """The training samples of the next batch, integers (n,)."""
        size = self.settings.batch_size
        return self._order[self.batch * size : (self.batch + 1) * size]

    def step(self) -> float:
        """Train on the next batch and return its loss, as it was before the step.

        A loss that is inf or nan ends the training: the weights stay as they are, the epoch is complete.
        """
        started = time.perf_counter()
        rows = self.next_rows
        self.batch += 1
        with np.errstate(all="ignore"):  # a loss that overflows is told in one sentence, not in NumPy's warnings
            self.optimizer.zero_grad()
            loss = self.loss(rows)
            value = loss.item()
            if math.isfinite(value):
                self._penalised(loss, self.model).backward()
                self._update()
            else:
                self.diverged = True
        self._tally.seconds += time.perf_counter() - started
        return value

    def loss(self, rows: np.ndarray) -> Tensor:
        """The loss of the training samples in these rows, integers (n,), with its graph: what a step lowers."""
        inputs = object.__new__(Tensor)  # a constant of rows that nobody else has: the engine need not copy them again
        inputs._make_leaf(np.take(self.dataset.train_x, rows, axis=0).astype(np.float32, copy=False), False, "")
        return self._compared(self.model(inputs), self.dataset.train_y[rows])

    def gradients(self, model: MLP) -> list[np.ndarray]:
        """Of the weights of each layer, for the batch that comes next and another network of these sizes."""
        rows = self.next_rows if len(self.next_rows) else self._order[: self.settings.batch_size]
        model.zero_grad()
        with np.errstate(all="ignore"):
            loss = self._compared(model(self.dataset.train_x[rows]), self.dataset.train_y[rows])
            self._penalised(loss, model).backward()
        return [_gradient(layer.weight) for layer in model.layers]

    def _compared(self, outputs: Tensor, wanted: np.ndarray) -> Tensor:
        """How far outputs (n, outputs) are from labels or, in a regression, from numbers (n,)."""
        return cross_entropy(outputs, wanted) if self.dataset.classes else mse_loss(outputs, wanted[:, np.newaxis])

    def _penalised(self, loss: Tensor, model: MLP) -> Tensor:
        """The loss with the L1 penalty, whose gradient is l1 times the sign of each weight, and 0 at a weight of 0."""
        for layer in model.layers if self.settings.l1 else ():
            loss = loss + self.settings.l1 * layer.weight.abs().sum()
        return loss

    def _update(self) -> None:
        """One step of the optimizer, with the measurements that need the gradients."""
        layers, tally = self.model.layers, self._tally
        tally.grad_norm_sums += [math.sqrt(sum(map(_square, layer.parameters()))) for layer in layers]
        if self.batch == self.steps_per_epoch:
            tally.gradient_counts[:] = [_counts(_gradient(layer.weight), GRADIENT_EDGES) for layer in layers]
        clip = self.settings.clip
        if clip is not None:
            tally.clipped += clip_grad_norm(self.model.parameters(), clip) > clip
        steps_before = self.epoch * self.steps_per_epoch + self.batch - 1
        self.optimizer.lr = learning_rate(self.settings, steps_before, self.steps_per_epoch)
        if self.batch < self.steps_per_epoch:
            self.optimizer.step()
            return
        before = [layer.weight.numpy() for layer in layers]
        self.optimizer.step()
        for index, layer in enumerate(layers):
            change = np.linalg.norm(layer.weight.numpy() - before[index])
            tally.update_ratios[index] = change / np.linalg.norm(before[index])

    def finish_epoch(self) -> Record:
        """Measure the network and return the record of the epoch. Raises RuntimeError while it has batches to go."""
        if not self.epoch_complete:
            raise RuntimeError(
                f"Epoch {self.epoch + 1} has {self.steps_per_epoch - self.batch} batches to go: call step()."
            )
        started, tally = time.perf_counter(), self._tally
        self.epoch += 1
        measured = self.measure()
        val_accuracy, val_loss = measured["val_accuracy"], measured["val_loss"]
        if val_loss is None:
            val_loss = math.inf
        accuracy = val_accuracy or 0.0  # of a regression, the loss decides
        best = self.best_epoch == 0 or (accuracy, -val_loss) > (self.best_accuracy, -self.best_loss)
        if best:
            self.best_epoch, self.best_accuracy, self.best_loss = self.epoch, accuracy, val_loss
            self.best_weights = self.weights()
        record: Record = {
            **measured,
            "grad_norm": self._per_layer(_number(total / self.batch) for total in tally.grad_norm_sums),
            "gradient_histogram": self._per_layer(_histogram(row, GRADIENT_EDGES) for row in tally.gradient_counts),
            "update_ratio": self._per_layer(_number(ratio) for ratio in tally.update_ratios),
            "lr": self.optimizer.lr,
            "clipped": float(tally.clipped / self.batch),
            "best": best,
            "since_best": self.epoch - self.best_epoch,
            "diverged": self.diverged,
            "seconds": float(tally.seconds) + time.perf_counter() - started,
            "changed": {name: value for after, name, value in self.config.changes if after == self.epoch - 1},
            "origin": self.origin,
        }
        self._begin_epoch()
        return record

    def _origin(self) -> Origin:
        plain = baseline(self.dataset)
        return {
            "train_loss": self.start["train_loss"],
            "val_loss": self.start["val_loss"],
            "train_accuracy": self.start["train_accuracy"],
            "val_accuracy": self.start["val_accuracy"],
            "baseline_train_loss": plain.train_loss,
            "baseline_val_loss": plain.val_loss,
            "baseline_train_accuracy": plain.train_accuracy,
            "baseline_val_accuracy": plain.val_accuracy,
            "train_samples": len(self.dataset.train_x),
            "val_samples": len(self.dataset.val_x) if self.dataset.held_out else 0,
            "classes": len(self.dataset.classes),
        }

    def measure(self) -> Record:
        """What is known of the network as it is now (see `Measured`); before the first batch, too. Nothing changes."""
        train_loss, train_accuracy, dead, saturated = self._evaluate(self.dataset.train_x, self.dataset.train_y)
        val_loss, val_accuracy, _, _ = self._evaluate(self.dataset.val_x, self.dataset.val_y)
        histograms = (
            _histogram(_counts(layer.weight.numpy(), edges), edges)
            for layer, edges in zip(self.model.layers, self.histogram_edges.values(), strict=True)
        )
        return {
            "epoch": self.epoch,
            "train_loss": _number(train_loss),
            "val_loss": _number(val_loss),
            "train_accuracy": train_accuracy,
            "val_accuracy": val_accuracy,
            "gap": None if train_accuracy is None or val_accuracy is None else train_accuracy - val_accuracy,
            "dead_units": self._per_layer(dead),
            "saturated": self._per_layer(saturated),
            "weight_histogram": self._per_layer(histograms),
        }

    def _evaluate(self, inputs: np.ndarray, labels: np.ndarray) -> tuple[float, float | None, list[float], list[float]]:
        """Mean loss, accuracy (None in a regression), and for each hidden layer the share of dead units and of
        saturated outputs."""
        loss_sum, correct = 0.0, 0
        saturated = [0] * len(self.config.hidden)
        lows = [np.full(width, np.inf) for width in self.config.hidden]
        highs = [np.full(width, -np.inf) for width in self.config.hidden]
        with no_grad(), np.errstate(all="ignore"):
            for start in range(0, len(inputs), EVALUATION_BATCH):
                batch = slice(start, start + EVALUATION_BATCH)
                *hidden, logits = self.model.outputs(inputs[batch])
                loss_sum += self._compared(logits, labels[batch]).item() * len(labels[batch])
                correct += int(np.count_nonzero(logits.numpy().argmax(axis=1) == labels[batch]))
                for index, outputs in enumerate(output.numpy() for output in hidden):
                    np.minimum(lows[index], outputs.min(axis=0), out=lows[index])
                    np.maximum(highs[index], outputs.max(axis=0), out=highs[index])
                    saturated[index] += _saturated(self.config.activation, outputs)
        dead = [float(np.mean(low == high)) for low, high in zip(lows, highs, strict=True)]
        shares = [n / (len(labels) * width) for n, width in zip(saturated, self.config.hidden, strict=True)]
        return loss_sum / len(labels), correct / len(labels) if self.dataset.classes else None, dead, shares

    def _per_layer(self, values: Iterable[T]) -> dict[str, T]:
        return dict(zip(self.layer_names, values, strict=False))  # hidden layers come first, so fewer values fit

    def weights(self) -> np.ndarray:
        """All parameters as one flat float32 array, layer by layer: weights row by row, then biases."""
        return np.concatenate([p.numpy().ravel() for p in self.model.parameters()])

    def set_weights(self, flat: np.ndarray) -> None:
        """The inverse of `weights`, for example with `np.load("best_weights.npy")`. Raises RunError: another size."""
        put_weights(self.model, flat)

    def state(self) -> State:
        """Everything that changes in training, as arrays. Any moment will do, also in the middle of an epoch."""
        return {
            "sizes": np.array(self.sizes),
            "data": np.array(self.dataset.fingerprint),
            "weights": self.weights(),
            "best_weights": self.best_weights,
            **{name: np.array(getattr(self, name)) for name in _PROGRESS},
            **{name: array.copy() for name, array in vars(self._tally).items()},
            **{f"optimizer.{name}": array.copy() for name, array in self.optimizer.memory.items()},
        }

    def load_state(self, state: State) -> None:
        """Go back, or ahead, to a state. Raises RunError, and changes nothing, when this trainer cannot have had it."""
        epoch = state.get("epoch", np.array(-1))
        if epoch.shape == () and epoch.dtype.kind == "i" and epoch >= 0:
            self._adopt(int(epoch))
        try:
            self._check(state)
        except RunError:
            self._adopt(self.epoch)
            raise
        self.set_weights(state["weights"])
        self.best_weights = state["best_weights"]
        for name in self.optimizer.memory:
            self.optimizer.memory[name] = state[f"optimizer.{name}"].copy()
        for name in _PROGRESS:
            setattr(self, name, state[name].item())
        self._order = self._shuffled()
        for name in vars(self._tally):
            setattr(self._tally, name, state[name].copy())

    def _check(self, state: State) -> None:
        """Raises RunError for a state of another network, of other data, or that somebody has changed."""
        own = self.state()
        sizes, data = (state.get(name, own[name]) for name in ("sizes", "data"))
        if not np.array_equal(sizes, own["sizes"]):
            raise RunError(
                f"The checkpoint is of a network {sizes_text(sizes.ravel().tolist())}, but this one is "
                f"{sizes_text(self.sizes)}: use the settings that it was trained with."
            )
        if not np.array_equal(data, own["data"]):
            raise RunError(f"The data are not those that the checkpoint was trained on: restore them, or {_TRAIN_ANEW}")
        if missing := sorted(own.keys() - state.keys()):
            raise RunError(f"The checkpoint lacks {missing[0]!r}, as if made with other settings: {_TRAIN_ANEW}")
        bounds = {
            "batch": (0, self.steps_per_epoch),
            "clipped": (0, state["batch"]),
            "best_epoch": (0, state["epoch"]),
            "best_accuracy": (0, 1),
            "best_loss": (0, math.inf),
            "seconds": (0, sys.float_info.max),
        }
        for name, array in own.items():
            given = state[name]
            possible = given.shape == array.shape and given.dtype == array.dtype
            if possible and array.dtype.kind == "i":
                possible = not np.any(given < 0)
            if possible and name in bounds:
                low, high = bounds[name]
                possible = bool(low <= given <= high)  # false for nan
            if not possible:
                raise RunError(f"The checkpoint is damaged, its {name!r} cannot be right: {_TRAIN_ANEW}")


def train(
    config: Config, trainer: Trainer | None = None, on_batch: Callable[[], Any] | None = None
) -> Iterator[Record]:
    """Train and yield the record of each epoch, until `trainer.done`.

    Give a `trainer` to go on with one, or to look into it meanwhile; `on_batch` is called after every batch. Raises
    ConfigError for settings that are no Config, DataError.

    The keys of a record, which is JSON as it stands (None for inf and nan; see `Record` in records.py):
    epoch, train_loss, val_loss, train_accuracy, val_accuracy, gap    after it; accuracies are None in regressions
    dead_units, saturated, weight_histogram    per layer, after the epoch
    grad_norm, gradient_histogram, update_ratio    per layer, from the batches of the epoch
    lr, clipped, best, since_best, diverged, seconds    of the epoch
    origin    what the run is judged against: the untrained network, and the commonest class or the mean

    The command line also writes a run folder: config.json (the settings), metrics.jsonl (a record per line),
    best_weights.npy (for `Trainer.set_weights`), checkpoint.npz (the state to resume from) and summary.png.
    """
    trainer = trainer or Trainer(config)
    while not trainer.done:
        if not trainer.epoch_complete:
            trainer.step()
            if on_batch is not None:
                on_batch()
        if trainer.epoch_complete:
            yield trainer.finish_epoch()


def put_weights(model: MLP, flat: np.ndarray) -> None:
    """Give a network its weights and biases from one flat array (see `Trainer.weights`). Raises RunError: another
    size."""
    sizes = [parameter.size for parameter in model.parameters()]
    if flat.shape != (sum(sizes),):
        layers = [len(model.layers[0].weight), *(layer.bias.size for layer in model.layers)]
        raise RunError(
            f"{flat.size:,} weights do not fit the network {sizes_text(layers)}, which has {sum(sizes):,}: use the "
            f"settings that they were trained with."
        )
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    for parameter, values in zip(model.parameters(), parts, strict=True):
        parameter.data = values.reshape(parameter.shape)


def _gradient(parameter: Tensor) -> np.ndarray:
    assert parameter.grad is not None, f"no gradient has reached {parameter.label}"
    return parameter.grad


def _square(parameter: Tensor) -> float:
    """The squared norm of the parameter's gradient."""
    gradient = _gradient(parameter)
    return float(np.vdot(gradient, gradient))


def _number(value: float) -> Measure:
    return float(value) if math.isfinite(value) else None


def _histogram_edges(weights: np.ndarray) -> np.ndarray:
    """Bins for all epochs of a run: twice as wide as the initial weights, or as Xavier's where these are smaller."""
    reach = 2 * max(float(np.abs(weights).max()), 3 * math.sqrt(2 / sum(weights.shape)))
    return np.linspace(-reach, reach, HISTOGRAM_BINS + 1).round(6)


def _counts(values: np.ndarray, edges: Sequence[float] | np.ndarray) -> np.ndarray:
    """How many values lie below the first edge, in each bin, and above the last edge."""
    counts, _ = np.histogram(values, edges)
    return np.array([np.count_nonzero(values < edges[0]), *counts, np.count_nonzero(values > edges[-1])])


def _histogram(counts: np.ndarray, edges: Sequence[float] | np.ndarray) -> Histogram:
    below, *inside, above = counts.tolist()
    return {"edges": np.asarray(edges).tolist(), "counts": inside, "below": below, "above": above}


def _saturated(activation: str, outputs: np.ndarray) -> int:
    """How many outputs lie where the activation is flat, for one that levels off at both ends; else 0."""
    slope = OPS.get(activation, UNKNOWN).saturates
    return 0 if slope is None else int(np.count_nonzero(slope(outputs) < SATURATED))


def resumed(run: RunFolder, config: Config) -> Trainer:
    """A trainer that stands where the checkpoint of the run does. Raises DataError, ConfigError, RunError."""
    trainer = Trainer(config)
    state, epochs = run.checkpoint(), len(run.records(histograms=0))
    if state is not None:
        trainer.load_state(state)
    elif epochs > 1:  # a run that is killed as it writes its first checkpoint has one
        raise RunError(
            f"checkpoint.npz in {str(run.path)!r} is missing, though {epochs} epochs were trained: put it back, or "
            f"{_TRAIN_ANEW}"
        )
    require(
        config.epochs >= trainer.epoch,
        f"{config.epochs} is less than the {trainer.epoch} epochs that the run in {str(run.path)!r} has already.",
        "epochs",
    )
    run.rewind(trainer.epoch, trainer.best_weights)
    return trainer


def save_summary(run: RunFolder, trainer: Trainer) -> None:
    """Draw summary.png, if there is anything to draw."""
    records = run.records()
    if records:
        from lab.training.summary import run_picture

        title = f"{run.path.name}: {describe(trainer.sizes, trainer.config)}"
        run.write_summary(run_picture(records, title, trainer.stopped_early, trainer.config.val_fraction > 0))
