"""Judge one element of a gradient: is there a derivative, what are the slopes, which number does the engine use?

Every page that compares a gradient with differences uses this module, so all of them say the same. A `Slope` holds the
facts as fields; `sentence` is the only place where they become words.

How the slopes are found. A one-sided slope is the limit of (f(x + h) - f(x)) / h. It is computed for h, h/8, h/64, ...;
two successive values together cancel the part of the error that is proportional to h (Richardson). The two limits tell:

- they agree: there is a derivative. (At an eighth of h, a bend shows an eighth of the gap, and a kink near the point
  falls out of reach.)
- both converge, but differ: there is a kink here;
- one does not converge, or f has no finite value there: the slope grows without bound, f jumps, or f ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lab.gradcheck.finite_differences import ElementName, replaced
from lab.operation_table import OPS
from lab.text import numeral, with_minus
from model import Tensor, topological_order

Kind = Literal["smooth", "small", "rounded", "lost", "differs", "kink", "tie", "steep", "jump", "edge", "nan", "inf"]
WITHOUT_DERIVATIVE = ("kink", "tie", "steep", "jump", "edge")
NO_VALUE = ("nan", "inf")
MAX_LEVELS = 13  # how often a step may be made eight times smaller
MAX_NOISE = 1e-3  # relative rounding noise of a difference, above which it says nothing about the gradient
MAX_SPREAD = 0.05  # relative change of a gradient under other rounding, above which it proves nothing
SPREADS = 8  # how many spreads a gradient may be off because of rounding
UNEVEN = (0.9, 0.7, 0.55)  # fractions of a step that are rounded differently from it, unlike its eighths
MAX_RATIO = 0.9  # a slope converges if each change is at most this share of the one before


@dataclass(frozen=True)
class OneSidedSlopes:
    """The slopes of one element, found by differences.

    kind         "smooth", "kink", "steep", "jump", "edge", "nan" or "inf"; see Slope
    left, right  the slopes; nan if there is none, infinite if they grow without bound
    noise        the error of a slope that rounding inside f can cause
    size         the absolute value of the largest slope that was seen
    still        f does not change when the element is moved; vanishing: its slope goes to 0 with the step
    """

    kind: Kind
    left: float
    right: float
    noise: float
    size: float = 0.0
    still: bool = False
    vanishing: bool = False


@dataclass(frozen=True, kw_only=True)
class Slope(OneSidedSlopes):
    """The facts about the gradient of one element.

    kind          smooth   there is a derivative, and the gradient agrees with it
                  small    the gradient and the difference are both below the tolerance: neither proves anything
                  rounded  rounding inside f hides the slope: differences give it only to within `noise`
                  lost     rounding inside backward() also spoils the gradient, by about `spread`
                  differs  there is a derivative, but the gradient is a different number
                  kink     the slopes left and right differ; tie: because elements tie for the largest or smallest
                  steep    a slope grows without bound; jump: because the value jumps
                  edge     on one side f has no finite value
                  nan inf  f itself has no finite value here
    element       its name and index
    used          the gradient that backward() gives; nan if there is none
    tolerance     how far `used` may be from the slope; `noise` is a part of it
    spread        how far `used` moves when all numbers are rounded another way; 0 if that was not tried
    like_pytorch  PyTorch uses the same number where there is no derivative
    cause         names of operations in f that have a kink; filled in if the kind is "differs"
    """

    element: ElementName
    used: float
    tolerance: float
    spread: float = 0.0
    like_pytorch: bool = False
    cause: tuple[str, ...] = ()

    @property
    def has_derivative(self) -> bool:
        return self.kind not in (*WITHOUT_DERIVATIVE, *NO_VALUE)

    @property
    def has_value(self) -> bool:
        return self.kind not in NO_VALUE

    @property
    def numerical(self) -> float:
        """The central difference: the mean of both slopes, also where there is no derivative."""
        return self.left / 2 + self.right / 2

    @property
    def error(self) -> float:
        """The distance of the gradient from the difference; without a derivative, from the range between both slopes.
        nan if f has no value."""
        if self.kind in WITHOUT_DERIVATIVE:
            low, high = min(self.left, self.right), max(self.left, self.right)
            return max(low - self.used, self.used - high, 0.0) if low <= high and self.used == self.used else math.nan
        return abs(self.used - self.numerical)

    @property
    def excess(self) -> float:
        """The error as a multiple of the tolerance; inf if it is nan."""
        ratio = self.error / self.tolerance if self.tolerance else math.inf * self.error
        return math.inf if math.isnan(ratio) else ratio

    @property
    def slope(self) -> float:
        """The derivative by finite differences; nan if there is none."""
        return self.numerical if self.has_derivative else math.nan

    @property
    def permitted(self) -> bool:
        """Whether the gradient lies between the slopes left and right, within the tolerance."""
        low, high = min(self.left, self.right), max(self.left, self.right)
        return low - self.tolerance <= self.used <= high + self.tolerance

    def with_spread(self, spread: float) -> Slope:
        """Return this slope with kind "lost" if rounding moves the gradient by `spread` and so explains the error."""
        explained = abs(self.used - self.slope) <= self.tolerance + SPREADS * spread
        if not (explained and spread > MAX_SPREAD * max(abs(self.used), abs(self.slope))):
            return self
        return replace(self, kind="lost", spread=spread, cause=())

    @property
    def sentence(self) -> str:
        """The facts in words for a reader."""
        slope, used = numeral(self.slope), numeral(self.used)
        if self.kind in NO_VALUE:
            value = "NaN" if self.kind == "nan" else "infinite"
            return f"The result is {value} here, so it has no slope at {self.element}."
        if self.kind in WITHOUT_DERIVATIVE:
            return self._without_derivative()
        if self.kind == "small":
            return (
                f"The slope at {self.element} is too small to be judged: backward() gives {used} and the differences "
                f"{slope}, both below the tolerance of {numeral(self.tolerance)}."
            )
        if self.kind == "rounded":
            return (
                f"Rounding hides the slope at {self.element}: values inside are so large that differences know it only "
                f"to within {numeral(self.noise)}. backward() gives {used}."
            )
        if self.kind == "lost":
            hidden = self.noise > MAX_NOISE * max(abs(self.slope), abs(self.used))
            return (
                f"At {self.element} rounding spoils the gradient: backward() gives {used}, and up to "
                f"{numeral(self.spread)} more or less when all numbers are rounded another way. The differences give "
                f"{slope}, to within {numeral(self.noise)}.{' Trust neither.' if hidden else ''}"
            )
        if self.kind == "differs":
            reason = f" A kink inside ({', '.join(self.cause)}) can be the cause." if self.cause else ""
            return f"The slope at {self.element} is {slope}, but backward() gives {used}.{reason}"
        return f"The slope at {self.element} is {used}."

    def _without_derivative(self) -> str:
        why = {"tie": " (elements tie)", "jump": " (the result jumps)", "edge": " (the result ends here)"}
        engine = "This engine, like PyTorch, uses" if self.like_pytorch else "backward() gives"
        finite = math.isfinite(self.left) and math.isfinite(self.right)
        outside = ", which is not between the two" if finite and not self.permitted else ""
        return (
            f"At {self.element} there is no derivative{why.get(self.kind, '')}: the slope is "
            f"{' and '.join(self.side_texts)}. {engine} {numeral(self.used)}{outside}."
        )

    @property
    def side_texts(self) -> tuple[str, str]:
        """The slopes on both sides in words: "0 on the left", "without bound on the right"."""
        left, right = numeral(self.left), numeral(self.right)
        if left == right and self.left != self.right:  # four digits do not tell them apart
            left, right = (with_minus(f"{slope:.9g}") for slope in (self.left, self.right))
        words = {"NaN": "undefined", "∞": "without bound", "−∞": "without bound"}
        return f"{words.get(left, left)} on the left", f"{words.get(right, right)} on the right"


def judge(found: OneSidedSlopes, element: ElementName, used: float, tolerance: float, graph: KnownGraph) -> Slope:
    """Compare one gradient, `used`, with the slopes found by differences. tolerance: how far apart they may be."""
    kind = found.kind
    if kind == "kink" and graph.tied:
        kind = "tie"
    if kind == "smooth":
        settled = used == 0 and found.vanishing
        middle = found.left / 2 + found.right / 2
        if not abs(used - middle) <= tolerance:  # nan, too
            kind = "differs"
        elif found.noise > max(tolerance / 2, MAX_NOISE * max(abs(used), abs(middle))) and not settled:
            kind = "rounded"
        elif max(abs(used), found.size) <= tolerance and not (settled or (used == 0 and abs(middle) <= found.noise)):
            kind = "small"
    cause = graph.kinked if kind == "differs" else ()
    facts = vars(found) | {"kind": kind, "like_pytorch": graph.like_pytorch, "cause": cause}
    return Slope(element=element, used=used, tolerance=tolerance, **facts)


# ---------------------------------------------------------------- facts from the graph


@dataclass(frozen=True)
class KnownGraph:
    """Facts about a function, from the graph of one forward pass.

    kinked        the operations in it that have a kink somewhere
    tied          elements tie, and nothing else in it has a kink
    like_pytorch  all operations are the engine's own, whose conventions are PyTorch's
    inside        how far rounding the values inside moves f; see rounding.sensitivity
    """

    kinked: tuple[str, ...] = ()
    tied: bool = False
    like_pytorch: bool = False
    inside: float = 0.0

    @classmethod
    def of(cls, output: Tensor) -> KnownGraph:
        """Collect the facts from a result's graph, before a backward pass frees it."""
        nodes = [node for node in topological_order(output) if node.op]
        return cls.from_nodes(
            ((node.op, [child.numpy() for child in node.children], node.numpy()) for node in nodes),
            like_pytorch=type(output) is Tensor,
        )

    @classmethod
    def from_nodes(cls, nodes: Iterable[tuple[str, list[np.ndarray], np.ndarray]], like_pytorch: bool) -> KnownGraph:
        """Collect the facts from nodes, each given as operation name, operands and result."""
        kinked: dict[str, bool] = {}  # operation with a kink -> False if it has a kink only at ties and none tie here
        known, seen = True, set()
        for name, operands, result in nodes:
            seen.add(name)
            op = OPS.get(name)
            known = known and op is not None
            if op is not None and op.at_kinks:
                tie = op.ties is not None
                at_tie = op.ties is not None and op.ties(*operands, result)
                kinked[name] = kinked.get(name, False) or not tie or at_tie
        # In a standard deviation, rounding decides whether all deviations are 0, and PyTorch may round differently.
        exact = "norm" not in kinked or "-" not in seen
        ties = [name for name in kinked if OPS[name].ties is not None]
        tied = len(ties) == len(kinked) and any(kinked[name] for name in ties)
        return cls(tuple(kinked), tied, like_pytorch and known and exact)


