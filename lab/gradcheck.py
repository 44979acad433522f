"""Are the gradients right? The engine's backward pass against numerical differences.

A derivative can be had twice: by the chain rule (`backward()`, exact up to rounding, one pass for all inputs) and by
moving one element a little and watching the output (slow, approximate, but too simple to be wrong). `gradcheck`
computes both and compares them element by element.

How the comparison is kept honest:

- Random cotangent. The output may have any shape; it is not summed but weighted by a fixed random array v, so that
  `backward(v)` is compared with the differences of sum(v * f(x)). A plain sum is blind to softmax, whose rows always
  sum to one. The weights are never near zero, so no output element is left out. The weight of a single output is a
  power of two and is divided out again, exactly, so that the report shows the derivatives themselves.
- Step size. A central difference has a truncation error of order h**2 and a rounding error of order eps / h; they
  balance at h = cbrt(eps), times max(1, |x|), which is the default. What rounding can do is added to the tolerance.
- float32. A difference of two float32 numbers keeps only a few digits. So backward() runs in float32, the differences
  run on float64 copies of the same inputs, and the tolerance is that of a float32 result. The report says so.
- Kinks. Where the slopes on the left and on the right still differ when h shrinks, the function has no derivative.
  Any slope between the two is accepted there and the element is reported as a kink (relu at 0, the tie of a maximum).
- The inputs are only read. f gets leaves made from copies.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from model import Tensor

REFINEMENTS = 3  # how often a suspicious step is made eight times smaller before we believe in a kink


@dataclass(frozen=True)
class Element:
    """One element of one input: the two derivatives and how far they are apart."""

    input: Hashable
    index: tuple[int, ...]
    analytic: float
    numerical: float
    error: float
    tolerance: float
    kink: bool

    @property
    def name(self) -> str:
        """How a person writes it: `W[0, 2]`, `a` for a 0-d input, `input 0[3]` for one without a name."""
        place = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return _input_name(self.input) + place


@dataclass(frozen=True)
class InputResult:
    """The check of one input. All arrays have the input's shape; `analytic` is None when no gradient arrived.

    left, right: the slope just left and just right of the point. numerical: their mean, the central difference.
    error: |analytic - numerical|; on a kink, the distance from analytic to the range between left and right.
    problem: what else is wrong (no gradient, wrong shape, NaN...), or "".
    """

    name: Hashable
    shape: tuple[int, ...]
    dtype: np.dtype
    analytic: np.ndarray | None
    left: np.ndarray
    right: np.ndarray
    kink: np.ndarray
    tolerance: np.ndarray
    problem: str

    @cached_property
    def numerical(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # inf - inf: `problem` says that f is not finite here
            return (self.left + self.right) / 2

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
        return not self.problem and bool(np.all(self.error <= self.tolerance))

    @cached_property
    def worst(self) -> Element | None:
        """The element with the largest error in units of its tolerance (NaN first), None for an empty input."""
        if not self.left.size:
            return None
        with np.errstate(invalid="ignore"):
            excess = self.error / self.tolerance
        excess = np.where(np.isnan(excess), np.inf, excess)
        index = tuple(int(i) for i in np.unravel_index(np.argmax(excess), self.shape))
        return self.element(index)

    def element(self, index: tuple[int, ...]) -> Element:
        """The comparison at one index of this input."""
        gradient = self.analytic
        return Element(
            input=self.name,
            index=index,
            analytic=float(gradient[index]) if gradient is not None and gradient.shape == self.shape else np.nan,
            numerical=float(self.numerical[index]),
            error=float(self.error[index]),
            tolerance=float(self.tolerance[index]),
            kink=bool(self.kink[index]),
        )


@dataclass(frozen=True)
class Report:
    """The outcome of `gradcheck`: true when every input passed. `str(report)` is the verdict and a table.

    inputs: one InputResult per differentiable input, by name (or by position when the inputs had no names).
    notes: what a reader must know to judge the verdict (precision, step, kinks).
    """

    inputs: Mapping[Hashable, InputResult]
    notes: tuple[str, ...]
    failure: str = ""

    @cached_property
    def passed(self) -> bool:
        return not self.failure and all(result.passed for result in self.inputs.values())

    def __bool__(self) -> bool:
        return self.passed

    @cached_property
    def worst(self) -> Element | None:
        """The worst element of all inputs: one of a failed input if there is any."""
        found = [(not result.passed, result.worst) for result in self.inputs.values() if result.worst]
        rank = [(failed, np.inf if np.isnan(e.error) else e.error / e.tolerance) for failed, e in found]
        return found[rank.index(max(rank))][1] if found else None

    @property
    def kinks(self) -> list[Element]:
        """Every element where the function has a left and a right slope but no derivative."""
        return [
            result.element(tuple(int(i) for i in index))
            for result in self.inputs.values()
            for index in np.argwhere(result.kink)
        ]

    @cached_property
    def verdict(self) -> str:
        """One sentence: does backward() agree with the differences, and where is it furthest off?"""
        if self.failure:
            return f"The check failed: {self.failure}"
        for result in self.inputs.values():
            if result.problem:
                return f"The check failed: {result.problem}"
        worst = self.worst
        if worst is None:
            return "The gradients agree: the inputs have no elements, and the shapes are right."
        if not self.passed:
            return (
                f"The gradients disagree, most at {worst.name}: backward() gives {worst.analytic:.6g}, "
                f"the differences give {worst.numerical:.6g}, an error of {worst.error:.2g}."
            )
        count, kinks = sum(result.left.size for result in self.inputs.values()), len(self.kinks)
        return (
            f"The gradients agree on {count} {'element' if count == 1 else 'elements'}; "
            f"the largest error is {worst.error:.2g}, at {worst.name}."
            + (f" {kinks} of them at a kink: any slope between the two sides is right there." if kinks else "")
        )

    def __str__(self) -> str:
        rows = [["input", "shape", "dtype", "worst element", "backward()", "numerical", "error", "verdict"]]
        for name, result in self.inputs.items():
            worst = result.worst
            numbers = [f"{worst.analytic:.8g}", f"{worst.numerical:.8g}", f"{worst.error:.2g}"] if worst else ["-"] * 3
            verdict = ("kink, accepted" if worst and worst.kink else "ok") if result.passed else "WRONG"
            where = worst.name if worst else "-"
            rows.append([_input_name(name), str(result.shape), str(result.dtype), where, *numbers, verdict])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([self.verdict, "", *table, "", *self.notes])


@np.errstate(all="ignore")  # at or beside a point f may be undefined: the report says so, not a warning
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
    seed: of the random cotangent.
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
    here = output.numpy()
    cotangent, weight = random_cotangent(here, seed)
    try:
        output.backward(cotangent)
    except Exception as error:  # whatever a broken engine raises is a finding about that engine
        return Report({}, (), f"backward() raised {type(error).__name__}: {error}")

    # The numerical side, in float64, unless f itself falls back to float32.
    centre = function.at({})
    if centre.shape != here.shape or not np.allclose(centre, here, rtol=1e-3, atol=1e-5, equal_nan=True):
        return Report({}, (), "f gives another value when it is called again with the same inputs.")
    precision = _Precision.of(function, centre, rtol, atol)
    results = {
        name: _compared(function, name, leaves[name], centre, cotangent / weight, weight, h, precision)
        for name in function.checked
    }
    return Report(results, (*precision.notes(), *_kink_notes(results)))


class _Function:
    """f and the point at which it is checked: by name, or by position when the inputs have no names.

    arrays   all inputs, each a float array of its own
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
        """The inputs as tensors whose gradients are wanted, in the precision that they came in."""
        return {
            name: self._tensor(array, requires_grad=name in self.checked, label=_input_name(name))
            for name, array in self.arrays.items()
        }

    def at(self, moved: Mapping[Hashable, np.ndarray]) -> np.ndarray:
        """The output, in float64, with some inputs replaced. No graph is built: no leaf requires a gradient."""
        wide = {name: moved.get(name, array.astype(np.float64)) for name, array in self.arrays.items()}
        return self({name: self._tensor(array, requires_grad=False) for name, array in wide.items()}).numpy()


