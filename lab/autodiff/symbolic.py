"""Differentiate formulas symbolically, and count how long the derivative gets.

A formula is a number, the name of an input, or an operation with its operands: ("*", "a", ("sin", "a")). A part that
occurs several times is one object, so the length can be counted without writing the formula out; on paper, each
occurrence is written again, and that is what grows.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.operation_table import FORMULA_NAMES, OPS
from model import Tensor, topological_order

Formula = float | str | tuple[Any, ...]

MAX_WRITTEN = 200  # operations in a formula that is written out
SIGNS: Mapping[str, type[ast.operator]] = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "**": ast.Pow}


class NoFormula(ValueError):
    """A function that cannot be written as a formula here; the message says why."""


# ---------------------------------------------------------------- what a formula is made of

VALUES: Mapping[str, Callable[..., Any]] = {
    **FORMULA_NAMES,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
    "sqrt": np.sqrt,
    "softplus": lambda a: np.logaddexp(0.0, a),
    "relu": lambda a: np.maximum(a, 0.0),
    "abs": np.abs,
}
RULED = tuple(op for op in OPS if op in VALUES)  # the operations with a local derivative in lab/operation_table.py


# ---------------------------------------------------------------- a function as a formula, and its derivative


def repeated(function: Callable[..., Tensor], name: str, times: int) -> Callable[..., Tensor]:
    """Compose a function with itself `times` times: each result becomes the value of `name` in the next call."""

    def build(**tensors: Tensor) -> Tensor:
        result = function(**tensors)
        for _ in range(times - 1):
            result = function(**{**tensors, name: result})
        return result

    return build


def formula(result: Tensor, leaves: Mapping[str, Tensor]) -> Formula:
    """Return the formula of a graph of model.py. Raises NoFormula if it has arrays, or an operation without a rule."""
    names = {id(leaf): name for name, leaf in leaves.items()}
    found: dict[int, Formula] = {}
    for tensor in topological_order(result):
        if tensor.ndim:
            raise NoFormula(f"A formula is written for single numbers; a value here has shape {tensor.shape}.")
        if tensor.children:
            if tensor.op not in RULED:
                raise NoFormula(f"There is no rule for `{tensor.op}` here; there is one for {', '.join(RULED)}.")
            found[id(tensor)] = (tensor.op, *(found[id(child)] for child in tensor.children))
        else:
            found[id(tensor)] = names.get(id(tensor), tensor.item())
    return found[id(result)]


def derivative(of: Formula, name: str) -> Formula:
    """Differentiate a formula with respect to a name by the chain rule, without simplifying.

    Each operand that contains the name adds a term: the local derivative times the operand's own derivative.
    """
    found: dict[int, Formula | None] = {}
    for part in _parts(of):
        if not isinstance(part, tuple):
            found[id(part)] = 1.0 if part == name else None
            continue
        op, *operands = part
        total: Formula | None = None
        for at, operand in enumerate(operands):
            inner = found[id(operand)]
            if inner is not None:
                rule = ast.parse(OPS[op].derivative(at).formula, mode="eval").body
                term = ("*", _filled(rule, {"a": operands[0], "b": operands[-1], "y": part}), inner)
                total = term if total is None else ("+", total, term)
        found[id(part)] = total
    result = found[id(of)]
    return 0.0 if result is None else result


def _filled(rule: ast.expr, operands: Mapping[str, Formula]) -> Formula:
    """Return a local derivative of lab/operation_table.py as a formula of the operands a and b and the result y."""
    match rule:
        case ast.Constant(value=float() | int() as number):
            return float(number)
        case ast.Name(id=name):
            return operands[name]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float() | int() as number)):
            return -float(number)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return ("neg", _filled(inner, operands))
        case ast.BinOp(left=left, op=sign, right=right):
            (name,) = (name for name, kind in SIGNS.items() if isinstance(sign, kind))
            return (name, _filled(left, operands), _filled(right, operands))
        case ast.Call(func=ast.Name(id="zero_where"), args=[_, inner]):  # a convention, where there is no derivative
            return _filled(inner, operands)
        case ast.Call(func=ast.Name(id=function), args=[inner]):
            return (function, _filled(inner, operands))
    raise NoFormula(f"There is no formula for {ast.unparse(rule)}.")


def _parts(of: Formula) -> list[Formula]:
    """List each object in a formula once, after its operands. No recursion: a formula may be very deep."""
    order: list[Formula] = []
    seen: set[int] = set()
    stack: list[tuple[Formula, bool]] = [(of, False)]
    while stack:
        part, placed = stack.pop()
        if placed:
            order.append(part)
        elif id(part) not in seen:
            seen.add(id(part))
            stack.append((part, True))
            if isinstance(part, tuple):
                stack += [(operand, False) for operand in part[1:]]
    return order


# ---------------------------------------------------------------- its length, text and value


def _folded(of: Formula, leaf: Callable[[Any], Any], apply: Callable[..., Any]) -> Any:
    """Replace each name and number by leaf(it), and each operation by apply(its name, *its operands replaced)."""
    found: dict[int, Any] = {}
    for part in _parts(of):
        if isinstance(part, tuple):
            found[id(part)] = apply(part[0], *(found[id(operand)] for operand in part[1:]))
        else:
            found[id(part)] = leaf(part)
    return found[id(of)]


def operations(of: Formula) -> int:
    """Count the operations in a formula as written on paper: each part counts as often as it occurs."""
    count: int = _folded(of, lambda part: 0, lambda op, *each: 1 + sum(each))
    return count


def text(of: Formula) -> str:
    """Write a formula as Python does; "" if it is too long."""

    def written(op: str, *operands: ast.expr) -> ast.expr:
        if op == "neg":
            return ast.UnaryOp(ast.USub(), *operands)
        if op in SIGNS:
            return ast.BinOp(operands[0], SIGNS[op](), operands[1])
        return ast.Call(ast.Name(op), [*operands], [])

    if operations(of) > MAX_WRITTEN:
        return ""
    whole = _folded(of, lambda part: ast.Name(part) if isinstance(part, str) else ast.Constant(part), written)
    return re.sub(r"(?<=\d)\.0\b", "", ast.unparse(whole))  # 2 for 2.0


def value(of: Formula, point: Mapping[str, float]) -> float:
    """Compute the value of a formula at a point, in floats; the result may be inf or nan."""
    with np.errstate(all="ignore"):
        return float(_folded(of, lambda part: np.float64(point.get(part, part)), lambda op, *each: VALUES[op](*each)))


# ---------------------------------------------------------------- how it grows


@dataclass(frozen=True)
class Growth:
    """The numbers of operations for a function composed with itself `times` times.

    function, derivative  in the formulas on paper
    forward, backward     in automatic differentiation: operations that run, rules that pass a gradient on
    """

    times: int
    function: int
    derivative: int
    forward: int
    backward: int


def growth(function: Callable[..., Tensor], point: Mapping[str, float], name: str, most: int) -> list[Growth]:
    """Return the growth for 1, 2, ... `most` times. Raises NoFormula."""
    grown = []
    for times in range(1, most + 1):
        leaves = {key: Tensor(number, label=key) for key, number in point.items()}
        result = repeated(function, name, times)(**leaves)
        written = formula(result, leaves)
        nodes = [tensor for tensor in topological_order(result) if tensor.children]
        rules = sum(node.closure is not None for node in nodes)  # backward() calls each once
        grown.append(Growth(times, operations(written), operations(derivative(written, name)), len(nodes), rules))
    return grown
