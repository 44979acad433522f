"""Make a running example of every operation: its code, its curves and its gradient check.

Everything is derived from the row in lab/operation_table.py and from the engine, so a new row is enough.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import model
from lab.expression import ExpressionError
from lab.expression.parser import parse
from lab.gradcheck import Report, gradcheck
from lab.operation_table import OPS, Op
from lab.trace.derivation import latex_name
from lab.trace.recording import Trace, record
from lab.trace.schema import Code
from model import Tensor

# What an example writes for each kind of required parameter that is not an operand.
_WRITTEN = {"axis": "0", "flag": "True", "index": "1", "labels": "[0, 2]", "number": "0.5", "ints": "3, 2"}
_SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((2, 3), (2, 3), (2, 3)),
    ((2, 3), (3, 2), (2,)),  # for matrix products
    ((3,), (3,), (3,)),
    ((), (), ()),
)


@dataclass(frozen=True)
class OperandRule:
    """The derivative with respect to one operand, written with the names of an example; g is the upstream gradient.

    message  the text is the whole message, not the local derivative
    """

    operand: str
    operand_latex: str
    text: str
    latex: str
    message: bool


@dataclass(frozen=True)
class Example:
    """A call of one operation on small random inputs.

    text    the call as an expression, unless only a layer makes the operation
    build   computes it from a Tensor for each input, as keywords
    values  name -> array: the operands, in order
    """

    op: Op
    text: str
    build: Callable[..., Tensor]
    values: dict[str, np.ndarray]

    def check(self) -> Report:
        """Compare its gradients with numerical ones."""
        return gradcheck(self.build, self.values)

    def record(self) -> tuple[Trace, np.ndarray]:
        """Record a forward and a backward pass; also return the upstream gradient, 1, 2, 3, ..."""
        with np.errstate(all="ignore"):
            shape = self.build(**{name: Tensor(value) for name, value in self.values.items()}).shape
        upstream = np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)
        return record(self.build, self.values, upstream), upstream

    def rules(self) -> list[OperandRule]:
        """Return the derivative with respect to each operand, from the row in lab/operation_table.py."""
        names = list(self.values)
        called = {"a": names[0], "b": names[1] if len(names) > 1 else "", "y": "y", "g": "g"}
        found = []
        for operand, name in enumerate(names):
            derivative = self.op.derivative(operand)
            words = called | ({"a": name} if self.op.kind == "joining" else {})
            symbols = {key: latex_name(word) if word else "" for key, word in words.items()}
            text, latex = derivative.text.format(**words), derivative.latex.format(**symbols)
            found.append(OperandRule(name, latex_name(name), text, latex, derivative.reads("g")))
        return found


def example(op: Op, seed: int = 0, ops: Mapping[str, Op] = OPS) -> Example:
    """Make an example with small random inputs on which the operation has a finite value and finite gradients.

    Raises LookupError if none is found.
    """
    text = op.example or _written(op)
    if op.form == "layer":
        build, names = op.function, list(op.signature)
    else:
        try:
            build = parse(text, ops)
        except ExpressionError as error:
            raise LookupError(f"There is no example of {op.name}: {error.message}") from error
        names = build.names
    rng = np.random.default_rng(seed)
    for shapes, positive in itertools.product(_SHAPES, (False, True)):
        values = {}
        for name, shape in zip(names, shapes, strict=False):
            drawn = rng.uniform(0.4, 2.0, shape) if positive else rng.uniform(-2.0, 2.0, shape)
            values[name] = np.round(drawn, 2)
        if len(values) == len(names) and _is_finite(build, values):
            return Example(op, text, build, values)
    raise LookupError(f"There is no example of {op.name}: no small inputs were found that `{text}` takes.")


def _is_finite(build: Callable[..., Tensor], values: Mapping[str, np.ndarray]) -> bool:
    leaves = {name: Tensor(value, label=name) for name, value in values.items()}
    with np.errstate(all="ignore"):
        try:
            result = build(**leaves)
            result.backward(np.ones(result.shape))
        except (ExpressionError, ValueError, TypeError, IndexError):
            return False
    gradients = [leaf.grad for leaf in leaves.values() if leaf.grad is not None]
    return all(np.all(np.isfinite(array)) for array in (result.numpy(), *gradients))


def _written(op: Op) -> str:
    """Write a call of the operation with names for its operands, without optional parameters."""
    values = [name for name, kind in op.signature.items() if kind in ("value", "prediction")]
    arguments, ints = [], itertools.count()
    for name, kind in op.signature.items():
        if kind in ("value", "prediction"):
            arguments.append(name)
        elif kind == "values":
            arguments.append("[a, b]")
        elif kind == "condition":
            arguments.append(f"{' > '.join(values[:2])}" if len(values) > 1 else f"{values[0]} > 0")
        elif kind == "int":
            arguments.append(str(next(ints)))
        elif not kind.endswith("?"):
            arguments.append(_WRITTEN[kind])
    first, *others = arguments
    if op.form == "infix":
        return f"{first} {op.name} {others[0]}"
    if op.form == "prefix":
        return f"-{first}"
    if op.form == "property":
        return f"{first}.{op.name}"
    if op.form == "index":
        return f"{first}[{others[0]}]"
    return f"{op.name}({', '.join(arguments)})"


# ---------------------------------------------------------------- code


def sources(shown: Example, trace: Trace) -> list[Code]:
    """Return the source that ran: of the function that is called, and of the one that made the result if it differs."""
    called, made = entry(shown.op), trace.nodes[trace.output]
    rule = made.get("source", "")
    elsewhere = made["op"] == shown.op.name and rule != called.__qualname__
    return [_code(called), *([trace.sources[rule]] if elsewhere else [])]


def entry(op: Op) -> Callable[..., Any]:
    """Return the function of the engine for an operation: a method of Tensor, or a function of model.py."""
    if op.form in ("infix", "prefix", "index"):
        found: Any = getattr(Tensor, f"__{op.function.__name__}__")
    else:
        found = getattr(Tensor, op.name, None) or getattr(model, op.name, None) or op.function
    if isinstance(found, property):
        found = found.fget
    function: Callable[..., Any] = inspect.unwrap(found)
    return function


@cache  # the files do not change while the lab runs
def _code(function: Callable[..., Any]) -> Code:
    lines, first = inspect.getsourcelines(function)
    text = inspect.cleandoc("\n" + "".join(lines)).split("\n")
    return {"file": function.__code__.co_filename.rpartition("/")[2], "first": first, "lines": text}


def parts(trace: Trace) -> list[str]:
    """List the operations of a pass in the order in which they ran, each once."""
    return list(dict.fromkeys(node["op"] for node in trace.nodes if node["op"]))


# ---------------------------------------------------------------- curves


@dataclass(frozen=True)
class OperationCurve:
    """An operation plotted along one of its numbers: value and derivatives at each x, from the engine.

    slopes  name of an operand's element -> the derivative with respect to it
    """

    x: np.ndarray
    y: np.ndarray
    slopes: dict[str, np.ndarray]


def elements(shown: Example) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Map the name of each element of the operands, such as "x[0, 1]" or "a", to its operand and index."""
    return {
        name + (f"[{', '.join(map(str, index))}]" if index else ""): (name, index)
        for name, value in shown.values.items()
        for index in np.ndindex(value.shape)
    }


