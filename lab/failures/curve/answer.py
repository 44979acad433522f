"""What a curve says: its causes in order, with their evidence, and what could not be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.failures.catalogue import BY_KEY
from lab.failures.curve.history import UploadedCurve
from lab.failures.curve.known import CALLED, KNOWN, Known
from lab.failures.curve.rules import ALSO, HUGE, OF_A_CURVE, at_chance, stands_still
from lab.failures.curve.table import CurveError, Table, read
from lab.failures.failure import Failure
from lab.training import symptoms
from lab.training.config import Config
from lab.training.doctor import Finding, diagnose, examine
from lab.training.records import Record


@dataclass(frozen=True)
class CurveCause:
    """key: of KNOWN; evidence: sentences with numbers; at: where on the curve it begins to show, or None; sure: do the
    numbers speak for this cause itself, or is it one of several that look the same? advice: what to do, with the run's
    own settings where it is one of this trainer."""

    key: str
    evidence: tuple[str, ...]
    at: float | None
    sure: bool
    advice: str

    @property
    def known(self) -> Known:
        return KNOWN[self.key]


@dataclass(frozen=True)
class CurveAnswer:
    """What a curve says. causes: the likeliest first; unseen: what could not be seen, and why; log: lines of PyTorch
    that would make it visible next time; notes: how the text was read. No cause means that nothing was seen."""

    curve: UploadedCurve
    causes: tuple[CurveCause, ...]
    unseen: tuple[str, ...]
    log: tuple[str, ...]
    notes: tuple[str, ...]
    ended: str  # where a loss ceases to be a number, in words, or ""


def of_text(source: str | bytes) -> CurveAnswer:
    """What a CSV or lines of JSON say. Raises CurveError."""
    return of_table(read(source))


def of_table(table: Table) -> CurveAnswer:
    curve = UploadedCurve.of(table)
    with np.errstate(all="ignore"):  # a share of zero is nan or inf, which no rule takes for something
        causes = _causes(examine(curve, OF_A_CURVE), curve)
    return CurveAnswer(curve, causes, *_not_seen(curve), (*table.notes, *curve.notes), _ended(curve))


def of_records(records: Sequence[Record], config: Config) -> CurveAnswer:
    """What a run of this trainer says: the doctor sees all of it. Raises CurveError where there are no records."""
    if not records:
        raise CurveError("This run has no complete epoch yet: let it train for one.")
    curve = UploadedCurve(records, config, "epoch", [float(record["epoch"]) for record in records])
    causes = tuple(
        CurveCause(_of_here(finding), finding.evidence, float(finding.epoch), True, finding.remedy)
        for finding in diagnose(records, config)
        if not finding.well
    )
    return CurveAnswer(curve, causes, (), (), (), _ended(curve))


def failure_of(finding: Finding) -> Failure | None:
    """Return the failure that the doctor found in a run of this trainer; None if it is none of the 25."""
    known = KNOWN.get(_of_here(finding))
    return BY_KEY.get(known.failure) if known else None


def _of_here(finding: Finding) -> str:
    """The key of what the doctor found in a run of this trainer. Why numbers ended, the settings say that it would
    change."""
    if finding.key == "overflow":
        return "rate-high" if "lr" in finding.settings else "scale" if "init" in finding.settings else "nan"
    return CALLED.get(finding.key, finding.key)


def _causes(found: Sequence[Finding], curve: UploadedCurve) -> tuple[CurveCause, ...]:
    """The findings, and after the first what its numbers may also be."""
    causes: dict[str, CurveCause] = {}
    for finding in found:
        key = CALLED.get(finding.key, finding.key)
        also = _also(finding.key, curve)
        sentences = tuple(curve.says(sentence) for sentence in finding.evidence)
        causes.setdefault(key, CurveCause(key, sentences, curve.place(finding.epoch), not also, finding.remedy))
        if finding is found[0]:
            causes |= {key: CurveCause(key, (), None, False, KNOWN[key].advice) for key in also if key not in causes}
    return tuple(causes.values())


def _also(key: str, curve: UploadedCurve) -> tuple[str, ...]:
    if key == "labels" and not stands_still(curve):
        return ("overfitting",)
    if key == "underfitting" and at_chance(curve):
        return ("labels",)
    keys = ALSO.get(key, ())
    if curve.loss[0] < HUGE:
        keys = tuple(key for key in keys if key != "scale")
    if key in ("labels", "rate-low") and curve.norms.shape[1] > 1:
        return tuple(key for key in keys if key not in ("vanishing", "flat"))  # the norms would show them
    return keys


# ---------------------------------------------------------------- what could not be seen


def _not_seen(c: UploadedCurve) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the columns do not tell, and lines of PyTorch that log it."""
    unseen, log = [], []
    if not c.config.val_fraction:
        unseen.append("Overfitting: there is no validation loss.")
        log.append("val_loss = criterion(model(x_val), y_val)  # under torch.no_grad(), once per epoch")
    if not c.scored_in_training:
        unseen.append("Underfitting, and softmax before cross_entropy: there is no training accuracy.")
        log.append("accuracy = (out.argmax(1) == y).float().mean()")
    if c.norms.shape[1] < 2:
        unseen.append("Vanishing gradients, zero weights and dead layers: there is no gradient norm of each layer.")
        log.append("norms = {name: p.grad.norm().item() for name, p in model.named_parameters()}  # after backward()")
    if not c.norms.size and not np.isfinite(c.total).any():
        unseen.append("Gradients that pile up while the loss still falls: there is no gradient norm.")
    if not c.updates.size:
        unseen.append("How large the steps are: there is no ratio of update to weight.")
        log.append("ratio = (lr * p.grad.norm() / p.norm()).item()  # plain SGD; about 0.001 is usual")
    if len(c) < symptoms.STILL_EPOCHS:
        unseen.append(f"What takes time to show: the curve has only {len(c)} points to compare.")
    unseen.append("Wrong labels that are few, leaks from training into validation, and what the code does otherwise.")
    return tuple(unseen), tuple(log)


def _ended(c: UploadedCurve) -> str:
    end = c.end
    diverged = bool(c.records[-1].get("diverged"))
    if end is None and not diverged:
        return ""
    end = len(c) - 1 if end is None else end
    return f"From {c.unit} {c.epochs[end]} on the loss is no longer a number."
