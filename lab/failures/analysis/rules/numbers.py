"""Rules about numbers: shapes that broadcast, steep functions at 0, activations, equal weights, steps that climb."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import (
    TENSORS,
    Value,
    ancestors,
    column_against_row,
    graph_of,
    is_square,
    owner_of,
    traverse,
    without,
)
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import BROADCASTING_LOSSES, ELEMENTWISE, LAYERS, LOSS_FUNCTIONS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import called, inside, is_simple, method, receiver


def column_and_row(case: Case) -> Iterator[RuleHit]:
    """Report failure 8: (N, 1) is combined with (N,) in a loss, or a layer's output with it in a difference.
    Reports nothing if one of the shapes is unknown, and for what may compare each number with each on purpose."""
    for event in case.events_of(EventKind.LOSS, EventKind.SUBTRACT):
        if event.other is None or (event.kind == EventKind.LOSS and event.detail not in BROADCASTING_LOSSES):
            continue
        column, node = column_against_row(event.value, event.other), event.node
        if column is None or column.shape is None:
            continue
        row = event.other if column is event.value else event.value
        on_purpose = without(row, {"view"}) is without(column, {"view"})  # s - s.squeeze(1)
        on_purpose |= column.op == "view" and column.statement is event.statement  # a.view(-1, 1) - b
        if event.kind == EventKind.SUBTRACT and (not is_output(column) or on_purpose or (row.leaf and row.graph)):
            continue
        both = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])[:2]
        if len(both) == 2:
            part, other = both if column is event.value else reversed(both)
            change = [(part, f"{case.text.operand(part)}.squeeze(1)")]
            yield case.hit("table_of_pairs", node, change, column=part, row=other, n=column.shape[0] or "N")


def stretched_in_a_loss(case: Case) -> Iterator[RuleHit]:
    """Report failure 8: a loss compares (N, 1) with (N, k). Reports nothing if both are stretched, on purpose."""
    for event in case.events_of(EventKind.LOSS):
        one, two = event.value.shape or (), (event.other or event.value).shape or ()
        if len(one) != len(two) or event.detail not in BROADCASTING_LOSSES:
            continue
        axes = [(m, n) for m, n in list(zip(one, two, strict=True))[1:] if m and n and m != n and 1 in {m, n}]
        if len({m == 1 for m, _ in axes}) == 1:
            first, second = (str(shape).replace("None", "N") for shape in (one, two))
            yield case.hit("stretched", event.node, None, one=first, two=second)


def is_output(value: Value) -> bool:
    """Return whether a value has the shape in which a layer returned it."""
    passes_on = value.op in {"call", "view"} or value.op in ELEMENTWISE
    return value.op in LAYERS or (passes_on and any(is_output(p) for p in value.parents[:1]))


def steep_at_zero(case: Case) -> Iterator[RuleHit]:
    """Report failure 9: the logarithm or root of what can be exactly 0, or a division by it.
    Reports nothing if something is added before, if no gradient goes through, and in where()."""
    steep = [e for e in case.events_of(EventKind.LOG, EventKind.ROOT, EventKind.DIVIDE) if e.node not in case.in_where]
    for event in steep:
        part, where = steep_input(event.node), zero_source(event)
        if part is not None and where:
            same = dict.fromkeys(steep_input(other.node) for other in steep if other.value is event.value)
            change = [(use, f"({case.text.of(use)} + 1e-8)") for use in same if use is not None]
            yield case.hit("steep_at_zero", event.node, change, part=part, where=where)


def zero_source(event: Event) -> str:
    """Return where the input of a steep function is exactly 0; "" if nothing makes it so."""
    value = event.value
    if event.kind == EventKind.LOG and value.form in {"probabilities", "relu"}:
        where = "for a confident network" if value.form == "probabilities" else "where its input was below 0"
        return "" if graph_of(value) is False else where
    reduced = value.op in {"sum", "std", "norm", "amax"} or (event.kind == EventKind.ROOT and value.op != "relu")
    if value.form == "relu" and graph_of(value) is True and reduced and event.recorded:
        return "where relu gives nothing but 0"
    for total in (value, *value.branches) if event.kind != EventKind.DIVIDE else ():
        squares = total.parents[0] if total.op == "sum" and total.parents else Value()
        squared = squares.parents[0] if is_square(squares) else Value()
        if squared.op == "-" and graph_of(squared) is True:
            one, two = ({v for v in ancestors(side) if v.kind == Kind.MODULE} for side in squared.parents)
            left, right = (without(side, {"view", "index"}) for side in squared.parents)
            if one & two or left is right:
                return "where the two sides are equal"
        leaf = squared if squared.leaf else total
        if leaf.leaf and graph_of(leaf) is True and leaf.op.startswith("zeros") and Tag.WRITTEN not in leaf.tags:
            return "in its first step"
    return ""


def steep_input(node: ast.AST | None) -> ast.expr | None:
    """Return the input of a root, logarithm or division: x of x**0.5, torch.pow(x, 0.5), x.sqrt(), log(x), 1 / x."""
    if isinstance(node, ast.BinOp):
        return node.right if isinstance(node.op, ast.Div) else node.left
    if not isinstance(node, ast.Call):
        return None
    given = node.args[:-1] if method(node) == "pow" else node.args
    return given[0] if given else receiver(node)


STEEP = {"/", "sqrt", "log", "rsqrt", "reciprocal", "log2", "acos", "asin", "exp"}  # their slope is infinite somewhere
SAFE = {"clamp", "clip", "clamp_min", "maximum", "max", "where", "nan_to_num", "exp", "sigmoid", "softmax", "softplus"}


def both_arms_of_where(case: Case) -> Iterator[RuleHit]:
    """Report failure 20: an arm of where() is not finite at elements that its condition leaves out.
    Reports nothing if the arm's input was made safe before, or if no gradient is known to go through it."""
    wanted = case.reached(EventKind.BACKWARD, EventKind.USED)
    for event in case.events_of(EventKind.WHERE):
        node, tested = event.node, {core(part) for part in event.other.parents} if event.other else set()
        if not isinstance(node, ast.Call) or not (event.in_forward or event.value in wanted):
            continue
        for first, arm in zip((True, False), event.value.parents, strict=False):
            found = next((v for v in ancestors(arm) if steep_part(v, tested)), None)
            part = steep_input(found.node) if found is not None else None
            if found is None or found.node is None or part is None:
                continue
            test, x = case.text.of(node.args[0]), case.text.of(part)
            ones = f"torch.ones_like({x})" if case.torch else "1.0"
            change = [(part, f"{case.text.of(node.func)}({test}, {x}, {ones})")]
            if not first:
                change = [(part, f"{case.text.of(node.func)}({test}, {ones}, {x})")]
            here = inside(node, found.node)
            yield case.hit("both_arms_of_where", node if here else found.node, change, arm=found.node)
            break