# ---------------------------------------------------------------- the slopes on both sides


@dataclass(frozen=True)
class DifferenceQuotients:
    """The difference quotients on both sides, with the step h."""

    h: float
    left: float
    right: float
    noise: float
    still: bool

    @property
    def finite(self) -> bool:
        return math.isfinite(self.left) and math.isfinite(self.right)

    @property
    def size(self) -> float:
        return max(abs(self.left), abs(self.right))

    @property
    def middle(self) -> float:
        return self.left / 2 + self.right / 2

    def limits(self, before: DifferenceQuotients) -> DifferenceQuotients:
        """Extrapolate: remove the error proportional to h, given the quotients `before` with eight times this h."""
        left, right = self.left + (self.left - before.left) / 7, self.right + (self.right - before.right) / 7
        return DifferenceQuotients(self.h, left, right, self.noise + (self.noise + before.noise) / 7, self.still)


def sides_without_value(centre: np.ndarray) -> OneSidedSlopes | None:
    """Return slopes of kind "nan" or "inf" if an element of f itself is nan or infinite, else None."""
    if np.all(np.isfinite(centre)):
        return None
    return OneSidedSlopes("nan" if np.any(np.isnan(centre)) else "inf", math.nan, math.nan, 0.0)


def sides(
    evaluate: Callable[[np.ndarray], np.ndarray],
    centre: np.ndarray,
    point: np.ndarray,
    index: tuple[int, ...],
    h: float,
    cotangent: np.ndarray,
    eps: float,
    inside: float = 0.0,
) -> OneSidedSlopes:
    """Find the slopes of sum(cotangent * f) to the left and right of one element of a point.

    evaluate: f, of an array in the shape of the point. centre: f(point). eps: that of the precision f computes in.
    inside: see rounding.sensitivity
    """

    def quotients(step: float) -> DifferenceQuotients:
        x = point[index]
        under, over = (replaced(point, index, moved) for moved in (x - step, x + step))
        below, above = evaluate(under), evaluate(over)
        # Subtract first, then sum: outputs that do not depend on this element cancel exactly, also where they are inf.
        rise, fall = _change(above, centre), _change(centre, below)
        left = _total(cotangent * fall) / float(x - under[index])
        right = _total(cotangent * rise) / float(over[index] - x)
        changed = (rise != 0) | (fall != 0)
        weights = eps * np.abs(cotangent) * changed
        noise = max(_total_size(weights, above) + _total_size(weights, below), 2 * eps * inside) / step
        return DifferenceQuotients(step, left, right, noise, not changed.any())

    tried = [quotients(h)]
    while len(tried) <= MAX_LEVELS:
        if found := _decided(tried):
            others = [quotients(share * tried[-1].h) for share in UNEVEN if found.kind == "kink"]
            return _confirmed(found, tried[-1], others)
        step = tried[-1].h / 8
        if step < 64 * np.spacing(abs(point[index])):  # rounding would make it a different step
            break
        tried.append(quotients(step))
    return _undecided(tried)


