"""Small programs that several tests trace."""

from collections.abc import Callable, Sequence

from model import Tensor

LEAVES = {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0}
UNARY = ("exp", "tanh", "sigmoid", "relu", "sin", "cos", "softplus", "abs")
OPERATIONS = ("+", "-", "*", "/", *UNARY)


def shared(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """The first picture of the Graph lab: `a` is used twice."""
    return ((a * b) + c) * (a + d)


def program(steps: Sequence[tuple[str, int, int]]) -> Callable[[Tensor, Tensor], Tensor]:
    """A straight-line program: each step applies one of OPERATIONS to two earlier values, which its numbers choose."""

    def build(a, b):
        values = [a, b]
        for op, i, j in steps:
            x, y = values[i % len(values)], values[j % len(values)]
            binary = {"+": x.__add__, "-": x.__sub__, "*": x.__mul__, "/": x.__truediv__}
            values.append(binary[op](y) if op in binary else getattr(x.sin(), op)())
        return sum(values[2:])

    return build
