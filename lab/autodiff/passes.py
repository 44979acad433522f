"""Run forward and reverse mode through one graph of model.py, step by step.

Forward mode carries derivatives down the graph, from one input to all results: how fast does each node change with this
input? Reverse mode carries gradients up, from one result to all inputs. Both use the local derivatives in the closures
of model.py. A closure computes upstream gradient times local Jacobian; run once for each element of its node, it yields
the rows of that Jacobian, and forward mode multiplies them with the derivatives of the operands.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.designs.compare import DesignProgram, of_graph
from lab.operation_table import OPS, UNKNOWN
from lab.text import brief
from model import Tensor, topological_order

MAX_NUMBERS = 1_000  # computed in one forward pass: a closure is run once for each
MAX_ENDS = 64  # elements of all inputs, or of the result

Place = tuple[str, tuple[int, ...]]  # the name of an input, or "" for the result, and the index of one element


class UnfitError(ValueError):
    """A function whose passes cannot be shown; the message says why."""


def place_name(place: Place) -> str:
    """Name an element: `x[0, 2]`, or `a` for a single number; "result" if it has no name."""
    name, index = place
    return (name or "result") + (f"[{', '.join(map(str, index))}]" if index else "")


@dataclass(frozen=True)
class PassStep:
    """One step of a pass: the node that was processed, and the state of all nodes after it.

    node  its number; None before the first step
    held  for each node an array of its shape: its derivative, or its gradient so far; None if nothing has arrived
    """

    node: int | None
    held: tuple[np.ndarray | None, ...]


class FunctionGraph:
    """A function at one point, as a graph of model.py. Nodes are numbered as topological_order() lists them.

    names, titles             for each node, such as `v1` and `v1 = a * b`
    operands, values          for each node; repeats among the operands are kept
    inputs, outputs           the elements of the leaves, and of the result
    differentiable            for each node, whether a derivative passes through it
    """

    def __init__(self, build: Callable[..., Tensor], leaves: Mapping[str, Any]) -> None:
        """Call build with the leaves as keyword Tensors. Raises UnfitError if there is nothing to follow, or too
        much."""
        self._leaves = {name: Tensor(value, label=name) for name, value in leaves.items()}
        self._result = build(**self._leaves)
        if self._result.closure is None:
            raise UnfitError("The result depends on no input through any operation: there is no derivative to follow.")
        self._order = topological_order(self._result)
        reached = set(self._order)
        self._order += [leaf for leaf in self._leaves.values() if leaf not in reached]  # in a condition alone
        self._numbers = {tensor: number for number, tensor in enumerate(self._order)}
        self.inputs: list[Place] = [(name, i) for name, leaf in self._leaves.items() for i in np.ndindex(leaf.shape)]
        self.outputs: list[Place] = [("", index) for index in np.ndindex(self._result.shape)]
        for what, count, most in (
            ("has {} numbers as inputs", len(self.inputs), MAX_ENDS),
            ("has {} numbers as its result", len(self.outputs), MAX_ENDS),
            ("computes {} numbers", sum(tensor.size for tensor in self._order), MAX_NUMBERS),
        ):
            if count > most:
                raise UnfitError(f"This function {what.format(f'{count:,}')}: {most:,} at most can be followed here.")
        self.operands = tuple(tuple(self._numbers[child] for child in tensor.children) for tensor in self._order)
        self.names = self._names()
        self.titles = tuple(
            _titled(tensor, name, [self.names[child] for child in children])
            for tensor, name, children in zip(self._order, self.names, self.operands, strict=True)
        )
        self.values = tuple(tensor.numpy() for tensor in self._order)
        self.differentiable = tuple(tensor.requires_grad for tensor in self._order)
        self.result = self._numbers[self._result]
        self._local: dict[Tensor, list[tuple[Tensor, np.ndarray]]] = {}

    def number(self, place: Place) -> float:
        """Return the value of an element of an input or of the result."""
        name, index = place
        return float(self._leaves[name].numpy()[index] if name else self.values[self.result][index])

    # -- down: forward mode

    def down(self, place: Place) -> list[PassStep]:
        """Run forward mode from one element of an input, and return a step for each node."""
        name, index = place
        tangents: list[np.ndarray | None] = [None] * len(self._order)
        for leaf in self._leaves.values():
            tangents[self._numbers[leaf]] = np.zeros(leaf.shape)
        start = np.zeros(self._leaves[name].shape)
        start[index] = 1.0
        tangents[self._numbers[self._leaves[name]]] = start
        steps = [PassStep(None, tuple(tangents))]
        for number, node in enumerate(self._order):
            if node.closure is not None:
                with np.errstate(all="ignore"):
                    moved = [
                        local @ np.ravel(_there(tangents[self._numbers[child]])) for child, local in self._rows(node)
                    ]
                    tangents[number] = np.sum(moved, axis=0).reshape(node.shape)
                steps.append(PassStep(number, tuple(tangents)))
        return steps

    def column(self, place: Place) -> np.ndarray:
        """Compute the derivatives of all outputs with respect to one input by one forward-mode pass. Shape (m,)."""
        return np.ravel(_there(self.down(place)[-1].held[self.result]))

    def _rows(self, node: Tensor) -> list[tuple[Tensor, np.ndarray]]:
        """Return each operand that requires a gradient with its local Jacobian (elements of node, of operand)."""
        if node not in self._local:
            operands = [child for child in dict.fromkeys(node.children) if child.requires_grad]
            jacobians = [np.zeros((node.size, child.size)) for child in operands]
            for row, index in enumerate(np.ndindex(node.shape)):
                self._forget()
                upstream = np.zeros(node.shape)
                upstream[index] = 1.0
                with np.errstate(all="ignore"):
                    node.closure(upstream[()])  # a single number travels as a NumPy scalar
                for child, jacobian in zip(operands, jacobians, strict=True):
                    jacobian[row] = 0.0 if child.grad is None else np.ravel(child.grad)
            self._local[node] = list(zip(operands, jacobians, strict=True))
        return self._local[node]

    # -- up: reverse mode

    def up(self, upstream: Any) -> list[PassStep]:
        """Run reverse mode from the result, as backward(upstream) does, and return a step for each node.

        upstream  the upstream gradient, in the result's shape or flat
        """
        self._forget()
        self._result.grad = _started(upstream, self._result.shape)
        steps = [PassStep(None, self._gradients())]
        for node in reversed(self._order):
            if node.closure is not None:
                with np.errstate(all="ignore"):
                    node.closure(node.grad)
                steps.append(PassStep(self._numbers[node], self._gradients()))
        return steps

    def backward(self, upstream: Any) -> np.ndarray:
        """Run the engine's own backward(upstream) and return the gradients of all inputs, in order. Shape (n,)."""
        self._forget()
        self._result.backward(_started(upstream, self._result.shape), retain_graph=True)
        held = [np.zeros(leaf.shape) if leaf.grad is None else leaf.grad for leaf in self._leaves.values()]
        return np.concatenate([np.ravel(gradient) for gradient in held])

    def row(self, place: Place) -> np.ndarray:
        """Compute the derivatives of one output with respect to all inputs by one reverse-mode pass. Shape (n,)."""
        upstream = np.zeros(self._result.shape)
        upstream[place[1]] = 1.0
        return self.backward(upstream)

    def _names(self) -> tuple[str, ...]:
        """Name each node: by its label, "result", its value if it is a constant, or v1, v2, ..."""
        names, numbers = [], itertools.count(1)
        for tensor in self._order:
            if tensor is self._result:
                names.append("result")
            elif tensor.children:
                names.append(tensor.label or f"v{next(numbers)}")
            else:
                names.append(tensor.label or brief(tensor.numpy()))
        return tuple(names)

    def _forget(self) -> None:
        for tensor in self._order:
            tensor.grad = None

    def _gradients(self) -> tuple[np.ndarray | None, ...]:
        return tuple(None if tensor.grad is None else np.array(tensor.grad) for tensor in self._order)

    # -- both

    def program(self) -> DesignProgram:
        """Return the graph as a program for dual numbers. Raises compare.UnsuitableError if they lack an operation."""
        return of_graph(self._result, self._leaves)


def _there(array: np.ndarray | None) -> np.ndarray:
    assert array is not None, "operands come before what is computed from them"
    return array


def _started(upstream: Any, shape: tuple[int, ...]) -> Any:
    return np.array(upstream, dtype=float).reshape(shape)[()]


def _titled(tensor: Tensor, name: str, operands: list[str]) -> str:
    """Write `v1 = a * b`, `result = tanh(v1)`, or the name alone for a leaf or constant."""
    if not operands:
        return name
    sign = OPS.get(tensor.op, UNKNOWN).symbol
    if sign is None:
        return f"{name} = {tensor.op}({', '.join(operands)})"
    return f"{name} = {sign}{operands[0]}" if len(operands) == 1 else f"{name} = {operands[0]} {sign} {operands[1]}"