def _decided(tried: list[DifferenceQuotients]) -> OneSidedSlopes | None:
    """Decide whether there is a derivative or a kink; None if that needs a smaller step."""
    last = tried[-1]
    if last.still:
        return OneSidedSlopes("smooth", 0.0, 0.0, last.noise, 0.0, still=len(tried) == 1, vanishing=True)
    if len(tried) < 2 or not last.finite or not tried[-2].finite:
        return None
    before = tried[-2]
    limits = last.limits(before)
    gap, floor = limits.right - limits.left, 2 * limits.noise + 1e-7 * before.size
    if abs(gap) <= floor:
        if abs(last.middle - before.middle) > floor:  # not converged yet
            return None
        # Usually the first step has the least noise; it is too large if a kink is near or f bends strongly.
        best, noise = (before, before.noise) if len(tried) == 2 else (last, limits.noise)
        return OneSidedSlopes("smooth", best.left, best.right, noise, tried[0].size, vanishing=_vanishes(tried))
    if len(tried) < 3 or not tried[-3].finite:
        return None
    earlier = before.limits(tried[-3])
    same = abs(gap - (earlier.right - earlier.left)) <= 0.02 * abs(gap)
    if same and all(_converged([getattr(one, side) for one in tried], last.noise) for side in ("left", "right")):
        return OneSidedSlopes("kink", *_without_noise(limits), limits.noise, tried[0].size)
    return None


