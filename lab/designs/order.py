"""The topological sort of `model.py`, step by step: what is on its stack, what it has seen, how its list grows.

Nothing is acted out: `topological_order` itself runs, Python stops after each of its lines (sys.settrace, for this
thread alone), and what changed in its variables is the event.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from model import Tensor, topological_order

Kind = Literal["pop", "skip", "visit", "push", "append"]
MAX_TENSORS = 200  # each event holds a copy of the stack


@dataclass(frozen=True)
class OrderEvent:
    """What one line of topological_order() did.

    kind    "pop" takes the top of the stack off; "skip" finds that the tensor was seen before; "visit" notes that it is
            seen now; "push" puts it back under a marker and its operands on top; "append" adds it to the list
    tensor  the one that it is about, as a number; None where the marker was taken off
    line    of model.py, and its text
    stack   bottom first; None is a marker: under it is a tensor whose operands are all placed when it comes up
    seen, order  as they are after the line, in the order in which they were added
    """

    kind: Kind
    tensor: int | None
    line: int
    text: str
    stack: tuple[int | None, ...]
    seen: tuple[int, ...]
    order: tuple[int, ...]


@dataclass(frozen=True)
class Sort:
    """A graph, its tensors numbered as topological_order() lists them, and the events of sorting it.

    names     of each tensor: its label, or its operation
    operands  of each tensor, repeats kept
    events    the first one finds the result alone on the stack
    """

    names: tuple[str, ...]
    operands: tuple[tuple[int, ...], ...]
    events: tuple[OrderEvent, ...]

    @property
    def forward(self) -> Mapping[int, int]:
        """Tensor -> its place in the list, from 1."""
        return {tensor: tensor + 1 for tensor in range(len(self.names))}

    @property
    def backward(self) -> Mapping[int, int]:
        """Tensor -> its turn in the backward pass, from 1. Leaves have none: there is nothing to call."""
        results = [tensor for tensor in range(len(self.names)) if self.operands[tensor]]
        return {tensor: turn for turn, tensor in enumerate(reversed(results), start=1)}


def sort(root: Tensor) -> Sort:
    """Sort the graph of a result under observation. ValueError: it has too many tensors to show."""
    order = topological_order(root)
    if len(order) > MAX_TENSORS:
        raise ValueError(f"The graph has {len(order)} tensors: {MAX_TENSORS} at most are sorted step by step.")
    numbers = {tensor: number for number, tensor in enumerate(order)}
    return Sort(
        tuple(tensor.label or tensor.op or _value(tensor) for tensor in order),
        tuple(tuple(numbers[child] for child in tensor._children) for tensor in order),
        tuple(_events(_watched(root), numbers)),
    )


def _value(constant: Tensor) -> str:
    return f"{constant.item():g}" if constant.size == 1 else f"array {constant.shape}"


def _watched(root: Tensor) -> list[tuple[int, dict[str, Any]]]:
    """Each line of topological_order() that ran, with its variables after it."""
    found: list[tuple[int, dict[str, Any]]] = []
    running = 0  # the line that Python has begun

    def see_line(frame: Any, event: str, argument: object) -> Any:
        nonlocal running
        if running:
            variables = {name: frame.f_locals.get(name) for name in ("node", "stack", "seen", "order")}
            found.append((running, {name: _copy(value) for name, value in variables.items()}))
        running = frame.f_lineno
        return see_line

    def see_call(frame: Any, event: str, argument: object) -> Any:
        return see_line if frame.f_code is topological_order.__code__ else None

    before = sys.gettrace()
    sys.settrace(see_call)
    try:
        topological_order(root)
    finally:
        sys.settrace(before)
    return found


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, (list, set)) else value


@cache  # the file does not change while the lab runs
def source_of_sort() -> tuple[list[str], int]:
    """The lines of topological_order(), and the number of the first in model.py."""
    return inspect.getsourcelines(topological_order)


def _events(lines: list[tuple[int, dict[str, Any]]], numbers: Mapping[Tensor, int]) -> Iterator[OrderEvent]:
    """What changed from one line to the next."""
    source, first = source_of_sort()
    before: dict[str, Any] = {"stack": [], "seen": set(), "order": []}
    seen: list[int] = []
    tested = 0  # the line that asked last whether the tensor was seen
    popped: Tensor | None = None  # a tensor off the stack that nothing was done with yet
    for line, now in lines:
        kind: Kind | None = None
        if now["stack"] is None or now["order"] is None:
            continue  # its variables are not all there yet
        grown = len(now["stack"]) - len(before["stack"])
        tensor = now["node"]
        if len(now["order"]) > len(before["order"]):
            kind, tensor, popped = "append", now["order"][-1], None
        elif now["seen"] and len(now["seen"]) > len(before["seen"]):
            kind, popped = "visit", None
            seen.append(numbers[tensor])
        elif grown > 0:
            kind, tensor = "push", now["stack"][-1] if tensor is None else tensor  # the result itself comes first
        elif grown < 0:
            kind, popped = "pop", tensor
        elif popped is not None and "while" in source[line - first]:
            kind, line, tensor, popped = "skip", tested, popped, None
        if "not in seen" in source[line - first]:
            tested = line
        if kind:
            yield OrderEvent(
                kind,
                None if tensor is None else numbers[tensor],
                line,
                source[line - first].strip(),
                tuple(None if one is None else numbers[one] for one in now["stack"]),
                tuple(seen),
                tuple(numbers[one] for one in now["order"]),
            )
        before = now
