"""Rules about layers: what stands before the loss, sigmoids in a row, initial weights, dead units."""

import ast
import itertools
from collections import Counter
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, ancestors, graph_of, modules, traverse, without
from lab.failures.analysis.kinds import EventKind, Kind
from lab.failures.analysis.registry import LAYERS, LOSS_FUNCTIONS, NORMS
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


def dead_by_bias(case: Case) -> Iterator[RuleHit]:
    """Report failure 14: a bias far below 0 in front of a relu. Reports nothing unless a relu follows the layer."""
    for event in case.events_of(EventKind.INIT, EventKind.WRITE, EventKind.UPDATE):
        value, number = event.value, filled_with(event)
        if number is None and event.detail in {"+", "-"} and event.other is not None:
            moved = event.other.constant
            number = (moved if event.detail == "+" else -moved) if isinstance(moved, int | float) else None
        if value.name == "bias" and value.base in case.state.rectified and number is not None and number <= DEAD_BIAS:
            yield case.hit("bias_too_low", event.node, None, number=number)


DEAD_BIAS = -3.0
WHOLE = {"constant_", "fill_", "copy_", "="}  # they write to all elements


def filled_with(event: Event) -> float | None:
    """Return the number that an event writes to every element of a tensor; None if it does anything else."""
    node, other = event.node, event.other or Value()
    name = method(node) or event.detail
    if event.detail == "part":
        return None
    if name in {"zeros_", "zero_", "ones_"}:
        return float(name == "ones_")
    constant = 0.0 if other.op in {"zeros", "zeros_like"} else other.constant
    whole = isinstance(node, ast.Subscript) and ast.unparse(node.slice) in {":", "..."}
    if name in {"mul_", "*"} and constant == 0:
        return 0.0
    return float(constant) if isinstance(constant, int | float) and (name in WHOLE or whole) else None


SERIAL = (LAYERS - NORMS) | LOSS_FUNCTIONS | {"view", "mean", "sum"}  # operations that pass their input on


def sigmoids_in_a_row(case: Case) -> Iterator[RuleHit]:
    """Report failure 15: five or more sigmoids on the way to the loss, with nothing but layers between.
    Reports nothing with a normalisation or a sum between, or if the number of layers in a loop is unknown."""
    for event in case.events_of(EventKind.LOSS, EventKind.BACKWARD):
        calls: Counter[ast.Call] = Counter()
        value = prediction_in(event.value)
        while value.op == "sigmoid" or value.op in SERIAL:
            if value.op == "sigmoid" and isinstance(value.node, ast.Call):
                calls[value.node] += 1
            if not value.parents:
                break
            value = value.parents[0]
        count = calls.total()
        if count >= MIN_SIGMOIDS:
            yield case.hit("many_sigmoids", max(calls, key=calls.__getitem__), None, count=count, share=4**count)


MIN_SIGMOIDS = 5


def prediction_in(loss: Value) -> Value:
    """Return what a loss written out by hand compares with its target."""
    while loss.op in {"mean", "sum", "-", "**", "pow", "square", "abs", "sqrt"} and loss.parents:
        loss = next((part for part in loss.parents if part.graph), loss.parents[0])
    return loss


def identical_units(case: Case) -> Iterator[RuleHit]:
    """Report failure 16: the weights of a layer and of the next one are each set to one number before training.
    Reports nothing if the layers draw their weights again, or if dropout tells units with a number other than 0
    apart."""
    if "reset_parameters" in case.names:
        return
    filled = filled_layers(case)
    rows = [flat_layers(v) for v in case.state.objects if v.op == "Sequential"]
    weighty = [[layer for layer in row if layer.op in LAYERS - NORMS] for row in rows]
    following = [pair for row in weighty for pair in itertools.pairwise(row)]
    for first, second in [*case.state.layer_pairs, *following]:
        if first in filled and second in filled:
            yield case.hit("same_weights", filled[first].node, None)
    for event in case.events_of(EventKind.MATMUL):
        other = event.other
        if other is not None and is_zero_matrix(other):
            for one in traverse(event.value, in_series):
                made = untransposed(one).node
                if is_zero_matrix(one) and untransposed(one) is not untransposed(other) and made is not None:
                    yield case.hit("same_weights", made, None)


def flat_layers(network: Value) -> list[Value]:
    """Return the layers of a Sequential, including those of nested ones."""
    parts = [flat_layers(part) if part.op == "Sequential" else [part] for part in network.items or []]
    return [layer for part in parts for layer in part]


def filled_layers(case: Case) -> dict[Value, Event]:
    """Return the layers whose weights are one number at the first pass through them, with the event that set it."""
    filled: dict[Value, Event] = {}
    found: dict[Value, Event] = {}
    for event in case.state.events:
        if event.kind == EventKind.BACKWARD:
            found |= {part: filled[part] for part in ancestors(event.value) if part in filled}
        elif event.kind == EventKind.EVAL and event.detail == "load_state_dict":
            filled.clear()
        elif event.kind in {EventKind.INIT, EventKind.WRITE, EventKind.UPDATE} and event.value.kind == Kind.PARAMETER:
            weight = event.value.name == "weight" or event.value.op == "parameter"
            owner = event.value.base
            parts = [event.value] if owner is None else list(modules(owner)) if weight else []
            for part in parts:
                filled.pop(part, None)
            number = filled_with(event)
            if number is not None and not event.tests and (number == 0 or not case.names & DROPOUTS):
                filled |= dict.fromkeys(parts, event)
    return found if case.events_of(EventKind.BACKWARD) else filled


DROPOUTS = {"Dropout", "dropout", "AlphaDropout", "Dropout1d", "Dropout2d"}


def in_series(value: Value) -> tuple[Value, ...]:
    """Return what a value was computed from, or nothing for a sum of two computed values: there, what starts at zero is
    only a correction, and the other summand differs from unit to unit."""
    computed = [parent for parent in value.parents if any(not part.leaf for part in parent.parents)]
    return () if value.op == "+" and len(computed) > 1 else value.parents + value.branches


def untransposed(value: Value) -> Value:
    return without(value, {"T", "view", "transpose"})


def is_zero_matrix(value: Value) -> bool:
    value = untransposed(value)
    wide = value.shape is not None and len(value.shape) == 2
    wrapped = value.op in {"tensor", "from_numpy", "as_tensor"} and [part.op for part in value.parents] == ["zeros"]
    return value.leaf and (value.op == "zeros" or wrapped) and graph_of(value) is True and wide


RULES = (activation_before_loss, dead_by_bias, sigmoids_in_a_row, identical_units)
