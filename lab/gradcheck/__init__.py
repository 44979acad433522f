"""Check the gradients of the engine's backward pass against finite differences.

A derivative can be computed in two ways: by the chain rule (`backward()`, exact up to rounding, one pass for all
inputs) and by moving one element a little and watching the output (slow, approximate, but too simple to be wrong).
`gradcheck` computes both and compares them element by element.

What makes the comparison fair:

- Random cotangent. The output may have any shape; it is not summed but weighted by a fixed random array v, so that
  `backward(v)` is compared with the differences of sum(v * f(x)). A plain sum is blind to softmax, whose rows always
  sum to one. The weights are never near zero, so no output element is left out. The weight of a single output is a
  power of two and is divided out again, exactly, so that the report shows the derivatives themselves.
- Step size. A central difference has a truncation error of order h**2 and a rounding error of order eps / h; they
  balance at h = cbrt(eps), times max(1, |x|), which is the default. The rounding error is added to the tolerance.
- float32. A difference of two float32 numbers keeps only a few digits. So backward() runs in float32, the differences
  run on float64 copies of the same inputs, and the tolerance is that of a float32 result. The report says so.
- Kinks. If the slopes on the left and on the right still differ when h shrinks, the function has no derivative. Any
  slope between the two is then accepted and the element is reported as a kink (relu at 0, the tie of a maximum): see
  lab/gradcheck/slopes.py.
- Nothing to judge. If gradient and difference are both below the tolerance, they prove nothing. If that holds for
  every element, the outcome is "not judged", and the report is not truthy.
- Rounding inside. (x + 1e8) - 1e8 loses the digits of x that 1e8 has no room for, so its differences are noise. The
  noise is estimated from the values inside f, times their gradients; if it hides the slope, the report says so.
- Rounding in backward(). If gradient and slope disagree, both passes run again with each number rounded another way.
  If that moves the gradient just as far, the gradient proves nothing, and the check does not pass.
- The inputs are only read. f gets leaves made from copies.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from lab.gradcheck.rounding import sensitivity, spread
from lab.gradcheck.slopes import (
    NO_VALUE,
    WITHOUT_DERIVATIVE,
    KnownGraph,
    Slope,
    judge,
    moved,
    sides,
    sides_without_value,
)
from lab.text import with_minus
from model import Tensor, topological_order

# Kinds of slope that cannot confirm a gradient -> how the report describes their elements.
REMARKABLE: Mapping[tuple[str, ...], str] = {
    WITHOUT_DERIVATIVE: "without a derivative",
    ("rounded",): "whose slope rounding hides",
    ("small",): "that are too small to be judged",
}


UNJUDGED = ("rounded", "small")  # kinds of slope that prove nothing, but contradict nothing either
Outcome = Literal["passed", "failed", "not judged"]
MARKS: Mapping[Outcome, str] = {"passed": "✓ passes", "failed": "✗ fails", "not judged": "– not judged"}


@dataclass(frozen=True)
class Element:
    """One element of one input: its analytic and numerical derivative, and the error between them.

    error: |analytic - numerical|; if there is no derivative, the distance from analytic to the range between the left
        and right slopes; nan if f has no value there.
    """

    input: Hashable
    index: tuple[int, ...]
    analytic: float
    numerical: float
    error: float
    tolerance: float
    slope: Slope

    @property
    def name(self) -> str:
        """The element as Python writes it: `W[0, 2]`, `a` for a 0-d input, `input 0[3]` for one without a name."""
        return self.slope.element

    @property
    def kink(self) -> bool:
        """Whether f has a value here but no derivative."""
        return self.slope.kind in WITHOUT_DERIVATIVE


@dataclass(frozen=True)
class InputResult:
    """The check of one input. All arrays have the input's shape; `analytic` is None when no gradient arrived.

    left, right: the slope just left and just right of the point. numerical: their mean, the central difference.
    slopes: the finding for each element, in reading order. error: see Element.
    problem: a fault other than a wrong number (no gradient, wrong shape, wrong dtype), or "".
    """

    name: Hashable
    shape: tuple[int, ...]
    dtype: np.dtype
    analytic: np.ndarray | None
    slopes: tuple[Slope, ...]
    problem: str

    @cached_property
    def left(self) -> np.ndarray:
        return self._array([slope.left for slope in self.slopes])

    @cached_property
    def right(self) -> np.ndarray:
        return self._array([slope.right for slope in self.slopes])

    @cached_property
    def tolerance(self) -> np.ndarray:
        return self._array([slope.tolerance for slope in self.slopes])

    @cached_property
    def kink(self) -> np.ndarray:
        """Marks the elements where f has a value but no derivative."""
        return self._array([slope.kind in WITHOUT_DERIVATIVE for slope in self.slopes], bool)

    @cached_property
    def numerical(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # inf - inf
            return self.left / 2 + self.right / 2

    @cached_property
    def error(self) -> np.ndarray:
        if self.analytic is None or self.analytic.shape != self.shape:
            return np.full(self.shape, np.nan)
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        with np.errstate(invalid="ignore"):
            outside = np.maximum(np.maximum(low - self.analytic, self.analytic - high), 0.0)
            return np.where(self.kink, outside, np.abs(self.analytic - self.numerical))

    @cached_property
    def passed(self) -> bool:
        lost = any(slope.kind == "lost" for slope in self.slopes)
        return not self.problem and not lost and bool(np.all(self.error <= self.tolerance))

    @cached_property
    def unjudged(self) -> bool:
        """Whether no element proves anything: the slopes are too small, or hidden by rounding."""
        return all(slope.kind in UNJUDGED for slope in self.slopes)

    @cached_property
    def worst(self) -> Element | None:
        """The element with the largest error relative to its tolerance (NaN first), without those that pass because
        there is nothing to compare. None if no others are left."""
        with np.errstate(invalid="ignore"):
            excess = self.error / self.tolerance
        excess = np.where(np.isnan(excess), np.inf, excess)
        nothing = self._array([slope.kind not in ("smooth", "lost", "differs") for slope in self.slopes], bool)
        excess = np.where(nothing & (excess <= 1), -1.0, excess)
        if not excess.size or excess.max() < 0:
            return None
        return self.element(tuple(int(i) for i in np.unravel_index(np.argmax(excess), self.shape)))

    def element(self, index: tuple[int, ...]) -> Element:
        """Return the comparison at one index of this input."""
        gradient = self.analytic
        return Element(
            input=self.name,
            index=index,
            analytic=float(gradient[index]) if gradient is not None and gradient.shape == self.shape else np.nan,
            numerical=float(self.numerical[index]),
            error=float(self.error[index]),
            tolerance=float(self.tolerance[index]),
            slope=self.slopes[int(np.ravel_multi_index(index, self.shape)) if index else 0],
        )

    def _array(self, numbers: list[Any], dtype: type = float) -> np.ndarray:
        return np.array(numbers, dtype).reshape(self.shape)


@dataclass(frozen=True)
class Report:
    """The outcome of `gradcheck`: truthy if every input passed, and some element was judged.

    `str(report)` is the verdict and a table.

    inputs: one InputResult per differentiable input, by name (or by position if the inputs had no names).
    notes: facts that a reader needs to judge the verdict (tolerance, precision). failure: why it could not run, or "".
    """

    inputs: Mapping[Hashable, InputResult]
    notes: tuple[str, ...]
    failure: str = ""

    @cached_property
    def outcome(self) -> Outcome:
        """Whether the gradients agree with the differences; "not judged" if no element has a slope that can tell."""
        if self.failure or not all(result.passed for result in self.inputs.values()):
            return "failed"
        unjudged = bool(self.slopes) and all(result.unjudged for result in self.inputs.values())
        return "not judged" if unjudged else "passed"

    @property
    def answer(self) -> bool | None:
        """True if passed, False if failed, None if not judged."""
        return {"passed": True, "failed": False}.get(self.outcome)

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    def __bool__(self) -> bool:
        return self.passed

    @cached_property
    def worst(self) -> Element | None:
        """The worst element of all inputs, taken from a failed input if there is one."""
        found = [(not result.passed, result.worst) for result in self.inputs.values() if result.worst]
        rank = [(failed, np.inf if np.isnan(e.error) else e.error / e.tolerance) for failed, e in found]
        return found[rank.index(max(rank))][1] if found else None

    @property
    def slopes(self) -> list[Slope]:
        """The finding for each element, input by input."""
        return [slope for result in self.inputs.values() for slope in result.slopes]

    @property
    def kinks(self) -> list[Element]:
        """The elements where the function has a value but no derivative."""
        return [
            result.element(tuple(int(i) for i in index))
            for result in self.inputs.values()
            for index in np.argwhere(result.kink)
        ]

    @cached_property
    def verdict(self) -> str:
        """The result in words: whether backward() agrees with the differences, where it is furthest off, and where
        there is nothing to compare."""
        if self.failure:
            return f"The check failed: {self.failure}"
        for result in self.inputs.values():
            if result.problem:
                return f"The check failed: {result.problem}"
        return self._disagreement() if self.outcome == "failed" else self._agreement()

    def _disagreement(self) -> str:
        worst = self.worst
        assert worst is not None, "a failed input has a worst element"
        if worst.slope.kind in (*NO_VALUE, "edge"):
            return f"There is nothing to compare. {worst.slope.sentence} Move the input."
        if worst.kink or not np.isfinite(worst.analytic):
            return f"The check failed. {worst.slope.sentence}"
        if worst.slope.kind == "lost":
            return worst.slope.sentence
        return (
            f"The gradients disagree, most at {worst.name}: backward() gives {with_minus(f'{worst.analytic:.6g}')}, "
            f"the differences give {with_minus(f'{worst.numerical:.6g}')}, "
            f"an error of {with_minus(f'{worst.error:.2g}')}."
        )

    def _agreement(self) -> str:
        if not self.slopes:
            return "The gradients agree: the inputs have no elements, and the shapes are right."
        sentences = []
        count = sum(slope.kind == "smooth" for slope in self.slopes)
        if count and self.worst:
            sentences.append(
                f"The gradients agree on {count} {'element' if count == 1 else 'elements'}; "
                f"the largest error is {with_minus(f'{self.worst.error:.2g}')}, at {self.worst.name}."
            )
        for kinds, what in REMARKABLE.items():
            found = [one for one in self.slopes if one.kind in kinds]
            sentences += [one.sentence for one in found[:1]]
            sentences += [f"Other elements {what}: {len(found) - 1}."] if len(found) > 1 else []
        return " ".join(sentences)

    def __str__(self) -> str:
        rows = [["input", "shape", "dtype", "worst element", "backward()", "numerical", "error", "verdict"]]
        for name, result in self.inputs.items():
            worst = result.worst
            numbers = [f"{worst.analytic:.8g}", f"{worst.numerical:.8g}", f"{worst.error:.2g}"] if worst else ["-"] * 3
            verdict = "WRONG" if not result.passed else "not judged" if result.slopes and result.unjudged else "ok"
            where = worst.name if worst else "-"
            rows.append([_input_name(name), str(result.shape), str(result.dtype), where, *numbers, verdict])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        remarks = [slope.sentence for slope in self.slopes if slope.kind not in ("smooth", "differs")]
        return "\n".join([self.verdict, "", *table, "", *self.notes, *remarks])


@np.errstate(all="ignore")  # f may be undefined at or near a point: the report says so, not a warning
def gradcheck(
    f: Callable[..., Tensor],
    inputs: Mapping[str, object] | Sequence[object],
    *,
    h: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    tensor: type[Tensor] = Tensor,
) -> Report:
    """Compare the gradients that backward() gives with numerical differences, element by element.

    f: called with Tensors, one per input (by keyword when `inputs` is a dict, else by position); returns a Tensor of
        any shape. It must compute from the tensors it is given and give the same value each time.
    inputs: arrays, numbers or Tensors: a dict by name, a sequence, or a single one. float32 stays float32, everything
        else becomes float64. A Tensor that requires no gradient is passed on as a constant and not checked.
    h: the step, absolute; by default cbrt(eps) * max(1, |x|) for each element.
    rtol, atol: an element passes when |analytic - numerical| <= atol + rtol * |slope| + what rounding can do.
        Defaults: 1e-6 and 1e-8; with float32 inputs 1e-4 and 1e-5.
    seed: random seed of the cotangent.
    tensor: the class of the leaves, for checking an engine that is a subclass of Tensor.

    Fails (without raising) on a wrong element, None, NaN, a wrong shape or dtype, an error raised by backward().
    Raises TypeError if f returns no Tensor, ValueError for a bad h or for inputs with nothing to check.
    """
    if h is not None and not 0 < h < np.inf:
        raise ValueError(f"The step h must be a positive number, not {h}.")
    function = _Function(f, inputs, tensor)

    # The analytic side: one forward pass, one backward pass, in the precision of the inputs.
    leaves = function.leaves()
    output = function(leaves)
    here, graph = output.numpy(), KnownGraph.of(output)
    interior = [node for node in topological_order(output) if node.op]
    cotangent, weight = random_cotangent(here, seed)
    try:
        output.backward(cotangent)
    except Exception as error:  # any error that a broken engine raises is a finding about that engine
        return Report({}, (), f"backward() raised {type(error).__name__}: {error}")

    inside = sensitivity((node.numpy(), node.grad) for node in interior) / abs(weight)
    graph = replace(graph, inside=inside)

    # The numerical side, in float64, unless f itself falls back to float32.
    centre = function.at({})
    if centre.shape != here.shape or not np.allclose(centre, here, rtol=1e-3, atol=1e-5, equal_nan=True):
        return Report({}, (), "f gives another value when it is called again with the same inputs.")
    precision = Precision.of([function.arrays[name].dtype for name in function.checked], centre, rtol, atol)
    results = {
        name: compare(
            lambda moved, name=name: function.at({name: moved}),  # type: ignore[misc]
            name,
            function.arrays[name],
            leaves[name].grad,
            centre,
            cotangent / weight,
            graph,
            weight=weight,
            h=h,
            precision=precision,
            rerun=lambda kind, name=name: _gradient(_Function(f, inputs, kind), name, cotangent),  # type: ignore[misc]
            tensor=tensor,
        )
        for name in function.checked
    }
    return Report(results, tuple(precision.notes()))


def _gradient(function: _Function, name: Hashable, cotangent: np.ndarray) -> np.ndarray | None:
    """Run both passes and return the gradient of one input."""
    leaves = function.leaves()
    function(leaves).backward(cotangent)
    return leaves[name].grad


class _Function:
    """The function f with the point at which it is checked: inputs by name, or by position if they have no names.

    arrays   all inputs as float arrays, copied
    checked  the names of those that require a gradient
    """

    def __init__(self, f: Callable[..., Tensor], inputs: object, tensor: type[Tensor]) -> None:
        self._f, self._tensor = f, tensor
        self._named = isinstance(inputs, Mapping)
        single = isinstance(inputs, Tensor | np.ndarray) or np.isscalar(inputs)
        points: dict[Hashable, object] = dict(
            inputs if isinstance(inputs, Mapping) else enumerate([inputs] if single else inputs)  # type: ignore[arg-type]
        )
        self.checked = [name for name, value in points.items() if getattr(value, "requires_grad", True)]
        self.arrays = {name: _float_copy(value) for name, value in points.items()}
        if not self.checked:
            raise ValueError("There is nothing to check: none of the inputs requires a gradient.")

    def __call__(self, leaves: Mapping[Hashable, Tensor]) -> Tensor:
        output = self._f(**{str(n): x for n, x in leaves.items()}) if self._named else self._f(*leaves.values())
        if not hasattr(output, "backward"):
            raise TypeError(f"f must return a Tensor, so that backward() can run; it returned {_kind(output)}.")
        return output

    def leaves(self) -> dict[Hashable, Tensor]:
        """Return the inputs as new leaves in their own precision; those in `checked` require a gradient."""
        return {
            name: self._tensor(array, requires_grad=name in self.checked, label=_input_name(name))
            for name, array in self.arrays.items()
        }

    def at(self, moved: Mapping[Hashable, np.ndarray]) -> np.ndarray:
        """Compute the output in float64 with some inputs replaced. Builds no graph: no leaf requires a gradient."""
        arrays = {name: moved.get(name, array.astype(np.float64)) for name, array in self.arrays.items()}
        return self({name: self._tensor(array, requires_grad=False) for name, array in arrays.items()}).numpy()


def random_cotangent(output: np.ndarray, seed: int = 0) -> tuple[np.ndarray, float]:
    """Draw random weights for an output's elements; also return the factor to divide out, 1 for several elements."""
    rng = np.random.default_rng(seed)
    cotangent = rng.choice([-1.0, 1.0], output.shape) * rng.uniform(0.5, 1.5, output.shape)
    weight = 1.0
    if output.size == 1:
        weight = float(rng.choice([-2.0, -0.5, 0.5, 2.0]))
        cotangent = np.full(output.shape, weight)
    return np.asarray(cotangent, output.dtype), weight


