"""Shapes of values, as far as the text shows."""

import ast
import math

from lab.failures.analysis.facts import Shape, Value
from lab.failures.analysis.kinds import Kind, Tag, words
from lab.failures.analysis.registry import NORMS

MAX_RANGE_TURNS = 4  # followed in a loop over a range; two iterations stand for all of a longer one


def matmul_shape(one: Value, two: Value) -> Shape:
    if not one.shape or not two.shape:
        return None
    return one.shape[:-1] + two.shape[-1:] * (len(two.shape) > 1)


def index_shape(shape: Shape, index: ast.expr, place: Value) -> Shape:
    if shape and place.kind == Kind.NUMBER:
        return shape[1:]
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    if shape is None or len(parts) > len(shape):
        return None
    left: list[int | None] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            left.append(slice_size(part))
        elif (isinstance(part, ast.Constant) and isinstance(part.value, int) and not isinstance(part.value, bool)) or (
            isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant)
        ):
            continue
        else:
            return None
    return (*left, *shape[len(parts) :])


def slice_size(part: ast.Slice) -> int | None:
    """Return the size of a slice: 1 for [-1:], [:1] and [1:2], None for others."""
    ends = [ast.unparse(end) if end is not None else "" for end in (part.lower, part.upper)]
    numbers = [int(end) if end.removeprefix("-").isdigit() else None for end in ends]
    low, high = 0 if not ends[0] else numbers[0], numbers[1]
    one = ends == ["-1", ""] or (low is not None and high is not None and high - low == 1 and (low >= 0 or high < 0))
    return 1 if one and part.step is None else None


def output_shape(layer: str, given: Shape, width: int | None) -> Shape:
    """Return the shape of a layer's output, its last or channel axis being `width`; None if unknown."""
    if layer in {"Linear", "LazyLinear", "MLP"}:
        return (*given[:-1], width) if given else None
    return given if layer in NORMS else None


def moved_shape(name: str, shape: Shape, numbers: list[object]) -> Shape:
    sizes = [n if isinstance(n, int) and not isinstance(n, bool) else None for n in numbers]
    if name in {"view", "reshape"}:
        if not numbers:
            return None
        rest = math.prod(n for n in sizes if n is not None and n != -1)
        total = math.prod(n or 0 for n in shape) if shape and None not in sizes and None not in shape else 0
        return tuple((total // rest if total and rest else None) if n == -1 else n for n in sizes)
    if name == "flatten" and sizes == [1]:
        return (shape[0] if shape else None, None)
    if shape is None:
        return None
    axis = sizes[0] if sizes else None
    if name == "unsqueeze" and axis is not None:
        at = axis % (len(shape) + 1)
        return (*shape[:at], 1, *shape[at:])
    if name == "squeeze":
        if axis is None:
            return tuple(n for n in shape if n != 1) if None not in shape and not numbers else None
        at = axis % len(shape) if shape else 0
        return tuple(n for i, n in enumerate(shape) if not (i == at and n == 1))
    if name in SAME_SHAPE:
        return shape
    return None


SAME_SHAPE = words("to cuda cpu clone contiguous float double half type astype bfloat16 real")


def joined_shape(name: str, shapes: list[Shape], axis: object) -> Shape:
    """Return the shape of tensors in a row along an axis: all have as many axes, so one that is known is enough."""
    shape = next((shape for shape in shapes if shape is not None), None)
    if shape is None or not isinstance(axis, int):
        return None
    place = axis % (len(shape) + (name == "stack") or 1)
    return (*shape[:place], None, *shape[place + (name != "stack") :])


def reduced_shape(shape: Shape, axis: object, keep: Value | None) -> Shape:
    """Return a shape after a reduction over one axis; None if unknown. `keep` is the value of keepdim."""
    if not isinstance(axis, int) or not shape or not -len(shape) <= axis < len(shape):
        return None
    place = axis % len(shape)
    return (*shape[:place], *((1,) if keep is not None and keep.constant else ()), *shape[place + 1 :])


def created_shape(name: str, args: list[Value], keys: dict[str, Value]) -> Shape:
    first = args[0] if args else Value()
    if name.endswith("_like") or name == "from_numpy":
        return first.shape
    if name in {"tensor", "as_tensor", "array", "Tensor", "FloatTensor"}:
        return literal_shape(first)
    if name in {"arange", "randperm"}:
        stop = first.constant if len(args) == 1 else None
        return (int(stop) if isinstance(stop, int | float) else None,)
    if name in {"linspace", "logspace"}:
        count = args[2].constant if len(args) > 2 else None
        return (count if isinstance(count, int) else None,)
    if name in {"randint", "integers", "uniform", "normal", "random", "standard_normal"}:
        sizes = keys.get("size") or (args[-1] if args else Value())
    elif name in {"zeros", "ones", "randn", "rand", "empty", "full"}:
        sizes = first if first.kind == Kind.LIST or name == "full" else Value(Kind.LIST, items=args)
    else:
        return None
    if sizes.kind == Kind.NUMBER:
        sizes = Value(Kind.LIST, items=[sizes])
    if sizes.items is None or Tag.OPEN in sizes.tags:
        return None
    return tuple(v.constant if isinstance(v.constant, int) else None for v in sizes.items)


def literal_shape(value: Value) -> Shape:
    if value.kind == Kind.NUMBER:
        return ()
    if value.kind == Kind.LIST and value.items:
        inner = literal_shape(value.items[0])
        return None if inner is None else (None if Tag.OPEN in value.tags else len(value.items), *inner)
    return value.shape if value.kind in {Kind.ARRAY, Kind.TENSOR} else None


def leaves(values: list[Value]) -> list[Value]:
    return [leaf for v in values for leaf in (leaves(v.items) if v.items is not None else [v])]


def known_turns(over: Value, max_range: int = MAX_RANGE_TURNS) -> int:
    """Return how many items a loop goes through; 0 if unknown, and for a range longer than `max_range`."""
    if over.kind in {Kind.ZIP, Kind.ENUMERATE}:
        return min((known_turns(part, max_range) for part in over.items or []), default=0)
    if over.kind == Kind.RANGE:
        return over.constant if isinstance(over.constant, int) and over.constant <= max_range else 0
    known = over.kind in {Kind.LIST, Kind.DICT, Kind.MODULE} and Tag.OPEN not in over.tags
    return len(over.items or []) if known else 0
