"""Evaluate an expression once, within limits on array sizes and total work."""

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lab.expression.language import MAX_AXES, MAX_SIZE, MAX_WORK
from lab.expression.source import Source
from lab.operation_table import Cost, Op
from model import Tensor, stack


class Evaluation:
    """The values of the names so far, and the work done so far (elements computed)."""

    def __init__(self, source: Source, ops: Mapping[str, Op]) -> None:
        self.source, self.ops = source, ops
        self.values: dict[str, Any] = {}
        self.work = 0

    def leaf(self, name: str, value: Any, place: tuple[int, int]) -> Tensor:
        """Return a free name's value as a Tensor. Raises ExpressionError if it is not numeric, empty or too large."""
        try:
            shape = np.shape(value)
            if not 0 < math.prod(shape) <= MAX_SIZE or len(shape) > MAX_AXES:
                raise ValueError(f"It has shape {shape}: 1 to {MAX_SIZE:,} elements and {MAX_AXES} axes are possible")
            return value if isinstance(value, Tensor) else Tensor(value)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise self.source.error(f"The value of `{name}` cannot be used. {self._sentence(error)}", *place) from error

    def apply(
        self, node: ast.expr, function: Callable[..., Any], operands: Sequence[Any], cost: Cost, ints: tuple[int, ...]
    ) -> Any:
        """Return function(*operands), a Tensor if an operand is one, else a number or array; refuse too much work."""
        try:
            size, work = cost([np.shape(operand) for operand in operands], ints)
        except (ValueError, RuntimeError):
            size = work = 0  # the shapes do not fit, or have too many axes: the engine's own error says it better
        self.work += max(size, work)
        if size > MAX_SIZE:
            self.source.refuse(f"This would have {size:,} elements; {MAX_SIZE:,} at most.", node)
        if self.work > MAX_WORK:
            self.source.refuse("This is too much work for one expression: use smaller arrays or fewer lines.", node)
        constant = not any(isinstance(operand, Tensor) for operand in operands)
        try:
            result = function(*(Tensor(x, requires_grad=False) for x in operands)) if constant else function(*operands)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise self.source.error(self._sentence(error), *self.source.place(node)) from error
        except IndexError:
            self.source.refuse(f"This index does not fit the shape {np.shape(operands[0])}.", node)
        if result.size == 0:
            self.source.refuse(f"Nothing is left here: the result has shape {result.shape}.", node)
        if result.ndim > MAX_AXES:
            self.source.refuse(f"This would have {result.ndim} axes; {MAX_AXES} at most.", node)
        return _without_tensor(result) if constant else result

    def _sentence(self, error: Exception) -> str:
        """Write an error as a sentence, with a capital letter unless it starts with the name of an operation."""
        text = str(error).strip().rstrip(".")
        return f"{text if text.split(' ')[0] in self.ops else text[:1].upper() + text[1:]}."


def labelled(value: Any, name: str) -> Any:
    """Return the value, with the name as its label if it is a Tensor without one."""
    if isinstance(value, Tensor) and not value.label:
        value.label = name
    return value


def stacked(*elements: Any) -> Tensor:
    """Stack the elements of a learner's list along a new first axis."""
    shapes = [np.shape(element) for element in elements]
    if len(set(shapes)) > 1:
        listed = ", ".join(map(str, dict.fromkeys(shapes)))
        raise ValueError(f"The elements of a list must have one shape, but these have shapes {listed}")
    return stack(elements)


def _without_tensor(value: Any) -> Any:
    """Return a constant tensor or array as a plain number or array."""
    array = value.numpy() if isinstance(value, Tensor) else value
    return array if array.ndim else array.item()
