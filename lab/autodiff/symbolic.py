"""Differentiate formulas symbolically: how long the derivative gets, and how much simplifying saves.

A formula is a number, the name of an input, or an operation with its operands: ("*", "a", ("sin", "a")). A part that
occurs several times is one object, so the length can be counted without writing the formula out; on paper, each
occurrence is written again, and that is what grows. SymPy, which is optional, simplifies.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.operation_table import FORMULA_NAMES, OPS
from model import Tensor, topological_order

Formula = float | str | tuple[Any, ...]

MAX_SIMPLIFIED = 2_000  # operations in a formula that SymPy simplifies: with more it takes seconds
INFIX = ("+", "-", "*", "/", "**")


class NoFormula(ValueError):
    """A function that cannot be written as a formula here; the message says why."""


# ---------------------------------------------------------------- what a formula is made of

VALUES: Mapping[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sigmoid": FORMULA_NAMES["sigmoid"],
    "softplus": lambda a: np.logaddexp(0.0, a),
    "relu": lambda a: np.maximum(a, 0.0),
    "step": FORMULA_NAMES["step"],
    "abs": np.abs,
    "sign": np.sign,
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


_SIGNS: Mapping[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


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
            return (_SIGNS[type(sign)], _filled(left, operands), _filled(right, operands))
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


def operations(of: Formula) -> int:
    """Count the operations in a formula as written on paper: each part counts as often as it occurs."""
    found: dict[int, int] = {}
    for part in _parts(of):
        found[id(part)] = 1 + sum(found[id(operand)] for operand in part[1:]) if isinstance(part, tuple) else 0
    return found[id(of)]


def distinct(of: Formula) -> int:
    """Count the operations in a formula if equal parts get a name and are computed once."""
    numbers: dict[Any, int] = {}  # part -> its number; equal parts share one
    found: dict[int, int] = {}
    for part in _parts(of):
        key = (part[0], *(found[id(operand)] for operand in part[1:])) if isinstance(part, tuple) else repr(part)
        found[id(part)] = numbers.setdefault(key, len(numbers))
    return sum(isinstance(key, tuple) for key in numbers)


def text(of: Formula, most: int) -> str:
    """Write a formula in ordinary notation, cut off after `most` characters."""
    written = ""
    for piece in _pieces(of):
        written += piece
        if len(written) > most:
            return written[:most] + " …"
    return written


def _pieces(of: Formula) -> Iterator[str]:
    """Yield a formula's text piece by piece, from left to right. Only operands of a sign get brackets."""
    stack: list[tuple[Formula, bool]] = [(of, True)]  # a formula or a sign, and whether it needs no brackets
    while stack:
        part, bare = stack.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, float):
            yield f"{part:g}" if part >= 0 or bare else f"({part:g})"
        elif part[0] in INFIX:
            yield "" if bare else "("
            sign = "**" if part[0] == "**" else f" {part[0]} "
            stack += [("" if bare else ")", False), (part[2], False), (sign, False), (part[1], False)]
        else:
            yield "-(" if part[0] == "neg" else f"{part[0]}("
            stack += [(")", False), (part[1], True)]


def value(of: Formula, point: Mapping[str, float]) -> float:
    """Compute the value of a formula at a point, in floats; the result may be inf or nan."""
    found: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for part in _parts(of):
            if isinstance(part, tuple):
                found[id(part)] = VALUES[part[0]](*(found[id(operand)] for operand in part[1:]))
            else:
                found[id(part)] = np.float64(point[part] if isinstance(part, str) else part)
    return float(found[id(of)])


# ---------------------------------------------------------------- SymPy


def has_sympy() -> bool:
    return importlib.util.find_spec("sympy") is not None


@dataclass(frozen=True)
class Simplified:
    """A formula that SymPy has simplified: its text, and its number of operations as SymPy counts them."""

    text: str
    operations: int