def steep_part(value: Value, tested: set[Value]) -> bool:
    """Return whether an operation is steep where its input is 0, and where()'s condition tests that input."""
    if not value.parents or value.op not in STEEP or (part := value.parents[-1]).op in SAFE:
        return False
    return core(part) in tested and graph_of(part) is not False and (graph_of(part) is True or part.op != "call")


def core(value: Value) -> Value:
    """Return what a value is a multiple, a power or a difference of."""

    def inside(here: Value) -> tuple[Value, ...]:
        passes_on = here.op in {"*", "-", "neg", "abs", "view", "**", "pow", "square"}
        return tuple(part for part in here.parents if part.kind in TENSORS | {Kind.UNKNOWN})[:1] if passes_on else ()

    *_, last = traverse(value, inside)
    return last


LOSSES_OF_SCORES = {"cross_entropy", "binary_cross_entropy_with_logits"}


def activation_before_loss(case: Case) -> Iterator[RuleHit]:
    """Report failure 25: softmax or sigmoid before a loss that applies it."""
    for event in case.events_of(EventKind.LOSS):
        value = unscaled(event.value)
        by_hand = value.op == "/" and value.form == "probabilities"
        layer = "softmax" if by_hand else value.op
        twice = event.detail in LOSSES_OF_SCORES and layer in {"softmax", "sigmoid"}
        if twice and value.node is not None:
            change = None if by_hand else unwrapped(case, value.node)
            yield case.hit("activation_twice", value.node, change, event, layer=layer)


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


def gradient_ascent(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: parameters += their gradient, which makes the loss larger. Reports nothing for the input of
    layers, since attacks climb on purpose, for a step that another statement takes back, and if a pass starts from
    anything but a loss."""
    passes = case.events_of(EventKind.BACKWARD, EventKind.USED)
    if not all(is_cost(e.value) for e in passes):
        return
    outputs = {v for e in passes for v in ancestors(e.value) if v.parents and (v.op in LAYERS or v.op == "call")}
    inputs = {v for output in outputs for part in output.parents for v in ancestors(part)}
    moves = case.events_of(EventKind.UPDATE, EventKind.WRITE)
    for event in moves:
        value, new, statement = event.value, event.other or Value(), event.statement
        climbs = event.detail == "+" and Tag.NEGATED not in new.tags
        by_hand = event.kind == EventKind.UPDATE or not event.recorded
        if not climbs or not by_hand or not (new.kind == Kind.GRADIENT or Tag.UP in new.tags):
            continue
        attacked = value in inputs and value.kind not in {Kind.MODULE, Kind.PARAMETER}
        back = any(owner_of(e.value) is owner_of(value) and e.detail != "+" for e in moves)
        if value.graph is not False and not attacked and not back and is_simple(statement):
            moved = receiver(event.node)
            name = f"`{case.text.of(moved)}`" if moved is not None else f"{value:the parameter}"
            yield case.hit("ascent", statement, None, name=name)


def is_cost(value: Value) -> bool:
    """Return whether a value is made to be small: a sum with a loss or a squared difference."""
    summed = traverse(value, lambda v: v.parents if v.op in {"mean", "sum", "+"} else ())
    return any(v.op in LOSS_FUNCTIONS or (is_square(v) and v.parents[0].op != "+") for v in summed)


RULES = (
    column_and_row,
    stretched_in_a_loss,
    steep_at_zero,
    both_arms_of_where,
    activation_before_loss,
    gradient_ascent,
)
