"""`gradcheck`: compare the gradients of a backward pass with finite differences, element by element."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.gradcheck.finite_differences import ElementName, best_step, float_copy
from lab.gradcheck.report import InputResult, Report, input_name
from lab.gradcheck.rounding import sensitivity, spread
from lab.gradcheck.slopes import KnownGraph, judge, sides, sides_without_value
from model import Tensor, topological_order


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
        self.arrays = {name: float_copy(value) for name, value in points.items()}
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
            name: self._tensor(array, requires_grad=name in self.checked, label=input_name(name))
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
        used = float(analytic[index]) if analytic is not None and analytic.shape == point.shape else np.nan
        found = sides_without_value(centre)
        if found is None or centre.size > 1:
            step = h if h is not None else best_step("central", at[index], centre.dtype)
            moving = sides(evaluate, centre, at, index, step, cotangent, precision.eps, graph.inside)
            # An output that is nan stays nan, whether it depends on the element or not: only the gradient can tell.
            depends = (moving.still and used != 0) or not np.isfinite(used)
            found = found if found and depends else moving
        steepest = max((abs(one) for one in (found.left, found.right) if np.isfinite(one)), default=0.0)
        tolerance = precision.atol + precision.rtol * steepest + found.noise
        slopes.append(judge(found, ElementName(input_name(name), index), used, float(tolerance), graph))
    if gradient is not None and not problem and any(slope.kind in ("differs", "rounded") for slope in slopes):
        spreads = np.ravel(spread(rerun, tensor) / abs(weight))
        slopes = [
            slope.with_spread(float(by)) if slope.kind in ("differs", "rounded") else slope
            for slope, by in zip(slopes, spreads, strict=True)
        ]
    return InputResult(name, point.shape, point.dtype, analytic, tuple(slopes), problem)


def _problem(name: Hashable, point: np.ndarray, gradient: object) -> str:
    """Return a sentence about a gradient that is missing or has the wrong shape or dtype, or ""."""
    called = input_name(name)
    if gradient is None:
        return f"no gradient reached {called}: f does not use it, or the graph is cut (detach, no_grad, a constant)."
    grad = np.asarray(gradient)  # a broken engine may leave a plain number
    if grad.shape != point.shape:
        return f"the gradient of {called} has shape {grad.shape}, but {called} has shape {point.shape}."
    if grad.dtype != point.dtype:
        return f"the gradient of {called} is {grad.dtype}, but {called} is {point.dtype}."
    return ""


def _kind(value: object) -> str:
    return "nothing (None)" if value is None else f"a {type(value).__name__}"
