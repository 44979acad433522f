"""Where a number first became nan or inf: an operation that gave one from finite operands, or a slope that is inf."""

import math
from dataclasses import dataclass
from typing import Any

import torch

from lab.watch.sites import NOWHERE, Site
from lab.watch.tracks import Made, made, walk

Tensor = torch.Tensor
ROOTS = frozenset(("sqrt", "norm", "linalg_norm", "vector_norm", "linalg_vector_norm", "cdist"))
POWERS = frozenset(("pow", "__pow__"))
QUOTIENTS = frozenset(("div", "true_divide", "__truediv__", "__rtruediv__", "__rdiv__", "reciprocal", "rsqrt"))
LOGARITHMS = frozenset(("log", "log2", "log10", "log1p", "logit", "xlogy", "acos", "asin", "acosh", "atanh", "atan2"))
EXPONENTIALS = frozenset(("exp", "exp2", "expm1", "sinh", "cosh", "softmax", "log_softmax", "logsumexp"))
AVERAGES = frozenset(("mean", "std", "var", "std_mean", "var_mean", "prod", "cumprod", "square", "normalize"))
LOSSES = frozenset(("binary_cross_entropy", "kl_div", "nll_loss", "cross_entropy"))
MATRICES = frozenset(("inverse", "cholesky", "det", "logdet"))
DANGEROUS = ROOTS | POWERS | QUOTIENTS | LOGARITHMS | EXPONENTIALS | AVERAGES | LOSSES | MATRICES
# The usual fix, that of a logarithm at 0, stands in fixes.py
FIXES = (
    (
        frozenset(("softmax", "log_softmax")),
        "A row that is -inf everywhere has no softmax: leave at least one entry of each row unmasked.",
    ),
    (
        frozenset(("acos", "asin", "atanh")),
        "Keep the input inside the open interval: `x.clamp(-1 + 1e-6, 1 - 1e-6)`.",
    ),
    (
        EXPONENTIALS,
        "Keep the exponent small: `x.clamp(max=80)`. Where a logarithm follows, use `logsumexp` or `log_softmax`.",
    ),
    (
        ROOTS,
        "Add a small number before the root: `(x + 1e-12).sqrt()`; a norm is `(x.square().sum() + 1e-12).sqrt()`.",
    ),
    (QUOTIENTS, "Keep the divisor away from 0: for a `b` that is not negative, `a / b.clamp(min=1e-12)`."),
    (
        frozenset(("mean", "std", "var", "std_mean", "var_mean")),
        "A mean of no numbers is nan, and so is the spread of one number; where all are equal, the slope of the spread "
        "is not finite. Leave out such a batch, or use `(x.var(correction=0) + 1e-12).sqrt()`.",
    ),
    (LOSSES, "Look at what the loss was given: no label that counts, or a probability that is not above 0."),
    (MATRICES, "Add a small multiple of the identity: `A + 1e-6 * torch.eye(n)`."),
)
CHOOSERS = frozenset(("where", "masked_fill", "masked_fill_", "nan_to_num", "nan_to_num_"))


@dataclass
class Danger:
    """A value at which an operation has no finite result or slope."""

    name: str
    entry: Made | None
    site: Site
    turn: int
    what: str
    where: Site = NOWHERE


def danger(watcher: Any, name: str, entry: Made | None, here: Site, operands: list[Tensor], result: Tensor) -> None:
    """A logarithm, a root, a quotient, ... at a value where it is not finite."""
    what = ""
    if name in ROOTS or (name in POWERS and len(operands) == 1):
        zeros = int((result == 0).sum()) if entry is not None else 0
        if zeros and (name in ROOTS or steep_at_zero(result)):
            what = f"{zeros} of {result.numel()} results of {name} are 0, where its slope is inf"
    # One sum tells of most tensors that they are finite; a closer look only where it is not.
    if not math.isfinite(total(result)):
        nans, bad = int(result.isnan().sum()), result.numel() - int(result.isfinite().sum())
        given = [operand for operand in operands if operand.is_floating_point()]
        if bad and all(bool(operand.isfinite().all()) for operand in given):
            what = f"{bad} of {result.numel()} results of {name} are not finite, though all operands are"
        elif nans and not any(bool(operand.isnan().any()) for operand in given):
            what = f"{nans} of {result.numel()} results of {name} are nan, though no operand is"
    if what:
        watcher.dangers.append(Danger(name, entry, here, watcher.turn, what))


def total(tensor: Tensor) -> float:
    return float(tensor.detach().sum()) if tensor.is_floating_point() else 0.0


def steep_at_zero(result: Tensor) -> bool:
    exponent = getattr(result.grad_fn, "_saved_exponent", 2)
    return isinstance(exponent, float) and exponent < 1


def behind_choice(watcher: Any, entry: Made, operands: list[Tensor], result: Tensor) -> None:
    """A dangerous result that `where` and its like do not choose everywhere."""
    recent = {id(danger.entry): danger for danger in watcher.dangers if danger.turn == watcher.turn}
    if not recent or not bool(result.isfinite().all()):
        return
    for operand in operands:
        if operand.grad_fn is None:
            continue
        for count, node in enumerate(walk(operand.grad_fn)):
            found = made(node)
            if found is not None and id(found) in recent:
                recent[id(found)].where = entry.site
            if count > 8:
                break


def not_finite(watcher: Any, loss: Tensor, reached: list[Tensor]) -> None:
    """Name the first operation that was not finite, if it got as far as the loss or a gradient."""
    finite = bool(loss.detach().isfinite().all())
    spoiled = sum(tensor.grad is not None and not bool(tensor.grad.isfinite().all()) for tensor in reached)
    if finite and not spoiled:
        return
    recent = [danger for danger in watcher.dangers if danger.turn == watcher.turn - 1]
    # Only an operation of the graph can spoil a gradient; the loss can also get its nan from the data.
    first = next((danger for danger in recent if finite and danger.entry is not None), recent[0])
    after = f"the loss became {float(loss.detach().sum())}" if not finite else f"{spoiled} gradients became nan or inf"
    told = f"In backward pass {watcher.turn}, {first.what}; {after}."
    if first.where.line and finite:
        watcher.say(20, first.where, f"{told} This line hid it from the result, not from the gradient.")
    elif not diverges(watcher):
        watcher.say(9, first.site, told, fix_of(first.name))


def fix_of(name: str) -> str:
    """What to do about an operation that gave a result which is not finite; "" for the usual."""
    return next((fix for names, fix in FIXES if name in names), "")


def diverges(watcher: Any) -> bool:
    """True if numbers overflow at the end of a loss that climbed by steps which were too long, not at a bad value."""
    for place in watcher.passes.values():
        finite = [abs(value) for value in place.values if math.isfinite(value)]
        if len(finite) >= 3 and finite[-1] > 1e6 * (finite[0] + 1) and finite[-1] > finite[-2] > finite[-3]:
            return True
    return False
