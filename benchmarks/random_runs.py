"""Runs on random tables with random settings, each with one known cause or known health, really trained.

What is wrong with a run was put into it. Where a setting is the cause, the same run without it (the reference) has to
end with a much lower validation loss: otherwise the setting did no harm, and the run is not counted. A healthy run has
usual settings; it has to learn, and a third of its rate may not do much better: otherwise its health is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lab.training.config import DEFAULT_LR, Config
from lab.training.data_card import baseline
from lab.training.datasets import Dataset, from_table
from lab.training.doctor import Finding, diagnose
from lab.training.records import Record
from train import Trainer, train

TUNED, JUDGED = 0, 100_000  # the first seed of each half: thresholds were set while looking at the first only
FIRST = 3  # epoch from which a prefix counts
HARM = 0.8  # the reference ends with at most this share of the run's validation loss, or the run is not counted
LEARNED = 0.5  # validation loss of a healthy run at its end, over that of the plain answer
HELPS, HURTS = 1.0, 1.05  # validation loss with the remedy, over that without it
RISEN = 1.15  # validation loss over its lowest: that a healthy network overfits is then no false word
NEUTRAL = frozenset({"healthy", "few", "unsettled", "settled", "learning", "early"})
ANY_RATE = frozenset({"rate-high", "overflow"})
NO_ORDER = frozenset({"chance", "overfitting", "noise"})  # what may be said where nothing can be learned


@dataclass(frozen=True)
class Case:
    """A kind of run. draw: makes the CSV text and the settings; words: the right first words; due: the epoch by which
    one of them has to be there; without: the settings of the reference, None where the data are the cause."""

    draw: Callable[[np.random.Generator], tuple[str, dict[str, Any]]]
    words: frozenset[str]
    due: int
    without: dict[str, Any] | None = None


@dataclass(frozen=True)
class Run:
    """findings: the doctor's first after each epoch."""

    kind: str
    seed: int
    config: Config
    dataset: Dataset
    records: list[Record]
    findings: list[Finding]

    @property
    def case(self) -> Case:
        return CASES[self.kind]

    @property
    def healthy(self) -> bool:
        return self.kind.startswith("healthy")

    @property
    def due(self) -> int:
        return min(self.case.due, len(self.records))

    def false_at(self, count: int) -> bool:
        """Is the word after so many epochs an illness that this healthy run does not have?"""
        key = self.findings[count - 1].key
        return key not in NEUTRAL and not (key == "overfitting" and overfitted(self.records[:count]))

    def praised_at(self, count: int) -> bool:
        """Is it called healthy, where the commonest class or the mean does as well on the validation samples?"""
        return self.findings[count - 1].key == "healthy" and not beats_baseline(self.records[count - 1], self.dataset)


def overfitted(records: Sequence[Record]) -> bool:
    losses = [record["val_loss"] or np.inf for record in records]
    best = int(np.argmin(losses))
    return losses[-1] > RISEN * losses[best] and (records[-1]["train_loss"] or 0) < (records[best]["train_loss"] or 0)


def beats_baseline(record: Record, data: Dataset) -> bool:
    if not data.classes:
        return (record["val_loss"] or 0.0) < float(np.mean((data.val_y - data.train_y.mean()) ** 2))
    commonest = int(np.bincount(data.train_y).argmax())
    return (record["val_accuracy"] or 0.0) > float(np.mean(data.val_y == commonest))


# ---------------------------------------------------------------- tables

HIDDEN = ((8,), (16,), (32,), (16, 16), (32, 32), (64, 64), (128, 64), (32, 32, 32))


def csv_of(features: np.ndarray, answers: Sequence[object]) -> str:
    header = ",".join([*(f"x{index}" for index in range(features.shape[1])), "y"])
    rows = (",".join([*(f"{v:.6g}" for v in row), str(answer)]) for row, answer in zip(features, answers, strict=True))
    return "\n".join([header, *rows])


def inputs(rng: np.random.Generator, rows: int, plain: bool = False) -> np.ndarray:
    """Columns of various scales; some are noise, one may be constant or a copy of another."""
    columns = [rng.normal(size=rows) for _ in range(2 + int(rng.integers(0, 3)))]
    if not plain:
        columns += [rng.normal(size=rows) for _ in range(int(rng.integers(0, 3)))]
        columns += [np.full(rows, 5.0)] * int(rng.integers(0, 2)) + [columns[0]] * int(rng.integers(0, 2))
    return np.stack([column * 10.0 ** rng.uniform(-2, 3) for column in columns], axis=1)