def random_cotangent(output: np.ndarray, seed: int = 0) -> tuple[np.ndarray, float]:
    """The weights of an output's elements, and the one that is divided out again (1 where there are several)."""
    rng = np.random.default_rng(seed)
    cotangent = rng.choice([-1.0, 1.0], output.shape) * rng.uniform(0.5, 1.5, output.shape)
    weight = 1.0
    if output.size == 1:
        weight = float(rng.choice([-2.0, -0.5, 0.5, 2.0]))
        cotangent = np.full(output.shape, weight)
    return np.asarray(cotangent, output.dtype), weight


@dataclass(frozen=True)
class _Precision:
    """What can be expected of the comparison, in the precision that the inputs have and that f keeps."""

    eps: float
    rtol: float
    atol: float
    narrow_inputs: bool
    narrow_f: bool

    @classmethod
    def of(cls, function: _Function, centre: np.ndarray, rtol: float | None, atol: float | None) -> _Precision:
        """rtol, atol: None takes the default for this precision. centre: the output at the point."""
        narrow_inputs = any(function.arrays[name].dtype != np.float64 for name in function.checked)
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


def _compared(
    function: _Function,
    name: Hashable,
    leaf: Tensor,
    centre: np.ndarray,
    cotangent: np.ndarray,
    weight: float,
    h: float | None,
    precision: _Precision,
) -> InputResult:
    """The gradient that one leaf has got, beside the slopes at each of its elements."""
    point = function.arrays[name].astype(np.float64)
    left, right, noise = np.empty(point.shape), np.empty(point.shape), np.empty(point.shape)
    kink = np.zeros(point.shape, dtype=bool)
    for index in np.ndindex(point.shape):
        step = h if h is not None else np.cbrt(precision.eps) * max(1.0, abs(point[index]))
        left[index], right[index], noise[index], kink[index] = _slopes_at(
            lambda moved: function.at({name: moved}), centre, point, index, step, cotangent, precision.eps
        )
    steepest = np.maximum(np.abs(left), np.abs(right))
    return InputResult(
        name=name,
        shape=point.shape,
        dtype=function.arrays[name].dtype,
        analytic=None if leaf.grad is None else np.asarray(leaf.grad) / weight,
        left=left,
        right=right,
        kink=kink,
        tolerance=precision.atol + precision.rtol * steepest + noise,
        problem=_problem(leaf, left, right),
    )


