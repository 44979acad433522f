"""The stages of the machine on Start, each run on one expression with the numbers of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.expression.parser import Expression
from lab.text import numeral as number
from lab.trace.numerical import check
from lab.trace.recording import Trace
from model import Tensor
from nn import SGD

RATE = 0.1  # learning rate of the optimizer's single step
Values = Mapping[str, Any]  # input name -> its number


@dataclass(frozen=True)
class Stage:
    """One part of the machine. does: its purpose in a few words; run: runs it and returns its result as short text."""

    name: str
    icon: str
    file: str
    does: str
    run: Callable[[Expression, Trace, Values], str]


def _data(expression: Expression, trace: Trace, values: Values) -> str:
    return ", ".join(f"{name} = {number(value)}" for name, value in values.items())


def _forward(expression: Expression, trace: Trace, values: Values) -> str:
    return f"{expression.text} = {number(expression(**{name: Tensor(value) for name, value in values.items()}).item())}"


def _graph(expression: Expression, trace: Trace, values: Values) -> str:
    edges = sum(len(node["children"]) for node in trace.nodes)
    return f"{len(trace.nodes)} nodes, {edges} edges"


def _backward(expression: Expression, trace: Trace, values: Values) -> str:
    return ", ".join(
        f"{name}.grad = {number(float(np.sum(g)))}" for name, g in trace.gradients.items() if g is not None
    )


def _checked(expression: Expression, trace: Trace, values: Values) -> str:
    rows, _ = check(trace, expression)
    agree = sum(row.agrees is True for row in rows)
    return f"{agree} of {len(rows)} agree with finite differences"


def _step(expression: Expression, trace: Trace, values: Values) -> str:
    leaves = {name: Tensor(value, label=name) for name, value in values.items()}
    before = expression(**leaves)
    before.backward()
    SGD(list(leaves.values()), RATE).step()
    return f"{number(before.item())} → {number(expression(**leaves).item())} after one step at rate {RATE}"


STAGES = (
    Stage("Data", "dataset", "pages/training_lab.py", "gives the inputs", _data),
    Stage("Forward pass", "arrow_forward", "pages/graph_lab.py", "computes the result", _forward),
    Stage("Graph", "account_tree", "pages/other_engines.py", "remembers what was computed from what", _graph),
    Stage("Backward pass", "arrow_back", "pages/graph_lab.py", "sends gradients back to the inputs", _backward),
    Stage("Gradient check", "fact_check", "pages/gradient_check.py", "compares them with finite differences", _checked),
    Stage("Optimizer", "trending_down", "pages/descent.py", "changes the inputs, one step downhill", _step),
)
