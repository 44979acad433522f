"""Rules about numbers: shapes that broadcast by mistake, and steep functions at 0."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import (
    TENSORS,
    Value,
    ancestors,
    column_against_row,
    graph_of,
    is_square,
    traverse,
    without,
)
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import BROADCASTING_LOSSES, ELEMENTWISE, LAYERS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import inside, method, receiver


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
        meant = is_output(column) or (column.op == "gather" and discounted(row))
        if event.kind == EventKind.SUBTRACT and (not meant or on_purpose or (row.leaf and row.graph)):
            continue
        both = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])[:2]
        if len(both) == 2:
            part, other = both if column is event.value else reversed(both)
            change = [(part, f"{case.text.operand(part)}.squeeze(1)")]
            yield case.hit("table_of_pairs", node, change, column=part, row=other, n=column.shape[0] or "N")


def is_output(value: Value) -> bool:
    """Return whether a value has the shape in which a layer returned it."""
    if value.op in {"+", "-"}:
        return any(is_output(p) for p in value.parents)
    passes_on = value.op in {"call", "view"} or value.op in ELEMENTWISE
    return value.op in LAYERS or (passes_on and any(is_output(p) for p in value.parents[:1]))


def discounted(value: Value) -> bool:
    """Return whether a value is a sum with a term scaled by a discount factor, like the targets of Q-learning."""
    factors = traverse(value, lambda here: here.parents if here.op in {"+", "*"} else ())
    return value.op == "+" and any(isinstance(v.constant, float) and 0.8 < v.constant < 1 for v in factors)


def steep_at_zero(case: Case) -> Iterator[RuleHit]:
    """Report failure 9: the logarithm or root of what can be exactly 0, or a division by it.
    Reports nothing if something is added before, if no gradient goes through, and in where()."""
    for event in case.events_of(EventKind.LOG, EventKind.ROOT, EventKind.DIVIDE):
        part, where = steep_input(event.node), zero_source(event)
        if part is not None and where and event.node not in case.in_where:
            change = [(part, f"({case.text.of(part)} + 1e-8)")]
            yield case.hit("steep_at_zero", event.node, change, part=part, where=where)


def zero_source(event: Event) -> str:
    """Return where the input of a steep function is exactly 0; "" if nothing makes it so."""
    value = event.value
    if event.kind == EventKind.LOG and value.form in {"probabilities", "relu"}:
        return "" if graph_of(value) is False else "for a confident network"
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


STEEP = {"sqrt", "log", "rsqrt", "reciprocal", "log2", "acos", "asin", "exp"}  # their slope is infinite somewhere
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
    """Return whether an operation is steep where its input is 0, and where()'s condition tests that input.
    A power counts only if its base is known to have a graph: gamma correction of images uses one on data."""
    if value.op in {"**", "pow"} and len(value.parents) == 2:
        power = value.parents[1].constant
        part = value.parents[0] if isinstance(power, float) and not power.is_integer() else None
    elif value.op == "/" or value.op in STEEP:
        part = value.parents[-1] if value.parents else None
    else:
        part = None
    if part is None or part.op in SAFE or core(part) not in tested:
        return False
    return graph_of(part) is True or (graph_of(part) is None and value.op not in {"**", "pow"} and part.op != "call")


def core(value: Value) -> Value:
    """Return what a value is a multiple, a power or a difference of."""

    def inside(here: Value) -> tuple[Value, ...]:
        passes_on = here.op in {"*", "-", "neg", "abs", "view", "**", "pow", "square"}
        return tuple(part for part in here.parents if part.kind in TENSORS | {Kind.UNKNOWN})[:1] if passes_on else ()

    *_, last = traverse(value, inside)
    return last


RULES = (column_and_row, steep_at_zero, both_arms_of_where)
