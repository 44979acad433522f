"""Generates graphs to work out by hand: an expression in the lab's language, and inputs with small numbers.

A level and a number always give the same exercise. The first of all is the classic `((a*b) + c) * (a + d)`; the others
are drawn from the patterns of their level, with signs and numbers redrawn until every step can be done in the head.
"""

import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lab.expression import ExpressionError, parse
from lab.trace.parts import Value
from lab.trace.recording import Trace, record

EXERCISES_PER_LEVEL = 10_000
MAX_NUMBER = {1: 120, 2: 120, 3: 60, 4: 60}  # the largest absolute value in a pass, by level
MAX_DENOMINATOR = 8  # each number is a multiple of 1/8 and has at most four digits, which is what the page shows
MAX_TRIES = 60  # inputs drawn for one expression before another is drawn

_PATTERNS = {  # by level, separated by semicolons; each plus becomes a plus or a minus
    1: (
        "((a*b) + c) * (a + d); (a*b) * (b + c); a * (b + a*c); (a + b) * (c + a); (a*b + c) * a; "
        "((a + b) * c) + (a*d); (a + b*c) * (b + d)"
    ),
    2: (
        "(a*b + c)**2; a**2 * b + a / c; (a + b)**2 / c; a*a*b + a; (a / b) * (a + c); a**3 + a*b; "
        "(a**2 + b) * (a + b); (a*b) / c + a*c; (a + b) / b + a**2"
    ),
    3: (
        "relu(a*b + c) * a; max(a, b) * (a + c); relu(a + b) * c + relu(a*b); exp(a*b + c) * a; "
        "tanh(a*b + c) + a*c; sigmoid(a + b) * c + a; min(a*b, c) + a; max(a*b, c) * b; relu(a) * b + a**2"
    ),
    4: (
        "sum(x*r + b); mean(x*r); sum((x + r)**2); sum(relu(x @ w + r)); mean(x + r) * b; sum(x @ r) * b; "
        "sum(sum(x, axis=0) * r); sum((x + b) * x); sum(x*b + r); mean((x @ w) * r)"
    ),
}
LEVELS = {1: "+ − ×", 2: "powers, division", 3: "kinks and curves", 4: "small arrays"}
_ARRAYS = {"x": (2, 2), "w": (2, 2), "r": (2,)}  # shapes of the inputs that are arrays
_CLASSIC = "((a*b) + c) * (a + d)", {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0}


@dataclass(frozen=True)
class Exercise:
    """A graph to work out: the expression, the value of each of its names, and the trace of its pass on the engine."""

    text: str
    inputs: dict[str, Value]
    trace: Trace


def exercise(level: int, number: int) -> Exercise:
    """Return exercise `number` of a level, counted from 1. Raises ValueError if there is none."""
    if level not in LEVELS or not 1 <= number <= EXERCISES_PER_LEVEL:
        raise ValueError(f"There is no exercise {number} of level {level}.")
    if (level, number) == (1, 1):
        text, inputs = _CLASSIC
        return Exercise(text, {**inputs}, record(parse(text), inputs))
    return next(_draw_exercises(level, random.Random(f"{level}-{number}")))


def _draw_exercises(level: int, draw: random.Random) -> Iterator[Exercise]:
    """Draw exercises without end, skipping those that are too hard to work out or teach nothing."""
    while True:
        text = re.sub(r" \+ ", lambda _: draw.choice((" + ", " - ")), draw.choice(_PATTERNS[level].split("; ")))
        try:
            expression = parse(text)
        except ExpressionError as error:  # a pattern of this file is wrong
            raise RuntimeError(f"{text}: {error.message}") from error
        for _ in range(MAX_TRIES):
            inputs = {name: _draw_input(_ARRAYS.get(name, ()), level, draw) for name in expression.names}
            trace = record(expression, inputs)
            if _is_good(trace, level):
                yield Exercise(text, inputs, trace)


def _draw_input(shape: tuple[int, ...], level: int, draw: random.Random) -> Value:
    """Draw an input of small integers, sometimes halves in levels 2 and 3; 0 only in level 3, which is about kinks."""
    numbers = [n for n in range(-2, 6) if n or level == 3]
    # all different: then an answer shows which one was used
    cells: list[float] = [*draw.sample(numbers, math.prod(shape))]
    if level in (2, 3) and draw.random() < 0.15:
        cells = [cell / 2 for cell in cells]
    value: Value = np.array(cells, float).reshape(shape).tolist()
    return value


def _is_good(trace: Trace, level: int) -> bool:
    """Tell whether every number of a pass is easy to work with, the gradients differ, and most of them are not 0."""
    values: list[Value] = [node["value"] for node in trace.nodes]
    for event in trace.events:
        if event["kind"] == "message":
            values.append(event["contribution"])
        elif event["kind"] == "accumulate":
            values.append(event["after"])
    numbers = np.concatenate([np.ravel(value) for value in values])
    if not np.isfinite(numbers).all() or np.abs(numbers).max() > MAX_NUMBER[level]:
        return False
    if np.any(numbers * MAX_DENOMINATOR % 1) or any(float(f"{number:.4g}") != number for number in numbers):
        return False
    gradients = [gradient for gradient in trace.gradients.values() if gradient is not None]
    if len(gradients) < len(trace.gradients):  # an input does not reach the result
        return False
    cells = np.concatenate([np.ravel(gradient) for gradient in gradients])
    return len(set(cells.tolist())) > 1 and int(np.count_nonzero(cells)) > len(cells) / 2
