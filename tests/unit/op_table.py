"""Every operation of the engine with the inputs that its tests run on.

One `Case` is one call of one operation. It is data, not code, so the same table serves the gradient checks, the
comparison with other engines and the mutation test. A new operation needs an entry here: tests fail without one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np

import model

# Scalar, one element, vector, row, column, matrix, three axes, and empty in one and two axes.
SHAPES = [(), (1,), (3,), (1, 3), (3, 1), (2, 3), (2, 1, 3), (0,), (0, 3)]


def broadcastable(shapes: list[tuple[int, ...]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    pairs = []
    for pair in itertools.product(shapes, repeat=2):
        try:
            np.broadcast_shapes(*pair)
        except ValueError:
            continue
        pairs.append(pair)
    return pairs


PAIRS = broadcastable(SHAPES)

MATMUL_PAIRS = [
    ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((3, 3), (3, 3)), ((1, 3), (3, 1)),
    ((3, 1), (1, 3)), ((1, 1), (1, 1)), ((2, 2, 3), (3,)), ((3,), (2, 3, 4)), ((2, 2, 3), (2, 3, 4)),
    ((1, 2, 3), (2, 3, 4)), ((2, 2, 3), (3, 4)), ((2, 3), (2, 3, 4)), ((2, 1, 2, 3), (3, 3, 2)), ((0, 3), (3, 2)),
    ((2, 0), (0, 3)), ((2, 3), (3, 0)),
]  # read by rows  # fmt: skip


@dataclass(frozen=True)
class Case:
    """op(*inputs, *args, **kwargs): `op` is the name of an attribute of Tensor or of a function of the module."""

    op: str
    inputs: tuple[np.ndarray, ...]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        arguments = [*map(_short, self.args), *(f"{name}={_short(value)}" for name, value in self.kwargs.items())]
        return " ".join([self.op, *(_short(array) for array in self.inputs), *arguments, str(self.dtype)])

    @property
    def dtype(self) -> np.dtype:
        return self.inputs[0].dtype

    @property
    def size(self) -> int:
        return sum(array.size for array in self.inputs)

    def call(self, tensors: tuple[Any, ...], engine: ModuleType = model) -> Any:
        """Run the operation on tensors, which `engine` (this model.py or a changed one) has made."""
        if self.op in ("concatenate", "stack"):
            return getattr(engine, self.op)(list(tensors), *self.args, **self.kwargs)
        if self.op == "where":  # its condition comes first
            return engine.where(*self.args, *tensors)
        if hasattr(engine.Tensor, self.op):
            attribute = getattr(tensors[0], self.op)
            return attribute(*tensors[1:], *self.args, **self.kwargs) if callable(attribute) else attribute
        return getattr(engine, self.op)(*tensors, *self.args, **self.kwargs)

    def as_float32(self) -> Case:
        return replace(self, inputs=tuple(array.astype(np.float32) for array in self.inputs))


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"({','.join(map(str, value.shape))})"
    return str(value).replace(" ", "").replace("None,None,None", ":")


# -- where the inputs lie: never at a kink, a pole or a tie


def away_from_zero(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.uniform(0.3, 1.6, shape) * rng.choice([-1.0, 1.0], shape)


def positive(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.uniform(0.4, 2.0, shape)


def distinct(rng: np.random.Generator, shape: tuple[int, ...], offset: float = 0.03) -> np.ndarray:
    """Multiples of 0.1 in random order, all shifted a little: far from ties and from round bounds."""
    size = int(np.prod(shape))
    return (rng.permutation(size).reshape(shape) - size // 2) * 0.1 + offset


def _rng(*key: Any) -> np.random.Generator:
    return np.random.default_rng(crc32(repr(key).encode()))


# -- the table


def unary_cases() -> Iterator[Case]:
    domains = {
        **dict.fromkeys(["__neg__", "exp", "sin", "cos", "tanh", "sigmoid", "softplus"], away_from_zero),
        **dict.fromkeys(["relu", "leaky_relu", "abs", "__abs__"], away_from_zero),
        **dict.fromkeys(["log", "sqrt"], positive),
    }
    for op, domain in domains.items():
        for shape in SHAPES:
            yield Case(op, (np.asarray(domain(_rng(op, shape), shape)),))
    yield Case("leaky_relu", (away_from_zero(_rng("slope"), (3,)),), (0.2,))
    for shape in SHAPES:
        x = np.asarray(distinct(_rng("clip", shape), shape) * 6)
        for args, kwargs in [((-0.8, 0.8), {}), ((), {"low": -0.4}), ((), {"high": 0.4}), ((), {})]:
            yield Case("clip", (x,), args, kwargs)


def binary_cases() -> Iterator[Case]:
    for op in ["__add__", "__sub__", "__mul__", "__truediv__", "__pow__", "maximum", "minimum"]:
        for first, second in PAIRS:
            rng = _rng(op, first, second)
            a = (positive if op == "__pow__" else away_from_zero)(rng, first)
            b = away_from_zero(rng, second)
            if op in ("maximum", "minimum"):
                a, b = distinct(rng, first), distinct(rng, second, offset=0.08)
            yield Case(op, (np.asarray(a), np.asarray(b)))
    negative_base = np.array([-1.5, -0.5, 0.7])
    for exponent in (0, 1, 2, 3, -1, -2, np.array([2.0, 3.0, -1.0])):  # constants: the base may be negative
        yield Case("__pow__", (negative_base,), (exponent,))
    for op in ["__add__", "__sub__", "__mul__", "__truediv__"]:
        for constant in (2, 2.5, np.float64(2.5), np.array([0.5, -2.0, 3.0])):
            yield Case(op, (away_from_zero(_rng(op), (3,)),), (constant,))
    for op in ["__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rpow__"]:
        for shape in SHAPES:
            for constant in (2, 1.5, np.array([0.5, 2.0, 3.0]), np.array([[0.5], [2.0]])):
                if (shape, np.shape(constant)) in PAIRS or np.ndim(constant) == 0 or shape == (2, 3):
                    yield Case(op, (np.asarray(away_from_zero(_rng(op, shape), shape)),), (constant,))


def matmul_cases() -> Iterator[Case]:
    for first, second in MATMUL_PAIRS:
        rng = _rng("@", first, second)
        a, b = away_from_zero(rng, first), away_from_zero(rng, second)
        yield Case("__matmul__", (a, b))
        yield Case("__matmul__", (a,), (b,))
        yield Case("__rmatmul__", (b,), (a,))


def reduction_cases() -> Iterator[Case]:
    ops = ["sum", "mean", "var", "std", "norm", "max", "min", "prod", "logsumexp"]
    for op, shape in itertools.product(ops, [*SHAPES, (2, 3, 4)]):
        domain = distinct if op in ("max", "min") else away_from_zero
        x = np.asarray(domain(_rng(op, shape), shape))
        axes = [None, (), *range(len(shape)), *range(-len(shape), 0)]
        axes += [(0, 1), (-1, 0), (1,)] if len(shape) > 1 else []
        axes += [(2, 0)] if len(shape) > 2 else []
        for axis, keepdims in itertools.product(axes, (False, True)):
            reduced = np.sum(np.ones(shape), axis=axis)  # how many elements each result is made of
            if reduced.size and np.any(reduced == 0) and op not in ("sum", "prod"):
                continue  # undefined: tested as errors and as nan elsewhere
            if op == "std" and np.any(reduced < 2):
                continue  # 0 everywhere, with a kink: see CONVENTIONS
            yield Case(op, (x,), (), {"axis": axis, "keepdims": keepdims})
        if x.size > (op == "std"):
            yield Case(op, (x,))
    for zeros in ([1], [0, 2], [0, 1, 2, 3]):
        x = away_from_zero(_rng("zeros"), (2, 4))
        x[0, zeros] = 0.0
        for axis in (None, 0, 1):
            yield Case("prod", (x,), (), {"axis": axis})
    for op, shape in itertools.product(["softmax", "log_softmax"], [*SHAPES[1:], (2, 3, 4)]):
        for axis in range(-len(shape), len(shape)):
            if shape[axis]:
                yield Case(op, (away_from_zero(_rng(op, shape), shape),), (), {"axis": axis})
        if shape[-1]:
            yield Case(op, (away_from_zero(_rng(op, shape), shape),))


INDICES = [
    0,
    -1,
    np.s_[1:],
    np.s_[::-1],
    np.s_[::2, 1],
    np.s_[..., 0],
    np.s_[:, None],
    np.s_[1, 2],
    np.s_[0:0],
    [0, 1, 1, 0, 1],
    ([0, 1, 0], [2, 0, 2]),
    np.s_[:, [2, 2, 0]],
    np.array([[0, 1], [1, 1]]),
    np.array([True, False]),
    np.array([[True, False, True], [False, False, True]]),
]


def shape_cases() -> Iterator[Case]:
    def x(*shape: int) -> np.ndarray:
        return np.asarray(away_from_zero(_rng("shape", shape), shape))

    for source, target in [
        ((2, 3), (3, 2)),
        ((2, 3), (6,)),
        ((6,), (1, 2, 3)),
        ((1, 1), ()),
        ((), (1,)),
        ((0, 3), (3, 0)),
    ]:
        yield Case("reshape", (x(*source),), target if target else ((),))
    yield Case("reshape", (x(2, 3),), ((3, 2),))
    yield Case("reshape", (x(2, 3),), (-1,))
    yield Case("reshape", (x(2, 3, 4).transpose(2, 0, 1),), (4, 6))
    for shape in [*SHAPES, (2, 3, 4)]:
        yield Case("transpose", (x(*shape),))
        yield Case("T", (x(*shape),))
    for order in itertools.permutations(range(3)):
        yield Case("transpose", (x(2, 3, 4),), order)
    yield Case("transpose", (x(3, 3, 3),), (1, 2, 0))
    yield Case("transpose", (x(2, 3, 4),), ((2, 0, 1),))
    yield Case("transpose", (x(2, 3, 4),), (-1, 0, 1))
    for first, second in [(0, 1), (0, 2), (-1, -2), (1, 1)]:
        yield Case("swapaxes", (x(2, 3, 4),), (first, second))
    for axis in (None, 0, -1, (0, 2)):
        yield Case("squeeze", (x(1, 3, 1),), (axis,) if axis is not None else ())
    for axis in (0, 1, -1, (0, 2)):
        yield Case("expand_dims", (x(2, 3),), (axis,))
    yield Case("expand_dims", (x(),), (0,))
    for first, second in PAIRS:
        if np.broadcast_shapes(first, second) == second:
            yield Case("broadcast_to", (x(*first),), (second,))
    yield Case("broadcast_to", (x(3),), (2, 3))
    for index in INDICES:
        yield Case("__getitem__", (x(2, 3),), (index,))
    yield Case("__getitem__", (x(),), ((),))
    yield Case("__getitem__", (x(2, 3, 4),), (np.s_[[0, 1, 1], :, [3, 0, 0]],))
    yield Case("__getitem__", (x(0, 3),), (np.s_[:, 1],))


def function_cases() -> Iterator[Case]:
    def x(*shape: int, key: Any = None) -> np.ndarray:
        return np.asarray(away_from_zero(_rng("function", shape, key), shape))

    for first, second in PAIRS:
        shape = np.broadcast_shapes(first, second)
        yield Case("where", (x(*first), x(*second, key=1)), (np.asarray(_rng("condition", shape).random(shape) < 0.5),))
    yield Case("where", (x(3), x(1, key=1)), (np.array([[True], [False]]),))
    for shapes, axis in [
        ([(2,), (3,), (1,)], 0),
        ([(2, 3), (1, 3)], 0),
        ([(2, 3), (2, 1), (2, 2)], 1),
        ([(2, 3), (2, 1)], -1),
        ([(2, 3)], 0),
        ([(0, 3), (2, 3)], 0),
        ([(2, 1, 3), (2, 2, 3)], -2),
    ]:
        yield Case("concatenate", tuple(x(*s, key=i) for i, s in enumerate(shapes)), (), {"axis": axis})
    yield Case("concatenate", (x(2), x(2, key=1)))
    for shape in [(), (3,), (2, 3), (0, 3)]:
        for axis in range(-len(shape) - 1, len(shape) + 1):
            yield Case("stack", tuple(x(*shape, key=i) for i in range(3)), (), {"axis": axis})
    yield Case("stack", (x(3), x(3, key=1)))


def loss_cases() -> Iterator[Case]:
    for shape in [s for s in SHAPES if 0 not in s]:
        rng = _rng("loss", shape)
        prediction, target = np.asarray(away_from_zero(rng, shape)), np.asarray(away_from_zero(rng, shape))
        yield Case("mse_loss", (prediction, target))
        yield Case("mse_loss", (prediction,), (target,))
        bits = np.asarray(rng.integers(0, 2, shape).astype(float))
        yield Case("binary_cross_entropy_with_logits", (prediction * 2,), (bits,))
        yield Case("binary_cross_entropy_with_logits", (prediction * 2, np.asarray(rng.uniform(0.1, 0.9, shape))))
    for shape in [(1, 3), (2, 3), (4, 2), (3, 1)]:
        rng = _rng("cross_entropy", shape)
        labels = rng.integers(0, shape[1], shape[0])
        yield Case("cross_entropy", (rng.normal(size=shape) * 2,), (labels,))
    for n, n_in, n_out in [(4, 3, 2), (1, 1, 1), (2, 2, 2), (0, 3, 2)]:
        rng = _rng("linear", n, n_in, n_out)
        yield Case("linear", (rng.normal(size=(n, n_in)), rng.normal(size=(n_in, n_out)), rng.normal(size=n_out)))


CASES = [
    case
    for group in (
        unary_cases(),
        binary_cases(),
        matmul_cases(),
        reduction_cases(),
        shape_cases(),
        function_cases(),
        loss_cases(),
    )
    for case in group
]

# What the engine answers where there is no derivative, or a choice: the gradients for an upstream gradient of ones.
# The gradient check accepts any slope between left and right there, so these are compared exactly.
_NAN, _INF = np.nan, np.inf
CONVENTIONS = [
    (Case("relu", (np.array([-1.0, 0.0, 2.0]),)), ([0.0, 0.0, 1.0],)),
    (Case("leaky_relu", (np.array([-1.0, 0.0, 2.0]),), (0.1,)), ([0.1, 0.1, 1.0],)),
    (Case("abs", (np.array([-1.0, 0.0, 2.0]),)), ([-1.0, 0.0, 1.0],)),
    (Case("clip", (np.array([-2.0, -1.0, 0.0, 1.0, 2.0]),), (-1.0, 1.0)), ([0.0, 1.0, 1.0, 1.0, 0.0],)),
    (Case("max", (np.array([1.0, 3.0, 3.0]),)), ([0.0, 0.5, 0.5],)),
    (Case("min", (np.array([[1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 1.0, 3.0]]),), (1,)), ([[0.25] * 4, [0.0, 0.5, 0.5, 0.0]],)),
    (Case("max", (np.array([1.0, _NAN, 2.0]),)), ([0.0, 1.0, 0.0],)),
    (Case("maximum", (np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0]))), ([0.0, 0.5, 1.0], [1.0, 0.5, 0.0])),
    (Case("minimum", (np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0]))), ([1.0, 0.5, 0.0], [0.0, 0.5, 1.0])),
    (Case("where", (np.array([0.0, 1.0]), np.array([2.0, 3.0])), (np.array([False, True]),)), ([0.0, 1.0], [1.0, 0.0])),
    (Case("__pow__", (np.array([0.0, 0.0]), np.array([0.0, 2.0]))), ([0.0, 0.0], [0.0, 0.0])),
    (Case("__pow__", (np.array([0.0, 0.0, 0.0]),), (np.array([0.0, 1.0, 0.5]),)), ([0.0, 1.0, _INF],)),
    (Case("__pow__", (np.array([0.0, 0.0]), np.array([-1.0, -2.0]))), ([-_INF, -_INF], [-_INF, -_INF])),
    (Case("__pow__", (np.array([-2.0]), np.array([2.0]))), ([-4.0], [_NAN])),
    (Case("norm", (np.zeros(3),)), ([0.0, 0.0, 0.0],)),
    (Case("norm", (np.array([[3.0, 4.0], [0.0, 0.0]]),), (1,)), ([[0.6, 0.8], [0.0, 0.0]],)),
    (Case("std", (np.full(3, 2.5),)), ([0.0, 0.0, 0.0],)),
    (Case("prod", (np.array([0.0, 2.0, 3.0]),)), ([6.0, 0.0, 0.0],)),
    (Case("prod", (np.array([0.0, 0.0, 3.0]),)), ([0.0, 0.0, 0.0],)),
    (Case("sqrt", (np.array([0.0, 4.0]),)), ([_INF, 0.25],)),
    (Case("log", (np.array([0.0, 2.0]),)), ([_INF, 0.5],)),
    (Case("__truediv__", (np.array([1.0, 3.0]), np.array([0.0, 2.0]))), ([_INF, 0.5], [-_INF, -0.75])),
    (Case("softmax", (np.array([1e4, -1e4]),)), ([0.0, 0.0],)),
    (Case("logsumexp", (np.array([1e4, -1e4]),)), ([1.0, 0.0],)),
]  # fmt: skip

# Operations that choose elements: the 0 of an element that is not chosen is no factor, so it stays 0 for any upstream.
CHOOSING = {"relu", "clip", "max", "min", "maximum", "minimum", "where"}
# Each convention with the upstream gradient to try it with, and the gradients due
CONVENTIONS_BY_UPSTREAM = [
    *((case, 1.0, expected) for case, expected in CONVENTIONS),
    *((case, _INF, tuple(np.where(np.equal(g, 0.0), 0.0, np.copysign(_INF, g)) for g in expected)) for case, expected in CONVENTIONS if case.op in CHOOSING),
]  # fmt: skip


def doubled_product(a: model.Tensor, b: model.Tensor, right: Any = model.Tensor.__mul__) -> model.Tensor:
    """Multiply with a backward rule that sends twice what it should."""
    out = right(a, b)
    rule = out.closure
    out.closure = lambda upstream: rule(upstream * 2.0)
    return out
