"""Fill a Jacobian pass by pass: forward mode gives a column of it, reverse mode a row.

Forward mode carries derivatives down the graph, from one input to all results: how fast does each node change with this
input? Reverse mode carries gradients up, from one result to all inputs. Both use the local derivatives in the closures
of model.py. A closure computes upstream gradient times local Jacobian; run once for each element of its node, it yields
the rows of that Jacobian, and forward mode multiplies them with the derivatives of the operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from lab.gradcheck.finite_differences import ElementName, elements_of
from model import Tensor, topological_order

MAX_NUMBERS = 1_000  # computed in one forward pass: a closure is run once for each
MAX_ENDS = 64  # elements of all inputs, or of the result


class UnfitError(ValueError):
    """A function whose Jacobian cannot be filled here; the message says why."""


class FunctionGraph:
    """A function at one point, as a graph of model.py. inputs, outputs: elements of its leaves and result."""

    def __init__(self, build: Callable[..., Tensor], leaves: Mapping[str, Any]) -> None:
        """Call build with the leaves as keyword Tensors. Raises UnfitError if there is nothing to differentiate, or too
        much."""
        self._leaves = {name: Tensor(value, label=name) for name, value in leaves.items()}
        self._result = build(**self._leaves)
        if self._result.closure is None:
            raise UnfitError("The result depends on no input through any operation: there is no derivative to follow.")
        self._order = topological_order(self._result)
        self.inputs = elements_of(self._leaves)
        self.outputs = elements_of({"result": self._result})
        for what, count, most in (
            ("has {} numbers as inputs", len(self.inputs), MAX_ENDS),
            ("has {} numbers as its result", len(self.outputs), MAX_ENDS),
            ("computes {} numbers", sum(tensor.size for tensor in self._order), MAX_NUMBERS),
        ):
            if count > most:
                raise UnfitError(f"This function {what.format(f'{count:,}')}: {most:,} at most can be followed here.")
        self._local: dict[Tensor, list[tuple[Tensor, np.ndarray]]] = {}

    def number(self, element: ElementName) -> float:
        """Return the value of an element of an input or of the result."""
        return float(self._leaves.get(element.name, self._result).numpy()[element.index])

    def column(self, element: ElementName) -> np.ndarray:
        """Compute the derivatives of all outputs with respect to one input by one forward-mode pass. Shape (m,)."""
        tangents = {leaf: np.zeros(leaf.size) for leaf in self._leaves.values()}
        leaf = self._leaves[element.name]
        tangents[leaf][np.ravel_multi_index(element.index, leaf.shape) if leaf.ndim else 0] = 1.0
        for node in self._order:
            if node.closure is not None:
                with np.errstate(all="ignore"):
                    tangents[node] = np.sum([local @ tangents[child] for child, local in self._local_of(node)], axis=0)
        return tangents[self._result]

    def _local_of(self, node: Tensor) -> list[tuple[Tensor, np.ndarray]]:
        """Return each operand that requires a gradient with its local Jacobian (elements of node, of operand)."""
        if node not in self._local:
            operands = [child for child in dict.fromkeys(node.children) if child.requires_grad]
            rows = []
            for upstream in np.eye(node.size).reshape(node.size, *node.shape):
                for operand in operands:
                    operand.grad = None
                with np.errstate(all="ignore"):
                    node.closure(upstream.copy()[()])  # a single number travels as a NumPy scalar
                rows.append([np.zeros(o.size) if o.grad is None else np.ravel(o.grad) for o in operands])
            self._local[node] = [(operand, np.array([row[at] for row in rows])) for at, operand in enumerate(operands)]
        return self._local[node]

    def backward(self, upstream: Any) -> np.ndarray:
        """Run the engine's own backward(upstream) and return the gradients of all inputs, in order. Shape (n,)."""
        gradients = pull_back(self._result, self._leaves.values(), np.array(upstream, float))
        return np.concatenate([np.ravel(gradient) for gradient in gradients])

    def row(self, element: ElementName) -> np.ndarray:
        """Compute the derivatives of one output with respect to all inputs by one reverse-mode pass. Shape (n,)."""
        return self.backward(np.eye(len(self.outputs))[self.outputs.index(element)])


def pull_back(result: Tensor, leaves: Iterable[Tensor], upstream: np.ndarray) -> list[np.ndarray]:
    """Run backward(upstream) on a graph that is kept, and return the gradient of each leaf."""
    for leaf in leaves:
        leaf.grad = None
    result.backward(upstream.reshape(result.shape)[()], retain_graph=True)
    return [np.zeros(leaf.shape) if leaf.grad is None else leaf.grad for leaf in leaves]