def weighted(shown: Example, upstream: np.ndarray) -> Callable[..., Tensor]:
    """Reduce an operation's result to one number: the sum of its elements, each times its upstream gradient."""

    def number(**leaves: Tensor) -> Tensor:
        result = shown.build(**leaves)
        return result * upstream if result.shape == () else (result * upstream).sum()

    return number


def element_curve(shown: Example, upstream: np.ndarray, element: str, x: np.ndarray) -> OperationCurve:
    """Compute the curve of `weighted` as one element of an operand takes each value x, with two passes for each."""
    name, index = elements(shown)[element]
    number, ys, slopes = weighted(shown, upstream), [], []
    for at in x:
        leaves = {label: Tensor(value, label=label) for label, value in moved(shown, element, at).values.items()}
        with np.errstate(all="ignore"):
            result = number(**leaves)
            result.backward()
        gradient = leaves[name].grad
        ys.append(float(result.numpy()))
        slopes.append(0.0 if gradient is None else float(gradient[index]))
    return OperationCurve(x, np.array(ys), {element: np.array(slopes)})


def moved(shown: Example, element: str, x: float) -> Example:
    """Return the example with the value x for one element."""
    name, index = elements(shown)[element]
    array = shown.values[name].copy()
    array[index] = x
    return replace(shown, values=shown.values | {name: array})
