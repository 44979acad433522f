"""Train a network with the engine of model.py: this file is the whole loop, from the settings to the saved weights.

    python train.py                                       the digits, with the usual settings
    python train.py --data moons --lr 0.01 --out runs/a   ... or your own; --help lists them

In Python, `for record in train(Config(data="moons")): ...` does the same without files. The command line, the page and
sweeps all run the one loop in `Trainer.steps`. Where to look next: lab/training/config.py declares the settings,
datasets.py loads the samples, preprocessing.py splits, fills and standardises them, measure.py measures,
base_trainer.py and run_folder.py save, terminal.py prints, and doctor.py says what is wrong with a run.
"""

from __future__ import annotations

import io
import math
import sys
import time
from collections.abc import Iterator

import numpy as np

from lab.training.base_trainer import INIT, BaseTrainer, layer_sizes
from lab.training.config import Config, require
from lab.training.datasets import Dataset, load_dataset
from lab.training.records import Record
from lab.training.run_folder import RunFolder, histogram_command, uninterrupted
from lab.training.terminal import TerminalLog, conclusion
from model import Tensor
from nn import SGD, Adam, clip_grad_norm

__all__ = ["Config", "Trainer", "train", "train_in_folder"]


class Trainer(BaseTrainer):
    """A run: its settings, data, network and optimizer, and how far it has come. `steps` trains it.

    In base_trainer.py are epoch, how many are finished; batch, how many of this have begun; stats, what is measured in
    it; config_now, the settings in force; rows, the samples of a batch; state and load_state, to save and go on.
    """

    def __init__(self, config: Config, dataset: Dataset | None = None) -> None:
        """Set up an untrained run; without a dataset, load the one that the config names.

        Raises DataError, and ConfigError for too many weights or for features that do not fit the data.
        """
        require(
            isinstance(config, Config),
            f"The settings must be a Config, not a {type(config).__name__}: write Config(lr=0.01, epochs=10), or "
            f"Config(**settings) for a dict.",
        )
        self.config = config
        self.dataset = dataset or load_dataset(config)  # training and validation samples, standardised
        self.sizes = layer_sizes(config, self.dataset)  # 64-128-64-10 for the digits
        self.model = self.new_network(config.init, np.random.default_rng([config.seed, INIT]))
        parameters = self.model.parameters()
        self.optimizer: SGD | Adam
        if config.optimizer == "sgd":
            self.optimizer = SGD(parameters, config.lr, config.momentum, config.weight_decay)
        else:
            self.optimizer = Adam(parameters, config.lr, weight_decay=config.weight_decay)
        self.begin()

    def steps(self) -> Iterator[tuple[float, Record | None]]:
        """Train from where the run stands to its end. After each batch, yield its loss before the step, and a record.

        The record, None except after an epoch's last batch, says how the epoch went (see `train`). You may stop at any
        batch and call `steps` again later, also after `load_state`: the numbers are bit for bit the same.
        """
        for _ in range(self.epoch, self.config.epochs):
            if self.done:  # diverged, or the patience ran out
                return
            config = self.config_now  # with the changes of settings that were made so far
            for batch in range(self.batch, self.steps_per_epoch):
                started = time.perf_counter()
                self.batch = batch + 1
                with np.errstate(all="ignore"):  # the record reports a loss that overflows; NumPy need not warn
                    loss = self.loss(self.rows(batch))  # forward
                    self.diverged = not math.isfinite(loss.item())
                    if not self.diverged:  # otherwise the weights stay as they are, and the run ends
                        self.optimizer.zero_grad()
                        self.with_l1_penalty(loss, self.model).backward()
                        self.note_gradients()  # and the weights before the step, for note_update
                        if config.clip is not None:
                            norm = clip_grad_norm(self.model.parameters(), config.clip)
                            self.stats.clipped += config.clip < norm < math.inf
                        steps_before = self.epoch * self.steps_per_epoch + batch
                        self.optimizer.lr = learning_rate(config, steps_before, self.steps_per_epoch)
                        self.optimizer.step()
                        self.note_update()
                self.stats.seconds += time.perf_counter() - started
                if self.diverged or self.batch == self.steps_per_epoch:
                    yield loss.item(), self.finish_epoch()  # measures on all samples, and counts the epoch
                    break
                yield loss.item(), None

    def loss(self, rows: np.ndarray) -> Tensor:
        """Compute the loss of the training samples in these rows, integers (n,), with its graph, without L1 penalty."""
        outputs = self.model(self.dataset.train_x.take(rows, axis=0))
        return self.data_loss(outputs, self.dataset.train_y[rows])  # cross-entropy, or mean squared error


def learning_rate(config: Config, step: int, steps_per_epoch: int) -> float:
    """Compute the learning rate of a step, counted from 0 over the whole run.

    During the warm-up it grows linearly, from nearly 0 up to config.lr. Then, by config.schedule, it
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


def train(config: Config, trainer: Trainer | None = None) -> Iterator[Record]:
    """Train and yield the record of each epoch.

    Pass a `trainer` to continue with it or to inspect it meanwhile. Raises DataError, and ConfigError if `config` is
    not a Config.

    The keys of a record, which can be written as JSON directly (None for inf and nan; see `Record` in records.py):
    epoch, train_loss, val_loss, train_accuracy, val_accuracy, gap    after the epoch; no accuracies in regressions
    dead_units, saturated, weight_histogram    per layer, after the epoch
    grad_norm    per layer, over the batches of the epoch; gradient_histogram, update_ratio: of its last batch
    lr, clipped, best, since_best, diverged, seconds    of the epoch
    changed    settings that changed before it
    origin    what the run is judged against: the untrained network, and always answering the commonest class or mean
    """
    trainer = trainer or Trainer(config)
    for _, record in trainer.steps():
        if record is not None:
            yield record


def train_in_folder(trainer: Trainer, folder: RunFolder, log: TerminalLog) -> None:
    """Train to the end. After each epoch write its record and a checkpoint, so that a kill loses at most one epoch.

    The folder gets metrics.jsonl (a record per line), best_weights.npy (all weights of the best epoch in one array) and
    checkpoint.npz (the state to resume from). Who makes the folder writes config.json, the settings, and summary.png.
    """
    for _, record in trainer.steps():
        log.batch()
        if record is not None:
            with uninterrupted():  # Ctrl-C waits until the files are whole
                folder.save(record, trainer.state() | trainer.dataset.preparation)
                log.epoch(record)
    log.end(
        f"{conclusion(trainer)}; run in {folder.path}",
        f"histogram of {folder.path / 'best_weights.npy'}: {histogram_command(folder)}",
    )


if __name__ == "__main__":
    from lab.training.cli import main  # parses the options, and knows the other commands: sweep, predict, doctor

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")  # a folder's name may not be valid text
    sys.exit(main())