def _kink_notes(results: Mapping[Hashable, InputResult]) -> list[str]:
    return [
        f"Kink at {e.name}: the slope is {results[e.input].left[e.index]:.6g} on the left and "
        f"{results[e.input].right[e.index]:.6g} on the right; backward() gives {e.analytic:.6g}."
        for e in Report(results, ()).kinks
    ]


@np.errstate(all="ignore")
def numerical_gradient(
    f: Callable[[Any], Any], x: object, h: float | None = None, method: str = "central"
) -> np.ndarray:
    """The gradient of f at x by differences: a float64 array of x's shape.

    f: maps an array, or a Tensor, to one number (a float, an array of one element or a Tensor of one element). When x
        is a Tensor, f is called with Tensors. When x is an array or a number, f is called with arrays, or, if it turns
        out to need a method that only Tensors have (such as x.relu()), with Tensors.
    h: the step; by default cbrt(eps) * max(1, |x|) for central and sqrt(eps) * max(1, |x|) for forward differences.
    method: "central" is (f(x+h) - f(x-h)) / 2h, "forward" is (f(x+h) - f(x)) / h.

    x is only read. ValueError for another method, a bad step, or an f that returns more than one number.
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
        above = evaluate(_moved(point, index, step))
        if method == "central":
            gradient[index] = (above - evaluate(_moved(point, index, -step))) / (2 * step)
        else:
            gradient[index] = (above - evaluate(point.copy())) / step
    return gradient


def _slopes_at(
    evaluate: Callable[[np.ndarray], np.ndarray],
    centre: np.ndarray,
    point: np.ndarray,
    index: tuple[int, ...],
    h: float,
    cotangent: np.ndarray,
    eps: float,
) -> tuple[float, float, float, bool]:
    """The slopes of sum(cotangent * f) left and right of one element, what rounding adds to them, and: is it a kink?

    Two slopes that differ can mean three things: the function bends, a kink lies nearby, or a kink lies here. Smaller
    steps tell them apart: with an eighth of h a bend shows an eighth of the difference and a kink nearby falls out of
    reach, but a kink here shows the same difference for ever.
    """
    previous_gap = np.inf
    for _ in range(1 + REFINEMENTS):
        below, above = evaluate(_moved(point, index, -h)), evaluate(_moved(point, index, h))
        # Subtract first, then sum: outputs that do not depend on this element cancel exactly.
        left = float(np.sum(cotangent * (centre - below), dtype=np.float64)) / h
        right = float(np.sum(cotangent * (above - centre), dtype=np.float64)) / h
        moved = np.abs(cotangent) * (above != below)
        noise = eps * float(np.sum(moved * (np.abs(above) + np.abs(below)), dtype=np.float64)) / h
        gap = abs(right - left)
        if gap <= 1e-3 * max(abs(left), abs(right)) + 2 * noise:  # as good as straight: no smaller step needed
            return left, right, noise, False
        persists = previous_gap / 2 < gap < np.inf
        previous_gap = gap
        h /= 8
    return left, right, noise, persists


def _problem(leaf: Tensor, left: np.ndarray, right: np.ndarray) -> str:
    """What is wrong with this leaf's gradient before any number is compared, in a sentence, or ""."""
    grad, name = leaf.grad, leaf.label
    if grad is None:
        return f"no gradient reached {name}: f does not use it, or the graph is cut (detach, no_grad, a constant)."
    grad = np.asarray(grad)  # a broken engine may leave a plain number
    if grad.shape != leaf.shape:
        return f"the gradient of {name} has shape {grad.shape}, but {name} has shape {leaf.shape}."
    if grad.dtype != leaf.dtype:
        return f"the gradient of {name} is {grad.dtype}, but {name} is {leaf.dtype}."
    if not np.all(np.isfinite(grad)):
        return f"the gradient of {name} contains NaN or infinity."
    if not (np.all(np.isfinite(left)) and np.all(np.isfinite(right))):
        return f"f is not finite close to {name}, so there is no difference to compare with. Move the input."
    return ""


def _moved(point: np.ndarray, index: tuple[int, ...], by: float) -> np.ndarray:
    moved = point.copy()
    moved[index] += by
    return moved


def _float_copy(value: object) -> np.ndarray:
    """A copy of an array, a number or a Tensor: float32 stays float32, everything else becomes float64."""
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    return np.array(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


def _input_name(name: Hashable) -> str:
    return name if isinstance(name, str) else f"input {name}"


def _kind(value: object) -> str:
    return "nothing (None)" if value is None else f"a {type(value).__name__}"
