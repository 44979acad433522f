"""Answer what a curve shows: its causes in order, with their evidence, and what could not be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lab.failures.catalogue import BY_KEY, ROWS
from lab.failures.curve.history import UploadedCurve
from lab.failures.curve.log import LogError, read
from lab.failures.curve.roles import kinds, split
from lab.failures.curve.table import Table, tables
from lab.failures.failure import Failure
from lab.training.config import Config
from lab.training.doctor import Finding, diagnose, examine
from lab.training.figures import LONG
from lab.training.records import Record

HUGE = 3.0  # a first loss below this does not come from inputs or weights of the wrong scale


@dataclass(frozen=True)
class Known:
    """A cause that a curve may show. failures.toml explains the fields, above the first one."""

    name: str
    advice: str = ""
    apart: str = ""
    failure: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


KNOWN: Mapping[str, Known] = {key: Known(**row) for key, row in ROWS["curve"].items()}


@dataclass(frozen=True)
class CurveCause:
    """One possible cause of what a curve shows."""

    key: str  # of KNOWN
    evidence: tuple[str, ...]  # sentences with numbers
    at: float | None  # where on the curve it begins to show
    sure: bool  # False if it is one of several causes that look the same
    advice: str  # what to do; for a run of this trainer, with its own settings

    @property
    def known(self) -> Known:
        return KNOWN[self.key]


@dataclass(frozen=True)
class CurveAnswer:
    """What a curve shows. No cause means that nothing wrong was seen."""

    curve: UploadedCurve | None  # None if no number is called a loss
    causes: tuple[CurveCause, ...] = ()  # the likeliest first
    notes: tuple[str, ...] = ()  # how the text was read
    ended: str = ""  # a sentence on where the loss becomes inf or nan
    unseen: tuple[str, ...] = ()  # what could not be seen, and why
    log: tuple[str, ...] = ()  # lines of PyTorch that would make it visible next time
    columns: Mapping[str, str] = field(default_factory=dict)  # name in the text -> what it was read as: a key of ROLES
    others: tuple[str, ...] = ()  # names that were left out
    runs: int = 1  # in the text
    run: int = 0  # which of them this is


def read_log(
    source: str | bytes, chosen: Mapping[str, str | None] | None = None, run: int | None = None
) -> CurveAnswer:
    """Read the numbers of a log and diagnose its curve.

    chosen: what to read as what, where the names are not to decide: a key of ROLES -> a name in the text, or None.
    run: which run, if the text holds several, from 0; by default the first in which something is wrong, or the last.
    Raises LogError if no number has a name, or there are too many.
    """
    found = tables(read(source), chosen or {})
    if run is not None:
        return of_table(found[min(run, len(found) - 1)])
    answers = (of_table(table) for table in found)
    return next((answer for answer in answers if answer.causes), None) or of_table(found[-1])


def of_table(table: Table) -> CurveAnswer:
    columns = {name: role for role, name in table.names.items()}
    which = [f"The text holds {table.runs} runs; this is run {table.run + 1}."] if table.runs > 1 else []
    answer = CurveAnswer(None, columns=columns, others=table.others, runs=table.runs, run=table.run)
    if not table.columns.keys() & {"train_loss", "val_loss"}:
        return replace(answer, notes=(*which, "No number here is called a loss: choose which one is.", *table.notes))
    curve = UploadedCurve.of(table)
    causes = _causes(curve)
    beside = kinds(word for name in table.others for word in split(name))
    if {"game", "reward"} & (beside | kinds(split(table.names.get("train_loss", "")))):
        which.append("In reinforcement learning, and where two networks work against each other, a loss need not fall.")
        causes = tuple(cause for cause in causes if cause.key == "nan")
    if table.part:
        causes = tuple(replace(cause, sure=False) for cause in causes)
    unseen, log = _unseen(curve)
    notes = (*which, *table.notes, *curve.notes)
    return replace(answer, curve=curve, causes=causes, notes=notes, ended=_ended(curve), unseen=unseen, log=log)


def of_records(records: Sequence[Record], config: Config) -> CurveAnswer:
    """Diagnose a run of this trainer with all of the doctor's rules. Raises LogError if there are no records."""
    if not records:
        raise LogError("This run has no complete epoch yet: train it for one epoch.")
    curve = UploadedCurve(records, config, [float(record["epoch"]) for record in records])
    causes = tuple(
        CurveCause(_known_key(finding), finding.evidence, float(finding.epoch), True, finding.remedy)
        for finding in diagnose(records, config)[:1]
        if _known_key(finding) in KNOWN
    )
    return CurveAnswer(curve, causes, ended=_ended(curve))


