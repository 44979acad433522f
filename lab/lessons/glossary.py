"""The words of the field as this lab uses them: each in one sentence that is true of this engine, with the place that
shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

TWO_MESSAGES = MappingProxyType(
    {
        "expression": "((a*b) + c) * (a + d)",
        "in_a": "2",
        "in_b": "3",
        "in_c": "4",
        "in_d": "5",
        "stage": "backward",
        "event": "19",
    }
)  # the moment at which a second message is added to a gradient: 10 + 21 = 31


@dataclass(frozen=True)
class Term:
    """One word.

    meaning      one sentence
    path, query  where the lab shows it: a page, and the parameters of its address
    also         other words for the same thing, by which the search finds it
    """

    meaning: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()


TERMS = {
    "accumulate": Term(
        "To add an arriving message to the gradient that is already there, instead of replacing it.",
        "graph-lab", TWO_MESSAGES, ("accumulation", "accumulating gradients"),
    ),
    "autograd": Term(
        "Automatic differentiation: a program records its own operations and works out their exact derivatives.",
        "why-reverse-mode", {"tab": "formula"},
        ("automatic differentiation", "autodiff", "ad", "algorithmic differentiation"),
    ),
    "backpropagation": Term(
        "The backward pass of a network: how much of the error each node answers for, passed back from node to node.",
        "graph-lab", TWO_MESSAGES,
        ("backprop", "back propagation", "error propagation", "backward propagation of errors", "blame"),
    ),
    "backward pass": Term(
        "The walk from the result back to the inputs, in which each node sends messages to its operands.",
        "graph-lab", TWO_MESSAGES, ("backward", "going backward"),
    ),
    "broadcast": Term(
        "To use an array of fewer or shorter axes as if it were repeated until it fits the other one.",
        "shapes", {"tab": "broadcast"}, ("broadcasting",),
    ),
    "chain rule": Term(
        "The rate of change along a path is the product of the rates of its steps: dy/dx = dy/du · du/dx.",
        "graph-lab", {"expression": "u = 3*x\nu**2", "in_x": "2", "stage": "backward"},
        ("derivative of a composition", "nested functions", "rate times rate"),
    ),
    "closure": Term(
        "A function together with the variables it keeps from where it was made: here, the backward step of one "
        "operation and the arrays it needs.",
        "other-engines", {"tab": "designs", "left": "closures"}, ("captured variables", "what a closure captures"),
    ),
    "computational graph": Term(
        "The record of which tensor was computed from which others, and by which operation.",
        "graph-lab", TWO_MESSAGES, ("graph", "computation graph", "dag", "directed acyclic graph", "dynamic graph"),
    ),
    "cotangent": Term(
        "Another word for an upstream gradient: how fast the result changes with each element of an array.",
        "why-reverse-mode", {"tab": "one"},
    ),
    "detach": Term(
        "To get a tensor with the same numbers that no gradient flows through.",
        "simulate-error", {"part": "cut"}, ("detached", "stop gradient", "stop_gradient", "cut a gradient"),
    ),
    "epoch": Term(
        "One round of training in which every sample has been used once.",
        "training-lab", {"data": "moons"}, ("epochs",),
    ),
    "finite difference": Term(
        "The change of the result when one input is moved a little, divided by how far it was moved.",
        "gradient-check", {"tab": "step"}, ("difference quotient", "numerical derivative", "secant"),
    ),
    "forward mode": Term(
        "Derivatives carried along with the values, from one input to all results, in one pass.",
        "why-reverse-mode", {"tab": "directions"}, ("jvp", "jacobian-vector product", "tangent"),
    ),
    "forward pass": Term(
        "The computation of the values, from the inputs to the result.",
        "graph-lab", {"expression": "((a*b) + c) * (a + d)", "stage": "forward"}, ("forward",),
    ),
    "gradient": Term(
        "How fast the result changes with each element of a tensor, in an array of that tensor's shape.",
        "", {"stage": "backward"},
        ("derivative", "where does a gradient come from", "slope", "rate of change",
         "sensitivity", "partial derivative"),
    ),
    "guard": Term(
        "The part of the engine that refuses a backward pass when an array it needs was written to.",
        "simulate-error", {"part": "steps", "guard": "on"},
    ),
    "in place": Term(
        "A write into an array that already exists, so that every name for it sees the new numbers.",
        "simulate-error", {"part": "steps"}, ("in-place", "inplace", "mutation", "overwriting an array"),
    ),
    "Jacobian": Term(
        "The matrix of all derivatives: a row for each result, a column for each input.",
        "why-reverse-mode", {"tab": "one"}, ("jacobi matrix", "matrix of derivatives"),
    ),
    "leaf": Term(
        "A tensor that no operation has computed: an input, or a parameter.",
        "simulate-error", {"part": "life"}, ("leaf tensor", "is_leaf", "leaves"),
    ),
    "learning rate": Term(
        "The factor by which an optimizer multiplies the gradient for its step: how far it goes.",
        "descent", {"tab": "down"}, ("lr", "step size"),
    ),
    "local derivative": Term(
        "How fast the output of one operation changes with one of its operands, as if nothing else existed.",
        "operations", {"op": "*"}, ("local gradient",),
    ),
    "loss": Term(
        "One number that says how wrong a network is: training makes it smaller.",
        "training-lab", {"data": "moons"}, ("loss function", "cost function", "objective"),
    ),
    "message": Term(
        "What a node sends to an operand in the backward pass: upstream gradient times local derivative.",
        "graph-lab", TWO_MESSAGES,
    ),
    "node": Term(
        "One tensor in the graph, with its value, its gradient and the operation that made it.",
        "graph-lab", TWO_MESSAGES,
    ),
    "reverse mode": Term(
        "Gradients carried back, from one result to all inputs, in one pass after a forward pass.",
        "why-reverse-mode", {"tab": "directions"},
    ),
    "starting gradient": Term(
        "The upstream gradient of the result itself: 1 for a single number, which changes as fast as it does.",
        "graph-lab", {"expression": "((a*b) + c) * (a + d)", "stage": "backward", "event": "5"}, ("seed gradient",),
    ),
    "tape": Term(
        "The recorded list of operations that a backward pass plays in reverse: here, the nodes of the graph.",
        "other-engines", {"tab": "order"}, ("gradient tape", "wengert list", "GradientTape"),
    ),
    "topological order": Term(
        "An order of the nodes in which each one comes after everything it was computed from.",
        "other-engines", {"tab": "order"}, ("topological sort", "toposort", "build_topo", "topo"),
    ),
    "unbroadcast": Term(
        "To sum a message over the axes that were repeated, so that it has the shape of its operand again.",
        "shapes", {"tab": "broadcast"},
    ),
    "upstream gradient": Term(
        "The gradient of the result with respect to a node's output, which arrives before the node passes anything on.",
        "why-reverse-mode", {"tab": "one"}, ("upstream", "incoming gradient", "grad_output"),
    ),
    "vector-Jacobian product": Term(
        "The upstream gradient multiplied by all local derivatives at once, without their matrix being written down; "
        "vjp for short.",
        "why-reverse-mode", {"tab": "one"}, ("vjp",),
    ),
    "version": Term(
        "PyTorch's count of the writes to an array, by which its backward pass notices that one has changed.",
        "simulate-error", {"part": "steps"}, ("version counter", "_version"),
    ),
}  # fmt: skip
