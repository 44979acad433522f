"""Gives an engine of Function objects Python's operators: `x @ w + b` runs `AddRow.apply(MatMul.apply(x, w), b)`.

This file is sent as the text of a program to the process of the learner's code (see lab/practice/learner_engine.py):
the Functions are the learner's, under the names that the tasks ask for.
"""

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    Add: Any = None
    AddRow: Any = None
    MatMul: Any = None
    Mul: Any = None
    Pow: Any = None
    ReLU: Any = None
    Sigmoid: Any = None
    Sum: Any = None
    of_operands: Any = None  # the expression as a function of its leaves


class UnsupportedError(Exception):
    """The course has no such operation; the message is a sentence for the learner."""


def refuse(what: str) -> NoReturn:
    raise UnsupportedError(
        f"Your engine has no {what}: its course has + - * /, powers with a number, @ of matrices, relu, sigmoid, sum."
    )


class Operand:
    """A tensor of the learner's engine with Python's operators."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.shape = np.shape(tensor.data)

    def matching(self, other: Any, doing: str) -> Any:
        """Return the other operand for `apply`. Raises UnsupportedError unless it has this shape or is a number."""
        if not isinstance(other, Operand):
            return other
        if self.shape != other.shape:
            raise UnsupportedError(
                f"Your engine cannot {doing} {self.shape} and {other.shape}: its course has only equal shapes, a plain "
                "number, or a row added to a matrix."
            )
        return other.tensor

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Operand):
            for matrix, row in ((self, other), (other, self)):
                if len(matrix.shape) == 2 and row.shape == matrix.shape[1:]:
                    return Operand(AddRow.apply(matrix.tensor, row.tensor))
        return Operand(Add.apply(self.tensor, self.matching(other, "add")))

    def __mul__(self, other: Any) -> Any:
        return Operand(Mul.apply(self.tensor, self.matching(other, "multiply")))

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Operand):
            refuse("power with a tensor as the exponent")
        return Operand(Pow.apply(self.tensor, exponent))

    def __rpow__(self, base: Any) -> NoReturn:
        refuse("power with a tensor as the exponent")

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Operand) or len(self.shape) != 2 or len(other.shape) != 2:
            refuse("@ of anything but matrices")
        return Operand(MatMul.apply(self.tensor, other.tensor))

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __truediv__(self, other: Any) -> Any:
        return self * other**-1

    def __rtruediv__(self, other: Any) -> Any:
        return self**-1 * other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def relu(self) -> Any:
        return Operand(ReLU.apply(self.tensor))

    def sigmoid(self) -> Any:
        return Operand(Sigmoid.apply(self.tensor))

    def sum(self, *axes: Any, **named: Any) -> Any:
        if axes or named:
            refuse("sum along an axis")
        return Operand(Sum.apply(self.tensor))

    def __getitem__(self, index: Any) -> NoReturn:
        refuse("part of a tensor by its index")

    def __getattr__(self, name: str) -> NoReturn:
        refuse(name)


def build(**tensors: Any) -> Any:
    """Compute the expression of the learner's tensors, as one of their tensors."""
    return of_operands(**{name: Operand(tensor) for name, tensor in tensors.items()}).tensor
