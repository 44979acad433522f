"""Find where nan or inf first appeared: an operation on finite operands, or an infinite slope."""

import math
from contextlib import suppress

from torch import Tensor

from lab.watch.graph import origin_of, saved_by, seen_nodes, walk
from lab.watch.records import NodeOrigin
from lab.watch.run import Danger, WatchedRun
from lab.watch.sites import site

ROOTS = frozenset(("sqrt", "norm", "linalg_norm", "vector_norm", "linalg_vector_norm", "cdist"))
POWERS = frozenset(("pow", "__pow__"))
_FIXES = {
    "log log2 log10 log1p logit xlogy acosh atan2 pow __pow__ prod cumprod square normalize acos asin atanh": "",
    "inverse cholesky det logdet binary_cross_entropy kl_div nll_loss cross_entropy " + " ".join(ROOTS): "",
    "softmax log_softmax": "A row that is all -inf has no softmax: leave at least one entry of each row unmasked.",
    "exp exp2 expm1 sinh cosh logsumexp": (
        "Keep the exponent small: `x.clamp(max=80)`. Where a logarithm follows, use `logsumexp` or `log_softmax`."
    ),
    "div true_divide __truediv__ __rtruediv__ __rdiv__ reciprocal rsqrt": (
        "Keep the divisor away from 0: for a `b` that is not negative, `a / b.clamp(min=1e-12)`."
    ),
    "mean std var std_mean var_mean": (
        "A mean of no numbers is nan, and so is the spread of one. Leave out such a batch, or use "
        "`(x.var(correction=0) + 1e-12).sqrt()`."
    ),
}
# Operation whose result or slope may not be finite -> its fix; "" for that in the catalogue, of a logarithm at 0
FIXES = {name: fix for names, fix in _FIXES.items() for name in names.split()}
CLEAN_DATA = "Look for missing values in the data before training: `assert x.isfinite().all()`, `x.nan_to_num()`."
MAX_MASKED = 20  # nodes before a choice that are searched
CHOOSERS = frozenset(("where", "masked_fill", "masked_fill_", "nan_to_num", "nan_to_num_"))


def note_danger(run: WatchedRun, name: str, entry: NodeOrigin | None, operands: list[Tensor], result: Tensor) -> None:
    """Record a logarithm, root, quotient, ... of a value where its result or slope is not finite."""
    evidence, here = "", site() if entry is None else entry.site
    if name in ROOTS or (name in POWERS and len(operands) == 1):
        zeros = int((result == 0).sum()) if entry is not None else 0
        exponent = getattr(result.grad_fn, "_saved_exponent", 2)
        if zeros and (name in ROOTS or (isinstance(exponent, float) and exponent < 1)):
            evidence = f"{zeros} of {result.numel()} results of {name} are 0, where its slope is inf"
    if result.is_floating_point() and not is_finite(result):  # look closer
        nans, bad = int(result.isnan().sum()), result.numel() - int(result.isfinite().sum())
        given = [operand for operand in operands if operand.is_floating_point()]
        if bad and all(bool(operand.isfinite().all()) for operand in given):
            evidence = f"{bad} of {result.numel()} results of {name} are not finite, though all operands are"
        elif nans and not any(bool(operand.isnan().any()) for operand in given):
            evidence = f"{nans} of {result.numel()} results of {name} are nan, though no operand is"
    if evidence:
        run.numbers.dangers.append(Danger(name, entry, here, run.clock.iteration, evidence))


def is_finite(tensor: Tensor) -> bool:
    """Return whether the sum of a tensor is finite: one number shows it for most."""
    return math.isfinite(abs((tensor if tensor.numel() == 1 else tensor.detach().sum()).item()))


def note_masked_danger(run: WatchedRun, entry: NodeOrigin, operands: list[Tensor], result: Tensor) -> None:
    """Record that `where` or a similar function masks a dangerous result."""
    now = [danger for danger in run.numbers.dangers if danger.iteration == run.clock.iteration]
    recent = {id(danger.entry): danger for danger in now if danger.entry is not None}
    if not recent or not bool(result.isfinite().all()):
        return
    for node in walk(*(operand.grad_fn for operand in operands if operand.grad_fn is not None), most=MAX_MASKED):
        if id(origin_of(node)) in recent:
            recent[id(origin_of(node))].masked_at = entry.site


def report_non_finite(run: WatchedRun, loss: Tensor, reached: list[Tensor]) -> None:
    """Report the first operation that was not finite if nan or inf reached the loss or a gradient."""
    finite = is_finite(loss)
    spoiled = sum(tensor.grad is not None and not bool(tensor.grad.isfinite().all()) for tensor in reached)
    if finite and not spoiled:
        return
    recent = [danger for danger in run.numbers.dangers if danger.iteration == run.clock.iteration - 1]
    # Only an operation in the graph can spoil a gradient; the loss can also get nan from the data.
    first = next((danger for danger in recent if finite and danger.entry is not None), recent[0])
    gradients = f"{spoiled} gradient{'s' * (spoiled > 1)} became nan or inf"
    after = gradients if finite else f"the loss became {float(loss.detach().sum())}"
    evidence = f"In backward pass {run.clock.iteration}, {first.evidence}; {after}."
    if first.masked_at and finite:
        run.report(20, first.masked_at, f"{evidence} This line hid it from the result, not from the gradient.")
    elif not any(call.overflows for call in run.training.calls.values()):
        run.report(9, first.site, evidence, FIXES[first.name])


def check_batch(run: WatchedRun, loss: Tensor) -> None:
    """Report numbers that were not finite before any operation: a batch, which the graph of a loss has saved."""
    if run.clock.hidden_saves or run.numbers.dangers:
        return
    for node, entry in reversed(list(seen_nodes(loss.grad_fn))):
        with suppress(RuntimeError):  # freed, or written to
            for kept in saved_by(node).values():
                bad = kept.numel() - int(kept.isfinite().sum())
                if bad and not kept.requires_grad:
                    evidence = f"{bad} of {kept.numel()} numbers of a batch that {entry.name} got here are nan or inf."
                    run.report(9, entry.site, evidence, CLEAN_DATA)
                    return
