"""Both directions through one graph of model.py.

Forward mode carries derivatives down the graph, from an input to all results: how fast does each node change as this
input does? Reverse mode carries gradients up it, from a result to all inputs. Both use the same local derivatives,
those in the closures of model.py. A closure multiplies with its local Jacobian from the left; asked once for each
element of its node, it tells the rows of that Jacobian, and forward mode multiplies by them from the other side.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.designs.compare import DesignProgram, of_graph
from lab.ops import OPS, UNKNOWN
from lab.text import brief
from model import Tensor, topological_order

MAX_NUMBERS = 1_000  # computed in one forward pass: a closure is asked once for each
MAX_ENDS = 64  # elements of all inputs, or of the result

Place = tuple[str, tuple[int, ...]]  # the name of an input, or "" for the result, and the index of one element


class Unfit(ValueError):
    """A function that no pass can be shown of: why, in one sentence."""


def place_name(place: Place) -> str:
    """`x[0, 2]`, or `a` for a single number; "result" for what has no name."""
    name, index = place
    return (name or "result") + (f"[{', '.join(map(str, index))}]" if index else "")


@dataclass(frozen=True)
class PassStep:
    """One node of a pass, and what all nodes hold after it: None where nothing has arrived yet.

    node  None before the first
    held  for each node an array of its shape: its derivative, or the part of its gradient that has arrived
    """

    node: int | None
    held: tuple[np.ndarray | None, ...]


class FunctionGraph:
    """A function at one point, as a graph of model.py. Nodes are numbered as topological_order() lists them.

    names, titles             of each node, such as `v1` and `v1 = a * b`
    operands, values          of each node; repeats among the operands are kept
    inputs, outputs           the elements of the leaves, and of the result
    differentiable            of each node: does a derivative go through it?
    """

    def __init__(self, build: Callable[..., Tensor], leaves: Mapping[str, Any]) -> None:
        """build is called with the leaves as keyword Tensors. Unfit: there is nothing to follow, or too much."""
        self._leaves = {name: Tensor(value, label=name) for name, value in leaves.items()}
        self._result = build(**self._leaves)
        if self._result._backward is None:
            raise Unfit("The result depends on no input through any operation: there is no derivative to follow.")
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
                raise Unfit(f"This function {what.format(f'{count:,}')}: {most:,} at most can be followed here.")
        self.operands = tuple(tuple(self._numbers[child] for child in tensor._children) for tensor in self._order)
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
        """The value of an input's or the result's element."""
        name, index = place
        return float(self._leaves[name].numpy()[index] if name else self.values[self.result][index])

    # -- down: forward mode

    def down(self, place: Place) -> list[PassStep]:
        """How derivatives travel down from one element of an input, node after node."""
        name, index = place
        tangents: list[np.ndarray | None] = [None] * len(self._order)
        for leaf in self._leaves.values():
            tangents[self._numbers[leaf]] = np.zeros(leaf.shape)
        start = np.zeros(self._leaves[name].shape)
        start[index] = 1.0
        tangents[self._numbers[self._leaves[name]]] = start
        steps = [PassStep(None, tuple(tangents))]
        for number, node in enumerate(self._order):
            if node._backward is not None:
                with np.errstate(all="ignore"):
                    moved = [
                        local @ np.ravel(_there(tangents[self._numbers[child]])) for child, local in self._rows(node)
                    ]
                    tangents[number] = np.sum(moved, axis=0).reshape(node.shape)
                steps.append(PassStep(number, tuple(tangents)))
        return steps

    def column(self, place: Place) -> np.ndarray:
        """The derivatives of all outputs with respect to one input: one pass of forward mode. Shape (m,)."""
        return np.ravel(_there(self.down(place)[-1].held[self.result]))

    def _rows(self, node: Tensor) -> list[tuple[Tensor, np.ndarray]]:
        """Each operand that takes a gradient, once, and the local Jacobian: (elements of node, of operand)."""
        if node not in self._local:
            operands = [child for child in dict.fromkeys(node._children) if child.requires_grad]
            jacobians = [np.zeros((node.size, child.size)) for child in operands]
            for row, index in enumerate(np.ndindex(node.shape)):
                self._forget()
                upstream = np.zeros(node.shape)
                upstream[index] = 1.0
                with np.errstate(all="ignore"):
                    node._backward(upstream[()])  # a single number travels as a NumPy scalar
                for child, jacobian in zip(operands, jacobians, strict=True):
                    jacobian[row] = 0.0 if child.grad is None else np.ravel(child.grad)
            self._local[node] = list(zip(operands, jacobians, strict=True))
        return self._local[node]

    # -- up: reverse mode

    def up(self, upstream: Any) -> list[PassStep]:
        """How gradients travel up from the result, node after node, as backward(upstream) sends them.

        upstream  as many numbers as the result has, in its shape or in a row
        """
        self._forget()
        self._result.grad = _started(upstream, self._result.shape)
        steps = [PassStep(None, self._gradients())]
        for node in reversed(self._order):
            if node._backward is not None:
                with np.errstate(all="ignore"):
                    node._backward(node.grad)
                steps.append(PassStep(self._numbers[node], self._gradients()))
        return steps

    def backward(self, upstream: Any) -> np.ndarray:
        """The engine's own backward(upstream): the gradients of all inputs, in their order. Shape (n,)."""
        self._forget()
        self._result.backward(_started(upstream, self._result.shape), retain_graph=True)
        held = [np.zeros(leaf.shape) if leaf.grad is None else leaf.grad for leaf in self._leaves.values()]
        return np.concatenate([np.ravel(gradient) for gradient in held])

    def row(self, place: Place) -> np.ndarray:
        """The derivatives of one output with respect to all inputs: one pass of reverse mode. Shape (n,)."""
        upstream = np.zeros(self._result.shape)
        upstream[place[1]] = 1.0
        return self.backward(upstream)

    def _names(self) -> tuple[str, ...]:
        """What the learner has named keeps its name; the result is called so, and all else is numbered."""
        names, numbers = [], itertools.count(1)
        for tensor in self._order:
            if tensor is self._result:
                names.append("result")
            elif tensor._children:
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
        """The same graph for dual numbers. compare.Unsuitable: they have no such operation."""
        return of_graph(self._result, self._leaves)


def _there(array: np.ndarray | None) -> np.ndarray:
    assert array is not None, "operands come before what is computed from them"
    return array


def _started(upstream: Any, shape: tuple[int, ...]) -> Any:
    return np.array(upstream, dtype=float).reshape(shape)[()]


def _titled(tensor: Tensor, name: str, operands: list[str]) -> str:
    """`v1 = a * b`, `result = tanh(v1)`, or the name alone of a leaf or constant."""
    if not operands:
        return name
    sign = OPS.get(tensor.op, UNKNOWN).symbol
    if sign is None:
        return f"{name} = {tensor.op}({', '.join(operands)})"
    return f"{name} = {sign}{operands[0]}" if len(operands) == 1 else f"{name} = {operands[0]} {sign} {operands[1]}"
