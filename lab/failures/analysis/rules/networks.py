"""Rules about layers: what stands before the loss, and the weights that they start with."""

import ast
import itertools
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, graph_of, modules, traverse, without
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import IDENTITIES, LAYERS, NORMS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import called, method, receiver

# What a loss applies by itself, so that its input must not have it: the loss, the operation, the sentence.
APPLIED_TWICE = {
    ("cross_entropy", "softmax"): "activation_twice",
    ("cross_entropy", "sigmoid"): "activation_twice",
    ("cross_entropy", "relu"): "relu_before_loss",
    ("binary_cross_entropy_with_logits", "softmax"): "activation_twice",
    ("binary_cross_entropy_with_logits", "sigmoid"): "activation_twice",
    ("binary_cross_entropy_with_logits", "relu"): "relu_before_loss",
    ("nll_loss", "softmax"): "probabilities_into_nll",
}


def activation_before_loss(case: Case) -> Iterator[RuleHit]:
    """Report failure 25: softmax or sigmoid before a loss that applies it; and failure 14: relu before such a loss."""
    for event in case.events_of(EventKind.LOSS):
        value = unscaled(event.value)
        by_hand = value.op == "/" and value.form == "probabilities"
        op, node = "softmax" if by_hand else value.op, value.node
        key = APPLIED_TWICE.get((event.detail, op))
        if key is None or node is None or not (by_hand or isinstance(node, ast.Call)):
            continue
        new = unwrapped(case, node) if key != "probabilities_into_nll" and not by_hand else None
        yield case.hit(key, node, new, event, layer=op)


def unscaled(value: Value) -> Value:
    """Strip views, factors and the mean of a stack from a value, and return what is left."""
    while value.parents:
        multiple = value.op in {"*", "/"} and any(part.kind == Kind.NUMBER for part in value.parents)
        several = value.op == "mean" and value.parents[0].op == "stack"
        if not (multiple or several or value.op in {"view", "stack"}):
            break
        value = next((part for part in value.parents if part.kind != Kind.NUMBER), value.parents[0])
    return value


def unwrapped(case: Case, node: ast.expr) -> str | None:
    """Return the input of an activation, which takes its place; None for a layer, which others may use as it is."""
    if not isinstance(node, ast.Call) or called(node) in {"Softmax", "Sigmoid", "ReLU"}:
        return None
    axis = not node.args or isinstance(node.args[0], ast.Constant | ast.UnaryOp)  # of a method: x.softmax(1)
    source = receiver(node) if axis else node.args[0]
    return case.text.of(source) if source is not None else None


def same_weights(case: Case) -> Iterator[RuleHit]:
    """Report failure 16: the weights of a layer, or a matrix, and of the next one are each one number before training.
    Reports nothing if the layers draw their weights again."""
    filled = filled_weights(case) if "reset_parameters" not in case.names else {}
    rows = [
        [part for part in modules(box) if part.op in LAYERS - NORMS]
        for box in case.state.objects
        if box.op == "Sequential"
    ]
    pairs = [pair for row in rows for pair in itertools.pairwise(sorted(row, key=case.state.objects.index))]
    made = [e.value for e in case.events_of(EventKind.LAYER)] + [v for v in case.backward_reached if v.op == "@"]
    for value in made:
        *_, before = traverse(value.parents[0], lambda v: v.parents[:1] if weight_of(v) is None else ())
        pairs.append((weight_of(before) or before, weight_of(value) or value))
    for first, second in pairs:
        if first in filled and second in filled:
            yield case.hit("same_weights", filled[first], None)


def weight_of(value: Value) -> Value | None:
    """Return the layer or the matrix that a value was computed with."""
    computed = len(value.parents) > 1 and (value.op in LAYERS or value.op == "@")
    return without(value.parents[-1], {"T", "view", "transpose"}) if computed else None


def filled_weights(case: Case) -> dict[Value, ast.AST]:
    """Return the layers and matrices whose weights are one number at the first pass, with what made them so."""
    filled: dict[Value, ast.AST] = {}
    for value in case.backward_reached:
        wide = value.op == "zeros" and value.shape is not None and len(value.shape) == 2
        if wide and value.leaf and graph_of(value) and Tag.WRITTEN not in value.tags and value.node is not None:
            filled[value] = value.node
    for event in case.state.events:
        value, number = event.value, filled_with(event)
        if event.kind == EventKind.BACKWARD:
            break
        if event.kind in {EventKind.INIT, EventKind.WRITE, EventKind.UPDATE} and value.name != "bias":
            for part in modules(value.base or value):
                filled.pop(part, None)
                apart = part.kind != Kind.MODULE or case.names & IDENTITIES  # what is drawn tells the units apart
                if number == 0 or (number is not None and not apart):
                    filled[part] = event.node
    return filled


def filled_with(event: Event) -> float | None:
    """Return the number that an event writes to all elements of a tensor; None for anything else."""
    name, other = method(event.node) or event.detail, event.other or Value()
    number = 0.0 if other.op in {"zeros", "zeros_like"} else other.constant
    if event.tests or event.detail == "part":
        return None
    if name in {"zeros_", "zero_", "ones_"}:
        return float(name == "ones_")
    return number if name in {"constant_", "fill_", "copy_", "="} and isinstance(number, int | float) else None


RULES = (activation_before_loss, same_weights)