def _confirmed(found: OneSidedSlopes, last: DifferenceQuotients, others: list[DifferenceQuotients]) -> OneSidedSlopes:
    """Check a kink with steps that round differently: a real one shows the same gap, cancelling parts of f do not."""
    gap = found.right - found.left
    bend = (last.right - last.left - gap) / last.h
    errors = (abs(other.right - other.left - gap - bend * other.h) - 2 * other.noise for other in others)
    return found if all(error <= 0.1 * abs(gap) for error in errors) else replace(found, kind="smooth", noise=abs(gap))


def _vanishes(tried: list[DifferenceQuotients]) -> bool:
    return abs(tried[-1].middle) <= abs(tried[0].middle) / 2


def _undecided(tried: list[DifferenceQuotients]) -> OneSidedSlopes:
    """Classify an element for which no step was small enough: a slope without limit, or f not finite on one side."""
    last = tried[-1]
    size = max((one.size for one in tried if one.finite), default=0.0)
    left, right = _limit(tried, "left"), _limit(tried, "right")
    if math.isnan(left) or math.isnan(right):
        return OneSidedSlopes("edge", left, right, last.noise, size)
    if math.isinf(left) or math.isinf(right):
        jump = any(_jumps(tried, side) for side in ("left", "right"))
        return OneSidedSlopes("jump" if jump else "steep", left, right, last.noise, size)
    near = abs(right - left) <= 1e-3 * max(abs(left), abs(right)) + 2 * last.noise
    return OneSidedSlopes("smooth" if near else "kink", left, right, last.noise, size, vanishing=_vanishes(tried))