@dataclass(frozen=True)
class Precision:
    """The tolerance of a comparison, from the precision of the inputs and of f. narrow: float32."""

    eps: float
    rtol: float
    atol: float
    narrow_inputs: bool
    narrow_f: bool

    @classmethod
    def of(cls, dtypes: Sequence[np.dtype], centre: np.ndarray, rtol: float | None, atol: float | None) -> Precision:
        """Choose it from the inputs' dtypes and `centre`, f at the point. rtol, atol: None takes the default."""
        narrow_inputs = any(dtype != np.float64 for dtype in dtypes)
        narrow_f = centre.dtype != np.float64
        if rtol is None:
            rtol = 1e-2 if narrow_f else 1e-4 if narrow_inputs else 1e-6
        if atol is None:
            atol = 1e-3 if narrow_f else 1e-5 if narrow_inputs else 1e-8
        return cls(float(np.finfo(centre.dtype).eps), rtol, atol, narrow_inputs, narrow_f)

    def notes(self) -> list[str]:
        notes = [f"Tolerance: {self.atol:g} + {self.rtol:g} * |slope|, plus rounding."]
        if self.narrow_f:
            notes.append("f computes in float32 even from float64 inputs: the steps and the tolerance are wide.")
        elif self.narrow_inputs:
            notes.append("float32: backward() ran in float32, the differences in float64 copies of the same inputs.")
        return notes


