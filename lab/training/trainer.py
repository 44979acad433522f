"""A network in training: one batch is one `step()`, and an epoch ends with `finish_epoch()` and its record.

`train` yields these records; a page, the command line and the tests all consume it.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lab.ops import OPS, UNKNOWN
from lab.training.config import Config, describe, require, shown, sizes_text
from lab.training.datasets import Dataset, load
from lab.training.run_folder import Record, Run, RunError, State
from model import MLP, SGD, Adam, Tensor, clip_grad_norm, cross_entropy, no_grad

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
        require(
            weights <= MOST_WEIGHTS,
            f"--hidden {shown(config.hidden)} makes a network of {weights:,} weights, more than the {MOST_WEIGHTS:,} "
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
                f"{flat.size:,} weights do not fit the network {sizes_text(self.sizes)}, which has "
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
                    f"The checkpoint is of a network {sizes_text(sizes)}, but this one is {sizes_text(self.sizes)}: "
                    f"use the settings that it was trained with."
                )
            if state["data"] != self.dataset.fingerprint:
                raise RunError(
                    "The data are not those that the checkpoint was trained on: restore them, or start a new run."
                )
            self.set_weights(state["weights"])
            prefix = "optimizer."
            remembered = {name.removeprefix(prefix): a for name, a in state.items() if name.startswith(prefix)}
            try:
                self.optimizer.load_state(remembered)
            except ValueError as problem:
                raise RunError(f"The checkpoint lacks what the optimizer needs: start a new run. {problem}") from None
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
    """How many outputs lie where the activation is flat, for one that levels off at both ends; else 0."""
    slope = OPS.get(activation, UNKNOWN).saturates
    return 0 if slope is None else int(np.count_nonzero(slope(outputs) < SATURATED))


def trainer_of(run: Run, config: Config) -> Trainer:
    """A trainer that stands where the checkpoint of the run does. Raises DataError, ConfigError, RunError."""
    trainer = Trainer(config)
    state = run.checkpoint()
    if state is not None:
        trainer.load_state(state)
    require(
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
        from lab.training.summary import draw

        run.write_summary(
            draw(records, f"{run.path.name}: {describe(trainer.sizes, trainer.config)}", trainer.stopped_early)
        )