def standard(features: np.ndarray) -> np.ndarray:
    return (features - features.mean(axis=0)) / np.where(features.std(axis=0) > 0, features.std(axis=0), 1)


def value_of(features: np.ndarray, shape: str) -> np.ndarray:
    """Return what the first two columns determine: straight, or bent."""
    x, y = standard(features)[:, :2].T
    return {"line": x + 0.5 * y, "ring": x * x + y * y, "product": x * y, "wave": np.sin(2 * x) + 0.3 * y}[shape]


def labels_of(values: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """Classes k0, k1, ... by the size of the value, with these shares."""
    index = np.searchsorted(np.quantile(values, np.cumsum(shares)[:-1]), values)
    return np.array([f"k{i}" for i in index])


def rows_of(rng: np.random.Generator, low: int = 150, high: int = 500) -> int:
    return int(rng.integers(low, high))


def settings(rng: np.random.Generator, **more: Any) -> dict[str, Any]:
    """Such as somebody chooses who knows what is usual: some thousand steps at a usual rate."""
    optimizer = str(rng.choice(["adam", "sgd"]))
    times = (1, 3, 10) if optimizer == "adam" else (0.5, 1, 2)
    return {
        "hidden": HIDDEN[rng.integers(len(HIDDEN))],
        "activation": str(rng.choice(["relu", "tanh", "leaky_relu"])),
        "optimizer": optimizer,
        "lr": DEFAULT_LR[optimizer] * float(rng.choice(times)),
        "batch_size": int(rng.choice([8, 16, 32])),
        "epochs": int(rng.integers(20, 36)),
    } | more


def easy(rng: np.random.Generator) -> str:
    """Return a table that networks learn."""
    features = inputs(rng, rows_of(rng))
    classes = int(rng.integers(2, 4))
    values = value_of(features, str(rng.choice(["line", "ring", "product"])))
    return csv_of(features, labels_of(values, [1 / classes] * classes))


def measured(rng: np.random.Generator, noise: float, outliers: float = 0.0) -> str:
    features = inputs(rng, rows_of(rng))
    values = value_of(features, str(rng.choice(["line", "ring", "wave"])))
    values = values + rng.normal(0, noise * values.std(), len(values))
    values[rng.random(len(values)) < outliers] *= rng.uniform(20, 60)
    return csv_of(features, values * 10.0 ** rng.uniform(-6, 6) + rng.choice([0.0, 0.001]))


def few_of_one(rng: np.random.Generator) -> str:
    features = inputs(rng, rows_of(rng, 300, 600))
    share = rng.uniform(0.05, 0.15)
    return csv_of(features, labels_of(value_of(features, "line"), [1 - share, share]))


def of_no_order(rng: np.random.Generator, share: float) -> str:
    features = inputs(rng, rows_of(rng, 200, 500))
    return csv_of(features, np.where(rng.random(len(features)) < share, "k1", "k0"))


def flipped(rng: np.random.Generator) -> str:
    features = inputs(rng, rows_of(rng), plain=True)
    right = value_of(features, "line") > 0
    wrong = rng.random(len(right)) < rng.uniform(0.2, 0.35)
    return csv_of(features, np.where(right ^ wrong, "k1", "k0"))


def wide(rng: np.random.Generator) -> str:
    features = rng.normal(size=(rows_of(rng, 60, 150), int(rng.integers(40, 100))))
    values = features[:, 0] + rng.normal(size=len(features))
    return csv_of(features, np.where(values > 0, "k1", "k0"))


def tiny(rng: np.random.Generator) -> str:
    features = inputs(rng, int(rng.integers(10, 24)), plain=True)
    return csv_of(features, labels_of(value_of(features, "line"), [0.5, 0.5]))


def bent(rng: np.random.Generator) -> str:
    features = inputs(rng, rows_of(rng), plain=True)
    return csv_of(features, labels_of(value_of(features, str(rng.choice(["ring", "product"]))), [0.5, 0.5]))


def rate(rng: np.random.Generator, low: float, high: float) -> dict[str, Any]:
    """Draw a rate that is so many times what is usual."""
    chosen = settings(rng)
    return chosen | {"lr": DEFAULT_LR[chosen["optimizer"]] * float(10 ** rng.uniform(np.log10(low), np.log10(high)))}


def usual_steps(rng: np.random.Generator, **more: Any) -> dict[str, Any]:
    return settings(rng, optimizer="adam", lr=0.003, **more)


DEEP = {"activation": "sigmoid", "optimizer": "sgd", "lr": 0.1, "init": "xavier"}
CASES = {
    "healthy": Case(lambda r: (easy(r), settings(r)), NEUTRAL, 20),
    "healthy few of one": Case(lambda r: (few_of_one(r), settings(r)), NEUTRAL, 20),
    "healthy regression": Case(lambda r: (measured(r, r.uniform(0.02, 0.3)), settings(r)), NEUTRAL, 20),
    "healthy outliers": Case(lambda r: (measured(r, 0.05, 0.01), settings(r)), NEUTRAL, 20),
    "healthy decay": Case(lambda r: (easy(r), settings(r, weight_decay=float(r.choice([0.001, 0.005])))), NEUTRAL, 20),
    "slow": Case(lambda r: (easy(r), rate(r, 0.001, 0.02)), frozenset({"rate-low"}), 5, {"lr": None}),
    "slow regression": Case(
        lambda r: (measured(r, 0.1), rate(r, 0.001, 0.02)), frozenset({"rate-low"}), 5, {"lr": None}
    ),
    "slow bent": Case(lambda r: (bent(r), rate(r, 0.005, 0.05)), frozenset({"rate-low"}), 8, {"lr": None}),
    "fast": Case(lambda r: (easy(r), rate(r, 100, 2000)), ANY_RATE, 10, {"lr": None}),
    "fast regression": Case(lambda r: (measured(r, 0.1), rate(r, 100, 2000)), ANY_RATE, 10, {"lr": None}),
    "straight": Case(
        lambda r: (bent(r), usual_steps(r, hidden=(), epochs=30)), frozenset({"underfitting"}), 25, {"hidden": (32, 32)}
    ),
    "one unit": Case(
        lambda r: (bent(r), usual_steps(r, hidden=(1,), activation="tanh", epochs=40)),
        frozenset({"underfitting"}),
        35,
        {"hidden": (32, 32)},
    ),
    "random labels": Case(lambda r: (of_no_order(r, 0.5), settings(r)), NO_ORDER, 20),
    "noise, one class rare": Case(lambda r: (of_no_order(r, r.uniform(0.02, 0.15)), settings(r)), NO_ORDER, 20),
    "flipped labels": Case(lambda r: (flipped(r), settings(r)), NO_ORDER | NEUTRAL - {"healthy"}, 20),
    "wide": Case(lambda r: (wide(r), usual_steps(r)), frozenset({"overfitting"}), 30),
    "tiny": Case(lambda r: (tiny(r), settings(r)), NO_ORDER | NEUTRAL - {"healthy"}, 30),
    "zeros": Case(lambda r: (easy(r), settings(r, init="zeros")), frozenset({"flat"}), 3, {"init": "he"}),
    "deep sigmoid": Case(
        lambda r: (easy(r), settings(r, hidden=(16,) * int(r.integers(5, 8)), **DEEP)),
        frozenset({"vanishing"}),
        5,
        {"activation": "relu", "init": "he"},
    ),
    "wide weights": Case(
        lambda r: (easy(r), settings(r, init="normal", hidden=(64,) * 3, optimizer="sgd", lr=1e-4)),
        frozenset({"exploding"}),
        5,
        {"init": "he", "lr": None},
    ),
    "decay": Case(
        lambda r: (easy(r), settings(r, weight_decay=float(r.choice([0.2, 0.5])))),
        frozenset({"collapsed"}),
        12,
        {"weight_decay": 0.0},
    ),
    "clip": Case(
        lambda r: (easy(r), settings(r, optimizer="sgd", lr=0.05, clip=0.003)),
        frozenset({"clipped"}),
        5,
        {"clip": None},
    ),
}


# ---------------------------------------------------------------- train and judge


def runs(first_seed: int, number: int) -> Iterator[Run]:
    """Draw runs, kind after kind, until there are so many of known cause or health."""
    made, seed = 0, first_seed
    kinds = list(CASES)
    while made < number:
        kind = kinds[(seed - first_seed) % len(kinds)]
        run = drawn(kind, seed)
        seed += 1
        if run is not None:
            made += 1
            yield run


def drawn(kind: str, seed: int) -> Run | None:
    """Train a run of this kind; None where its cause did no harm, or its health is not known."""
    rng = np.random.default_rng(seed)
    text, chosen = CASES[kind].draw(rng)
    config = Config(data="csv:random.csv", seed=seed, **chosen)
    dataset = from_table(text, "random.csv", seed=seed)
    records = trained(config, dataset)
    run = Run(kind, seed, config, dataset, records, [])
    without, last = CASES[kind].without, last_loss(records)
    if run.healthy:
        known = last < LEARNED * baseline(dataset)["baseline_val_loss"]
        known = known and last_loss(trained(replace(config, lr=config.lr / 3), dataset)) >= HARM * last
    else:
        known = without is None or last_loss(trained(replace(config, **without), dataset)) < HARM * last
    return examined(run) if known else None


def examined(run: Run) -> Run:
    """Return the run, with the doctor's first finding after each epoch."""
    counts = range(1, len(run.records) + 1)
    return replace(run, findings=[diagnose(run.records[:count], run.config)[0] for count in counts])


def trained(config: Config, dataset: Dataset) -> list[Record]:
    return list(train(config, Trainer(config, dataset)))


def last_loss(records: Sequence[Record]) -> float:
    loss = records[-1]["val_loss"]
    return np.inf if loss is None or records[-1]["diverged"] else loss


def remedied(run: Run) -> float | None:
    """Return the validation loss with the remedy named first when it was due, over that without it.

    None where there is none to try, or where it would be measured on other samples.
    """
    finding = run.findings[run.due - 1]
    chosen = dict(finding.settings)
    if finding.key in NEUTRAL or not chosen or {"val_fraction", "samples"} & set(chosen):
        return None
    before, after = last_loss(run.records), last_loss(trained(replace(run.config, **chosen), run.dataset))
    return after / before if np.isfinite(before) else float(not np.isfinite(after)) * 2


@dataclass
class Tally:
    """The four figures: first words, false illnesses, praise that a plain answer deserves as well, remedies."""

    due: int = 0
    right: int = 0
    prefixes: int = 0
    false: int = 0
    praised: int = 0
    ratios: list[float] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    def add(self, run: Run, ratio: float | None) -> None:
        counts = range(min(FIRST, len(run.records)), len(run.records) + 1)
        self.praised += sum(map(run.praised_at, counts))
        if run.healthy:
            wrong = [count for count in counts if run.false_at(count)]
            self.prefixes += len(counts)
            self.false += len(wrong)
            if wrong:
                self._miss(run, wrong[0])
        else:
            right = run.findings[run.due - 1].key in run.case.words
            self.due += 1
            self.right += right
            if not right:
                self._miss(run, run.due)
        if ratio is not None:
            self.ratios.append(ratio)
            if ratio >= HELPS:
                self.misses.append(f"{run.kind} {run.seed}: the remedy makes it {ratio:.3g} times as large")

    def _miss(self, run: Run, count: int) -> None:
        self.misses.append(f"{run.kind} {run.seed}, epoch {count}: {run.findings[count - 1]}")

    @property
    def helped(self) -> float:
        return float(np.mean([ratio < HELPS for ratio in self.ratios])) if self.ratios else 1.0

    @property
    def hurt(self) -> float:
        return float(np.mean([ratio > HURTS for ratio in self.ratios])) if self.ratios else 0.0

    @property
    def met(self) -> bool:
        return (
            self.right >= 0.9 * self.due
            and self.false <= 0.01 * self.prefixes
            and not self.praised
            and self.helped >= 0.8
            and self.hurt <= 0.03
        )

    def __str__(self) -> str:
        return (
            f"first word right when due: {self.right} of {self.due} ({self.right / max(1, self.due):.1%}); "
            f"false illness: {self.false} of {self.prefixes} healthy prefixes "
            f"({self.false / max(1, self.prefixes):.2%}); "
            f"praised though a plain answer does as well: {self.praised}; remedies tried: {len(self.ratios)}, "
            f"{self.helped:.1%} help, {self.hurt:.1%} hurt"
        )