@np.errstate(all="ignore")
def compare(
    evaluate: Callable[[np.ndarray], np.ndarray],
    name: Hashable,
    point: np.ndarray,
    gradient: np.ndarray | None,
    centre: np.ndarray,
    cotangent: np.ndarray,
    graph: KnownGraph,
    *,
    weight: float = 1.0,
    h: float | None = None,
    precision: Precision | None = None,
    rerun: Callable[[type[Tensor]], np.ndarray | None],
    tensor: type[Tensor] = Tensor,
) -> InputResult:
    """Compare the gradient of one input with the numerical slope at each of its elements.

    evaluate: f as a function of this input alone, the other inputs fixed; without a graph, in float64
    gradient: the gradient of sum(weight * cotangent * f), by backward()
    centre: f(point). graph: facts about f. h: the step; by default it suits the precision
    rerun: computes the gradient again with leaves of another class. tensor: the class of the leaves now
    """
    precision = precision or Precision.of([point.dtype], centre, None, None)
    problem = _problem(name, point, gradient)
    analytic = None if gradient is None else np.asarray(gradient) / weight
    at = point.astype(np.float64)
    slopes = []
    for index in np.ndindex(point.shape):
        element = _input_name(name) + (f"[{', '.join(map(str, index))}]" if index else "")
        used = float(analytic[index]) if analytic is not None and analytic.shape == point.shape else np.nan
        found = sides_without_value(centre)
        if found is None or centre.size > 1:
            step = h if h is not None else np.cbrt(precision.eps) * max(1.0, abs(at[index]))
            moving = sides(evaluate, centre, at, index, step, cotangent, precision.eps, graph.inside)
            # An output that is nan stays nan, whether it depends on the element or not: only the gradient can tell.
            depends = (moving.still and used != 0) or not np.isfinite(used)
            found = found if found and depends else moving
        steepest = max((abs(one) for one in (found.left, found.right) if np.isfinite(one)), default=0.0)
        tolerance = precision.atol + precision.rtol * steepest + found.noise
        slopes.append(judge(found, element, used, float(tolerance), graph))
    if gradient is not None and not problem and any(slope.kind in ("differs", "rounded") for slope in slopes):
        spreads = np.ravel(spread(rerun, tensor) / abs(weight))
        slopes = [
            slope.with_spread(float(by)) if slope.kind in ("differs", "rounded") else slope
            for slope, by in zip(slopes, spreads, strict=True)
        ]
    return InputResult(name, point.shape, point.dtype, analytic, tuple(slopes), problem)


