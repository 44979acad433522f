"""The rule about losses that are gathered with their graphs."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import (
    Value,
    following_on,
    judge,
    reach,
)
from lab.failures.analysis.kinds import Act, Kind
from lab.failures.analysis.program import Event, apart
from lab.failures.analysis.rules.case import Case, RuleHit, receiver
from lab.failures.analysis.shapes import (
    leaves,
)


def summands(value: Value) -> Iterator[Value]:
    """A value and what it was computed from by arithmetic."""
    arithmetic = {"+", "-", "*", "/", "neg", "view", "mean", "sum"}
    return following_on(value, lambda here: here.parents if here.op in arithmetic and not here.cut else ())


def gathered_in(statement: ast.stmt) -> ast.expr | None:
    """What is written left of = or +=."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    return statement.targets[0] if isinstance(statement, ast.Assign) else None


def let_go(case: Case, event: Event, value: Value) -> bool:
    """Is it a part of a loss whose pass came before in this turn, so that its graph is of no more use?"""
    if value.form != "loss" or value.kind != Kind.TENSOR or not (value.graph or value.shape == ()):
        return False
    events = case.interpreter.events
    return any(
        before.kind == Act.BACKWARD
        and before.turns == event.turns[: len(before.turns)]
        and not apart(before, event)
        and any(v is value for v in summands(before.value))
        for before in events[: events.index(event)]
    )


def kept_graphs(case: Case) -> Iterator[RuleHit]:
    """10: losses gathered with their graphs. Silent: where the sum itself is what a backward pass starts from, or is
    handed on with nothing known of its use."""
    passes = case.all(Act.BACKWARD, Act.USED)
    starts = {id(e.value) for e in case.all(Act.BACKWARD)}
    wanted = {id(v) for e in passes for v in reach(e.value, live=False)}
    evaluated = {e.place for e in case.all(Act.EVAL) if e.place is not None}
    busy = {place for e in passes for place in e.places}
    for event in case.all(Act.GATHER, Act.APPEND):
        statement, held = event.statement, event.other
        total = gathered_in(statement)
        lasts = event.again and isinstance(total, ast.Attribute)  # it outlives the call, as good as a loop
        if not (event.loops or lasts) or not event.recorded or held is None:
            continue
        looks = any(p in evaluated and p not in busy for p in event.places)
        computed = held.graph is not False and (
            (held.form == "loss" and held.kind == Kind.TENSOR) or judge(held) or held.graph is True
        )
        if event.kind == Act.APPEND:
            parts = [v for v in leaves([held]) if v.kind != Kind.NUMBER]
            parts = [v for v in parts if id(v) in starts or let_go(case, event, v)]
            known = bool(parts) or (looks and computed)
            names = {v.name for v in parts}
        else:
            if id(event.value) in wanted:
                continue
            inside = [
                v for v in summands(held) if v.kind != Kind.NUMBER and (id(v) in starts or let_go(case, event, v))
            ]
            known = bool(inside) and event.value.kind != Kind.NUMBER
            names = {v.name for v in inside}
            known = known or (looks and computed)
        if not known:
            continue
        if total is not None and isinstance(statement, ast.AugAssign | ast.Assign):
            target, value = case.text.of(total), statement.value
        elif isinstance(event.node, ast.Call) and event.node.args:
            target, value = case.text.of(receiver(event.node) or event.node), event.node.args[0]
        else:
            continue
        uses = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in names]
        pieces: list[tuple[ast.AST, str]] = [(n, f"{n.id}.item()") for n in uses]
        pieces = pieces or [(value, f"{case.text.operand(value)}.item()")]
        yield RuleHit(
            10,
            statement,
            f"`{target}` holds on to the whole graph of each turn's loss as long as it lives: memory grows with every "
            "batch. Keep the number only.",
            case.text.replace(pieces),
        )
