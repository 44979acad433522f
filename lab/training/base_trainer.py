"""What a trainer needs around its loop: records of epochs, the best weights, early stopping, a state to resume from.

train.py has the loop, measure.py measures, and run_folder.py writes the state into checkpoint.npz.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Sequence
from typing import Self, TypeVar

import numpy as np

from lab.training.config import Config, as_typed, require, sizes_text
from lab.training.data_card import baseline
from lab.training.datasets import Dataset
from lab.training.features import FeatureMLP
from lab.training.measure import (
    GRADIENT_EDGES,
    EpochStats,
    counts,
    evaluate,
    finite,
    gradient,
    gradient_norm,
    histogram,
    histogram_edges,
)
from lab.training.records import Origin, Record
from lab.training.run_folder import RunError, RunFolder, State
from model import Tensor, cross_entropy, mse_loss
from nn import MLP, SGD, Adam

T = TypeVar("T")

MAX_WEIGHTS = 100_000_000  # of a network: with the optimizer's state about 2 GB
INIT, _SHUFFLE = 1, 2  # with the seed, these make independent streams of random numbers
_TRAIN_AGAIN = "move the folder of the run away, and train it again."
_PROGRESS = ("epoch", "batch", "diverged", "best_epoch", "best_accuracy", "best_loss")  # attributes saved in a state


class BaseTrainer:
    """A run between two batches. `Trainer` in train.py adds what a run consists of, and the loop.

    It can be saved with `state()` and restored with `load_state()`, and training continues with bit-for-bit the same
    numbers. No random state has to be saved: the order of the samples in an epoch depends only on the seed and the
    number of the epoch.
    """

    config: Config
    dataset: Dataset
    sizes: tuple[int, ...]
    model: MLP
    optimizer: SGD | Adam
    network: type[MLP] = MLP  # a subclass may train another class

    def begin(self) -> None:
        """Begin at epoch 0, and measure the untrained network."""
        self.layer_names = self.config.layer_names
        self.histogram_edges = self._per_layer(histogram_edges(layer.weight.numpy()) for layer in self.model.layers)
        self.epoch = 0  # number of finished epochs
        self.batch = 0  # number of finished batches of the current epoch
        self.diverged = False
        self.best_epoch = 0
        self.best_accuracy = 0.0
        self.best_loss = math.inf
        self.best_weights = self.weights()
        self._begin_epoch()
        untrained = self.measure()
        self.origin = self._origin(untrained)
        self.start: Record = {**untrained, "origin": self.origin}

    def new_network(self, init: str, rng: np.random.Generator | None = None) -> MLP:
        """Make a network of the run's architecture with newly initialised weights."""
        return new_network(self.config, self.sizes, init, rng, self.network)

    @property
    def done(self) -> bool:
        return self.epoch >= self.config.epochs or self.stopped_early or (self.diverged and self.batch == 0)

    @property
    def stopped_early(self) -> bool:
        """True if the patience ran out before the last epoch."""
        patience = self.config.patience
        lost = patience is not None and self.epoch - self.best_epoch >= patience
        return lost and self.epoch < self.config.epochs and not self.diverged

    def reconfigure(self, config: Config) -> None:
        """Continue with a configuration that differs only in future changes of settings."""
        self.config = config
        if self.batch == 0:
            self._begin_epoch()

    def _apply_changes(self) -> None:
        """Apply the settings in force in the present epoch."""
        self.config_now = self.config.at(self.epoch)
        self.steps_per_epoch = self.steps_in(self.epoch)
        self.optimizer.weight_decay = self.config_now.weight_decay
        if isinstance(self.optimizer, SGD):
            self.optimizer.momentum = self.config_now.momentum

    def steps_in(self, epoch: int) -> int:
        """Return the number of batches in the epoch that follows this many epochs."""
        return -(-len(self.dataset.train_x) // self.config.at(epoch).batch_size)  # rounded up

    def _begin_epoch(self) -> None:
        self._apply_changes()
        self.batch = 0
        self._order = self._shuffled()
        self.stats = EpochStats(len(self.model.layers))

    def _shuffled(self) -> np.ndarray:
        rng = np.random.default_rng([self.config.seed, _SHUFFLE, self.epoch])
        return rng.permutation(len(self.dataset.train_x))

    def rows(self, batch: int) -> np.ndarray:
        """Return the row numbers of the training samples in this batch of the epoch, from 0: integers (n,)."""
        size = self.config_now.batch_size
        return self._order[batch * size : (batch + 1) * size]

    def gradients(self, model: MLP) -> list[np.ndarray]:
        """Compute the gradient of each layer's weights in another network of these sizes, for the next batch."""
        rows = self.rows(self.batch)
        model.zero_grad()
        with np.errstate(all="ignore"):
            loss = self.data_loss(model(self.dataset.train_x[rows]), self.dataset.train_y[rows])
            self.with_l1_penalty(loss, model).backward()
        return [gradient(layer.weight) for layer in model.layers]

    def data_loss(self, outputs: Tensor, targets: np.ndarray) -> Tensor:
        """Compute the cross-entropy of outputs (n, outputs) and labels (n,); in a regression the mean squared error."""
        return cross_entropy(outputs, targets) if self.dataset.classes else mse_loss(outputs, targets[:, np.newaxis])

    def with_l1_penalty(self, loss: Tensor, model: MLP) -> Tensor:
        """Add l1 times the sum of the absolute weights to a loss. The gradient of |w| is its sign, 0 at a w of 0."""
        l1 = self.config_now.l1
        for layer in model.layers if l1 else ():
            loss = loss + l1 * layer.weight.abs().sum()
        return loss

    def note_gradients(self) -> None:
        """Add the gradients of a batch to the epoch's statistics. Call it before they are clipped."""
        layers, stats = self.model.layers, self.stats
        stats.grad_norm_sums += [gradient_norm(layer) for layer in layers]
        if self.batch == self.steps_per_epoch:
            stats.gradient_counts[:] = [counts(gradient(layer.weight), GRADIENT_EDGES) for layer in layers]
            self._before_step = [layer.weight.numpy() for layer in layers]

    def note_update(self) -> None:
        """After the last step of an epoch, note how far it has moved the weights of each layer."""
        if self.batch == self.steps_per_epoch:
            moved = zip(self.model.layers, self._before_step, strict=True)
            norm = np.linalg.norm
            self.stats.update_ratios[:] = [norm(layer.weight.numpy() - old) / norm(old) for layer, old in moved]

    def finish_epoch(self) -> Record:
        """Measure the network and return the record of the epoch that ends here."""
        started, stats = time.perf_counter(), self.stats
        self.epoch += 1
        measured = self.measure()
        val_accuracy, val_loss = measured["val_accuracy"], measured["val_loss"]
        if val_loss is None:
            val_loss = math.inf
        accuracy = val_accuracy or 0.0  # in a regression the loss decides
        best = self.best_epoch == 0 or (accuracy, -val_loss) > (self.best_accuracy, -self.best_loss)
        if best:
            self.best_epoch, self.best_accuracy, self.best_loss = self.epoch, accuracy, val_loss
            self.best_weights = self.weights()
        record: Record = {
            **measured,
            "grad_norm": self._per_layer(finite(total / self.batch) for total in stats.grad_norm_sums),
            "gradient_histogram": self._per_layer(histogram(row, GRADIENT_EDGES) for row in stats.gradient_counts),
            "update_ratio": self._per_layer(finite(ratio) for ratio in stats.update_ratios),
            "lr": self.optimizer.lr,
            "clipped": float(stats.clipped / self.batch),
            "best": best,
            "since_best": self.epoch - self.best_epoch,
            "diverged": self.diverged,
            "seconds": float(stats.seconds) + time.perf_counter() - started,
            "changed": {name: value for after, name, value in self.config.changes if after == self.epoch - 1},
            "origin": self.origin,
        }
        self._begin_epoch()
        return record

    def measure(self) -> Record:
        """Measure the network as it is now (see `Measured`), without changing it; possible before the first batch."""
        data, edges = self.dataset, self.histogram_edges.values()
        train_loss, train_accuracy, dead, saturated = evaluate(self.model, self.data_loss, data.train_x, data.train_y)
        val_loss, val_accuracy, _, _ = evaluate(self.model, self.data_loss, data.val_x, data.val_y)
        weights = [layer.weight.numpy() for layer in self.model.layers]
        return {
            "epoch": self.epoch,
            "train_loss": finite(train_loss),
            "val_loss": finite(val_loss),
            "train_accuracy": train_accuracy if data.classes else None,
            "val_accuracy": val_accuracy if data.classes else None,
            "gap": train_accuracy - val_accuracy if data.classes else None,
            "dead_units": self._per_layer(dead),
            "saturated": self._per_layer(saturated),
            "weight_histogram": self._per_layer(
                histogram(counts(one, its), its) for one, its in zip(weights, edges, strict=True)
            ),
        }

    def _origin(self, untrained: Record) -> Origin:
        return {
            "train_loss": untrained["train_loss"],
            "val_loss": untrained["val_loss"],
            "train_accuracy": untrained["train_accuracy"],
            "val_accuracy": untrained["val_accuracy"],
            **baseline(self.dataset),
            "train_samples": len(self.dataset.train_x),
            "val_samples": len(self.dataset.val_x) if self.dataset.held_out else 0,
            "classes": len(self.dataset.classes),
        }

    def _per_layer(self, values: Iterable[T]) -> dict[str, T]:
        return dict(zip(self.layer_names, values, strict=False))  # not strict: some values are of hidden layers only

    # ---------------------------------------------------------------- saved and restored

    def weights(self) -> np.ndarray:
        """Return all parameters as one flat float32 array, layer by layer: weights row by row, then biases."""
        return np.concatenate([p.numpy().ravel() for p in self.model.parameters()])

    def state(self) -> State:
        """Return all that changes in training as arrays, at any moment, also in the middle of an epoch."""
        return {
            "sizes": np.array(self.sizes),
            "data": np.array(self.dataset.fingerprint),
            "weights": self.weights(),
            "best_weights": self.best_weights,
            **{name: np.array(getattr(self, name)) for name in _PROGRESS},
            **{name: array.copy() for name, array in vars(self.stats).items()},
            # Without copies: a step replaces these arrays and writes to none of them.
            **{f"optimizer.{name}": array for name, array in self.optimizer.memory.items()},
        }

    def load_state(self, state: State) -> None:
        """Restore a state. Raises RunError, and changes nothing, for one that this trainer cannot have had."""
        self._check(state)
        put_weights(self.model, state["weights"])
        self.best_weights = state["best_weights"]
        for name in self.optimizer.memory:
            self.optimizer.memory[name] = state[f"optimizer.{name}"].copy()
        for name in _PROGRESS:
            setattr(self, name, state[name].item())
        self._apply_changes()
        self._order = self._shuffled()
        for name in vars(self.stats):
            setattr(self.stats, name, state[name].copy())

    def _check(self, state: State) -> None:
        """Raise RunError if a state is of another network or other data, or lacks or garbles an array."""
        own = self.state()
        sizes, data = (state.get(name, own[name]) for name in ("sizes", "data"))
        if not np.array_equal(sizes, own["sizes"]):
            raise RunError(
                f"The checkpoint is of a network {sizes_text(sizes.ravel().tolist())}, but this one is "
                f"{sizes_text(self.sizes)}: use the settings that it was trained with."
            )
        if not np.array_equal(data, own["data"]):
            raise RunError(f"The data differ from the checkpoint's: restore the old data, or {_TRAIN_AGAIN}")
        for name, array in own.items():
            if name not in state or (state[name].shape, state[name].dtype) != (array.shape, array.dtype):
                raise RunError(f"The checkpoint is damaged or of other settings, see its {name!r}: {_TRAIN_AGAIN}")

    @classmethod
    def resume(cls, run: RunFolder, config: Config) -> Self:
        """Return the run in a folder, as its checkpoint has it. Raises DataError, ConfigError, RunError."""
        resumed = cls(config)  # type: ignore[call-arg]  # as Trainer is made
        state, epochs = run.checkpoint(), len(run.records())
        if state is not None:
            resumed.load_state(state)
        elif epochs > 1:  # a run killed while it wrote its first checkpoint has one epoch
            raise RunError(
                f"checkpoint.npz in {str(run.path)!r} is missing, though {epochs} epochs were trained: put it back, or "
                f"{_TRAIN_AGAIN}"
            )
        require(
            config.epochs >= resumed.epoch,
            f"{config.epochs} is less than the {resumed.epoch} epochs that the run in {str(run.path)!r} has already.",
            "epochs",
        )
        run.rewind(resumed.epoch, resumed.best_weights)
        return resumed


def layer_sizes(config: Config, dataset: Dataset) -> tuple[int, ...]:
    """Return all widths of a run's network, from the inputs to the outputs.

    Raises ConfigError for too many weights or for features that do not fit the data.
    """
    inputs = dataset.train_x.shape[1]
    require(
        inputs == 2 or not config.features,
        f"need data with two inputs, and {config.data!r} has {inputs}: leave them out.",
        "features",
    )
    sizes = (len(config.features) or inputs, *config.hidden, dataset.outputs)
    weights = sum((n_in + 1) * n_out for n_in, n_out in itertools.pairwise(sizes))
    require(
        weights <= MAX_WEIGHTS,
        f"{as_typed(config.hidden)} makes a network of {weights:,} weights, more than the {MAX_WEIGHTS:,} that "
        f"are trained here: use narrower layers.",
        "hidden",
    )
    return sizes


def new_network(
    config: Config, sizes: Sequence[int], init: str, rng: np.random.Generator | None = None, kind: type[MLP] = MLP
) -> MLP:
    """Make the float32 network of a run; sizes: all widths, from the inputs or features to the outputs."""
    made = (FeatureMLP if config.features else kind)(sizes, config.activation, init, rng, np.float32, config.skip)
    if isinstance(made, FeatureMLP):
        made.features = config.features
    return made


def put_weights(model: MLP, flat: np.ndarray) -> None:
    """Set a network's parameters from one flat array (see `Trainer.weights`). Raises RunError for another size."""
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