def simplified(of: Formula) -> Simplified | None:
    """Simplify a formula with SymPy: drop + 0 and * 1, collect equal terms, factor out common factors.

    (SymPy's `simplify` finds more, but can take minutes for such formulas.)
    Returns None if the formula is too long or too deep. Raises ImportError if SymPy is not installed.
    """
    import sympy

    if operations(of) > MAX_SIMPLIFIED:
        return None
    try:
        gathered = _to_sympy(of, sympy)
        shortest = min((gathered, sympy.factor_terms(gathered)), key=sympy.count_ops)
        written = str(shortest)
    except RecursionError:  # nested deeper than SymPy's functions may call each other
        return None
    plain = re.sub(r"\.0+(?!\d)|(\.\d*?[1-9])0+(?!\d)", r"\1", written)  # 2 for 2.00000, 2.5 for 2.50000
    return Simplified(plain, int(sympy.count_ops(shortest)))


def _to_sympy(of: Formula, sympy: Any) -> Any:
    def as_integer(number: Any) -> Any:
        return sympy.Integer(int(number)) if number.is_Float and float(number).is_integer() else number

    functions: dict[str, Callable[..., Any]] = {name: VALUES[name] for name in (*INFIX, "neg")} | {
        "**": lambda a, b: a ** as_integer(b),
        "sigmoid": lambda a: 1 / (1 + sympy.exp(-a)),
        "softplus": lambda a: sympy.log(1 + sympy.exp(a)),
        "relu": lambda a: sympy.Max(a, 0),
        "step": lambda a: sympy.Piecewise((1, a > 0), (0, True)),
        "abs": sympy.Abs,
    }
    # Large integers and powers become floats: SymPy would compute every digit of a repeated power, perhaps a billion.
    numbers = [part for part in _parts(of) if isinstance(part, float)]
    powers = [
        part[2] for part in _parts(of) if isinstance(part, tuple) and part[0] == "**" and isinstance(part[2], float)
    ]
    small = all(abs(number) <= 10 for number in numbers) and all(abs(power) <= 3 for power in powers)
    found: dict[int, Any] = {}
    for part in _parts(of):
        if isinstance(part, tuple):
            function = functions.get(part[0]) or getattr(sympy, part[0])
            found[id(part)] = function(*(found[id(operand)] for operand in part[1:]))
        elif isinstance(part, str):
            found[id(part)] = sympy.Symbol(part, real=True)
        else:
            exact = part in (-1, 0, 1) or (small and part.is_integer())
            found[id(part)] = sympy.Integer(int(part)) if exact else sympy.Float(part)
    return found[id(of)]


# ---------------------------------------------------------------- how it grows


@dataclass(frozen=True)
class Growth:
    """The numbers of operations for a function composed with itself `times` times.

    function, derivative  in the formulas on paper, not simplified
    named                 in the derivative if each part is computed once
    forward, backward     in automatic differentiation: operations that ran, rules that passed a gradient on
    simplified            the derivative simplified by SymPy; None without SymPy, or if it is too long
    """

    times: int
    function: int
    derivative: int
    named: int
    forward: int
    backward: int
    simplified: Simplified | None


def growth(function: Callable[..., Tensor], point: Mapping[str, float], name: str, most: int) -> Iterator[Growth]:
    """Yield the growth for 1, 2, ... `most` times, one at a time: SymPy may take a while. Raises NoFormula."""
    for times in range(1, most + 1):
        leaves = {key: Tensor(number, label=key) for key, number in point.items()}
        result = repeated(function, name, times)(**leaves)
        written = formula(result, leaves)
        slope = derivative(written, name)
        short = simplified(slope) if has_sympy() else None
        yield Growth(times, operations(written), operations(slope), distinct(slope), *passes(result), short)


def passes(result: Tensor) -> tuple[int, int]:
    """Run the backward pass, and count the operations of the graph and the closures that the pass calls."""
    nodes = sum(bool(tensor.children) for tensor in topological_order(result))
    called = 0

    def counted(rule: Callable[[Any], None]) -> Callable[[Any], None]:
        def count(upstream: Any) -> None:
            nonlocal called
            called += 1
            rule(upstream)

        return count

    for tensor in topological_order(result):
        if tensor.closure is not None:
            tensor.closure = counted(tensor.closure)
    with np.errstate(all="ignore"):
        result.backward()
    return nodes, called
