"""Limits the work that reading one text may take: whatever goes over many parts of a program counts each of them.

Rules compare events with events and follow values through values, so a short text may need any number of steps.
"""

import ast
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeVar

MAX_STEPS = 500_000  # of following a program, and as many of applying the rules to it

T = TypeVar("T")


class TextTooLong(Exception):
    """Reading the text takes too long; after how much it stopped."""

    def __str__(self) -> str:
        return f"The text is long: reading stopped after {super().__str__()}. Check a shorter part of it."


@dataclass
class Steps:
    """The steps that are left."""

    left: float = math.inf


_steps: ContextVar[Steps | None] = ContextVar("steps", default=None)


@contextmanager
def limited() -> Iterator[Steps]:
    """Let the body take MAX_STEPS, within another such body at most those that are left there; the next one raises
    TextTooLong."""
    outer = _steps.get() or Steps()
    steps = Steps(min(MAX_STEPS, outer.left))
    given = steps.left
    token = _steps.set(steps)
    try:
        yield steps
    finally:
        _steps.reset(token)
        outer.left -= given - max(steps.left, 0)


def take_step() -> None:
    """Count a step, if steps are `limited`."""
    steps = _steps.get() or Steps()
    steps.left -= 1
    if steps.left < 0:
        raise TextTooLong(f"{MAX_STEPS:,} steps")


def counted(parts: Iterable[T]) -> Iterator[T]:
    """Yield the parts; each takes a step."""
    for part in parts:
        take_step()
        yield part


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree as `ast.walk` does; each takes a step."""
    return counted(ast.walk(node))


class StepList(list[T]):
    """A list; going over it takes a step for each element, and so does taking a slice."""

    def __iter__(self) -> Iterator[T]:
        return counted(super().__iter__())

    def __reversed__(self) -> Iterator[T]:
        return counted(super().__reversed__())

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        found: Any = super().__getitem__(at)
        return StepList(counted(found)) if isinstance(at, slice) else found