def failure_of(finding: Finding) -> Failure | None:
    """Return the failure that the doctor found in a run of this trainer; None if it is not in the catalogue."""
    known = KNOWN.get(_known_key(finding))
    return BY_KEY.get(known.failure) if known else None


def _known_key(finding: Finding) -> str:
    """Return the key in KNOWN of a finding in a run of this trainer.
    The settings that an overflow's remedy changes tell why the numbers overflowed."""
    if finding.key == "overflow":
        return "rate-high" if "lr" in finding.settings else "scale" if "init" in finding.settings else "nan"
    return "labels" if finding.key == "chance" else finding.key


def _causes(curve: UploadedCurve) -> tuple[CurveCause, ...]:
    """Return the verdict on a curve as a cause, and after it the causes that look the same; () for none."""
    found = examine(curve)
    if not found:
        return ()
    finding = found[0]
    layers = {"vanishing", "flat"} if curve.norms.shape[1] > 1 else set()  # which the norms of layers tell apart
    apart = {finding.key} | layers | ({"scale"} if curve.loss[0] < HUGE else set())
    only_validation = curve.ended is not None and curve.ended[1] == "validation loss"
    also = [key for key in finding.like if key not in apart and not only_validation]
    sentences = tuple(curve.in_unit(sentence) for sentence in finding.evidence)
    place = curve.places[curve.epochs.index(finding.epoch)]
    first = CurveCause(finding.key, sentences, place, not (also or only_validation), KNOWN[finding.key].advice)
    return (first, *(CurveCause(key, (), None, False, KNOWN[key].advice) for key in also))


# ---------------------------------------------------------------- what could not be seen


def _unseen(c: UploadedCurve) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the columns cannot show, and lines of PyTorch that log it."""
    unseen, log = [], []
    if not c.config.val_fraction:
        unseen.append("Overfitting: there is no validation loss.")
        log.append("val_loss = criterion(model(x_val), y_val)  # under torch.no_grad(), once per epoch")
    if "accuracy" not in c.known:
        unseen.append("Underfitting, and softmax before cross_entropy: there is no training accuracy.")
        log.append("accuracy = (out.argmax(1) == y).float().mean()")
    if c.norms.shape[1] < 2:
        unseen.append("Vanishing gradients, zero weights and dead layers: there is no gradient norm of each layer.")
        log.append("norms = {name: p.grad.norm().item() for name, p in model.named_parameters()}  # after backward()")
    if not c.norms.size and not np.isfinite(c.total).any():
        unseen.append("Gradients that pile up while the loss still falls: there is no gradient norm.")
    if len(c) < LONG:
        unseen.append(f"Slow trends: the curve has only {len(c)} points to compare.")
    unseen.append("A few wrong labels, training data in the validation set, and other mistakes in the code.")
    return tuple(unseen), tuple(log)


def _ended(c: UploadedCurve) -> str:
    if c.ended is None and not c.records[-1].get("diverged"):
        return ""
    at, which = c.ended or (len(c) - 1, "loss of a batch")
    values = {"training loss": c.loss, "validation loss": c.val_loss}.get(which, c.loss[:0])
    if np.isfinite(values[at:]).any():
        return c.in_unit(f"In epoch {c.epochs[at]} the {which} is not a number, and later it is one again.")
    return c.in_unit(f"From epoch {c.epochs[at]} on the {which} is no longer a number.")