@np.errstate(all="ignore")
def numerical_gradient(
    f: Callable[[Any], Any], x: object, h: float | None = None, method: str = "central"
) -> np.ndarray:
    """Estimate the gradient of f at x by finite differences: a float64 array of x's shape.

    f: maps an array, or a Tensor, to one number (a float, or an array or Tensor of one element). If x is a Tensor, f is
        called with Tensors. If x is an array or a number, f is called with arrays, or with Tensors if it needs a method
        that only Tensors have, such as x.relu().
    h: the step; by default cbrt(eps) * max(1, |x|) for central and sqrt(eps) * max(1, |x|) for forward differences.
    method: "central" is (f(x+h) - f(x-h)) / 2h, "forward" is (f(x+h) - f(x)) / h.

    x is only read. Raises ValueError for another method, a bad step, or an f that returns more than one number.
    """
    if method not in ("central", "forward"):
        raise ValueError(f'The method must be "central" or "forward", not {method!r}.')
    if h is not None and not 0 < h < np.inf:
        raise ValueError(f"The step h must be a positive number, not {h}.")
    point = _float_copy(x).astype(np.float64)
    eps = float(np.finfo(np.float64).eps)

    def value(argument: object) -> float:
        result = f(argument)
        number = result.numpy() if hasattr(result, "numpy") else np.asarray(result)
        if number.size != 1:
            raise ValueError(f"f must return one number; it returned an array of shape {number.shape}.")
        return float(number.reshape(()))

    def at_tensor(moved: np.ndarray) -> float:
        return value((type(x) if isinstance(x, Tensor) else Tensor)(moved, requires_grad=False))

    evaluate: Callable[[np.ndarray], float] = value
    if isinstance(x, Tensor):
        evaluate = at_tensor
    else:
        try:
            value(point.copy())
        except (AttributeError, TypeError):
            evaluate = at_tensor

    gradient = np.empty(point.shape)
    for index in np.ndindex(point.shape):
        exponent = 1 / 3 if method == "central" else 1 / 2
        step = h if h is not None else eps**exponent * max(1.0, abs(point[index]))
        above = evaluate(moved(point, index, step))
        if method == "central":
            gradient[index] = (above - evaluate(moved(point, index, -step))) / (2 * step)
        else:
            gradient[index] = (above - evaluate(point.copy())) / step
    return gradient


def _problem(name: Hashable, point: np.ndarray, gradient: object) -> str:
    """Return a sentence about a gradient that is missing or has the wrong shape or dtype, or ""."""
    called = _input_name(name)
    if gradient is None:
        return f"no gradient reached {called}: f does not use it, or the graph is cut (detach, no_grad, a constant)."
    grad = np.asarray(gradient)  # a broken engine may leave a plain number
    if grad.shape != point.shape:
        return f"the gradient of {called} has shape {grad.shape}, but {called} has shape {point.shape}."
    if grad.dtype != point.dtype:
        return f"the gradient of {called} is {grad.dtype}, but {called} is {point.dtype}."
    return ""


def _float_copy(value: object) -> np.ndarray:
    """Copy an array, a number or a Tensor: float32 stays float32, everything else becomes float64."""
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    return np.array(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


def _input_name(name: Hashable) -> str:
    return name if isinstance(name, str) else f"input {name}"


def _kind(value: object) -> str:
    return "nothing (None)" if value is None else f"a {type(value).__name__}"