def _limit(tried: list[DifferenceQuotients], side: str) -> float:
    """Return the limit of the slopes on one side: nan if f is not finite there, infinite if they only grow."""
    slopes = [getattr(one, side) for one in tried]
    if not math.isfinite(slopes[-1]):
        return math.nan
    finite = [slope for slope in slopes if math.isfinite(slope)]
    first = max(abs(slope) for slope in (tried[0].left, tried[0].right) if math.isfinite(slope))
    if len(finite) < 3 or abs(finite[-1]) > 3 * max(first, 2 * tried[-1].noise):
        return math.copysign(math.inf, finite[-1])
    # Use the first steps at which the slope has converged: smaller steps have more rounding error.
    enough = next((n for n in range(3, len(finite) + 1) if _converged(finite[:n], tried[n - 1].noise)), None)
    if enough is None:  # so close to a kink that rounding hides it: use a larger step
        return 0.0 if abs(finite[1]) <= 1e-9 * first else finite[1]
    one, two, three = finite[enough - 3 : enough]
    last, before = three - two, two - one
    limit = three - (last * last / (last - before) if last != before else 0.0)  # of a geometric sequence (Aitken)
    return 0.0 if abs(limit) <= 1e-9 * max(map(abs, finite)) + 2 * tried[enough - 1].noise else limit


def _converged(slopes: list[float], noise: float) -> bool:
    """Return whether the slope converges: its changes from step to step have ended, or shrink."""
    last, before = (abs(slopes[-k] - slopes[-k - 1]) for k in (1, 2))
    return last <= 4 * noise + 1e-10 * abs(slopes[-1]) or last <= MAX_RATIO * before


def _jumps(tried: list[DifferenceQuotients], side: str) -> bool:
    """Return whether f jumps: its change stays the same however small the step is."""
    last, before = (getattr(one, side) * one.h for one in (tried[-1], tried[-2]))
    return bool(last) and abs(last - before) <= 0.01 * abs(last)


def _without_noise(limits: DifferenceQuotients) -> tuple[float, float]:
    """Return the left and right slopes, with 0 for those that are only rounding."""
    floor = 2 * limits.noise + 1e-9 * max(abs(limits.left), abs(limits.right))
    left, right = (0.0 if abs(one) <= floor else one for one in (limits.left, limits.right))
    return left, right


def _change(after: np.ndarray, before: np.ndarray) -> np.ndarray:
    change = after - before
    if not np.isnan(change).any():
        return change
    same = (after == before) | (np.isnan(after) & np.isnan(before))
    return np.where(same, 0.0, change)


def _total(values: np.ndarray) -> float:
    return float(values.sum(dtype=np.float64))


def _total_size(weights: np.ndarray, values: np.ndarray) -> float:
    """Add up the weighted sizes of the values that are finite."""
    total = _total(weights * np.abs(values))
    return total if math.isfinite(total) else _total(weights * np.where(np.isfinite(values), np.abs(values), 0.0))
