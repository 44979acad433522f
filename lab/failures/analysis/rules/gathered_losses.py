"""The rule about losses that are gathered with their graphs."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import (
    Value,
    is_unknown_loss,
    reach,
    traverse,
)
from lab.failures.analysis.kinds import Act, Kind
from lab.failures.analysis.program import Event, exclusive
from lab.failures.analysis.rules.case import Case, RuleHit, receiver
from lab.failures.analysis.shapes import (
    leaves,
)


def summands(value: Value) -> Iterator[Value]:
    """A value and what it was computed from by arithmetic."""
    arithmetic = {"+", "-", "*", "/", "neg", "view", "mean", "sum"}
    return traverse(value, lambda here: here.parents if here.op in arithmetic and not here.cut else ())


def gathered_in(statement: ast.stmt) -> ast.expr | None:
    """What is written left of = or +=."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    return statement.targets[0] if isinstance(statement, ast.Assign) else None


def let_go(case: Case, event: Event, value: Value) -> bool:
    """Is it a part of a loss whose pass came before in this turn, so that its graph is of no more use?"""
    if value.form != "loss" or value.kind != Kind.TENSOR or not (value.graph or value.shape == ()):
        return False
    events = case.program.events
    return any(
        before.kind == Act.BACKWARD
        and before.turns == event.turns[: len(before.turns)]
        and not exclusive(before, event)
        and any(v is value for v in summands(before.value))
        for before in events[: events.index(event)]
    )


def never_freed(event: Event, value: Value, passes: list[Event]) -> bool:
    """Is it a loss that a training loop adds up, made after its turn's pass and never gone back through?"""
    if value.form != "loss" or value.graph is not True or value.turns != event.turns or not value.turns:
        return False
    here = any(e.turns == value.turns and not exclusive(e, event) for e in passes)
    return here and not any(v is value for e in passes for v in reach(e.value, live=False))


def piled_up(case: Case, event: Event, value: Value) -> bool:
    """Is it a result that is put into a list which outlives the turn, after the only pass that goes through it?"""
    if value.kind != Kind.TENSOR or value.leaf or not value.graph or not event.loops:
        return False
    if event.value.kind != Kind.LIST or event.turns[-1] in event.value.turns:
        return False
    now = case.program.events.index(event)
    passes = [(i, e) for i, e in enumerate(case.program.events) if e.kind in {Act.BACKWARD, Act.USED}]
    through = [(i, e) for i, e in passes if any(v is value for v in reach(e.value))]
    return bool(through) and all(i < now and e.turns == event.turns and not exclusive(e, event) for i, e in through)


def handed_over(event: Event, names: set[str]) -> tuple[ast.stmt, list[ast.Name]] | None:
    """The call, in a function around, by which something that is kept was handed to the one that keeps it."""
    for _, statement in event.path[:-1]:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call):
            given = [*call.args, *(key.value for key in call.keywords)]
            uses = [part for part in given if isinstance(part, ast.Name) and part.id in names]
            if uses:
                return statement, uses
    return None


def kept_graphs(case: Case) -> Iterator[RuleHit]:
    """10: losses gathered with their graphs. Silent: where the sum itself is what a backward pass starts from, or is
    handed on with nothing known of its use."""
    passes = case.all(Act.BACKWARD, Act.USED)
    starts = {id(e.value) for e in case.all(Act.BACKWARD)}
    wanted = {id(v) for e in passes for v in reach(e.value, live=False)}
    evaluated = {e.function for e in case.all(Act.EVAL) if e.function is not None}
    busy = {place for e in passes for place in e.functions}
    for event in case.all(Act.GATHER, Act.APPEND):
        statement, held = event.statement, event.other
        total = gathered_in(statement)
        lasts = event.second_call and isinstance(total, ast.Attribute)  # it outlives the call, as good as a loop
        if not (event.loops or lasts) or not event.recorded or held is None:
            continue
        looks = any(p in evaluated and p not in busy for p in event.functions)
        computed = held.graph is not False and (
            (held.form == "loss" and held.kind == Kind.TENSOR) or is_unknown_loss(held) or held.graph is True
        )
        if event.kind == Act.APPEND:
            parts = [v for v in leaves([held]) if v.kind != Kind.NUMBER]
            parts = [v for v in parts if id(v) in starts or let_go(case, event, v) or piled_up(case, event, v)]
            known = bool(parts) or (looks and computed)
            names = {v.name for v in parts}
        else:
            if id(event.value) in wanted:
                continue
            inside = [
                v
                for v in summands(held)
                if v.kind != Kind.NUMBER
                and (id(v) in starts or let_go(case, event, v) or never_freed(event, v, passes))
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
        yield held_too_long(case, event, names, target, value)


def held_too_long(case: Case, event: Event, names: set[str], target: str, value: ast.expr) -> RuleHit:
    """10, with the names replaced that stand for what is kept: where it is handed over, or else where it is kept."""
    held = event.other or Value()
    one = held.shape == () or held.form == "loss" or is_unknown_loss(held)
    number = "item()" if one else "detach()"
    handed = handed_over(event, names)
    uses = handed[1] if handed else [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in names]
    pieces: list[tuple[ast.AST, str]] = [(n, f"{n.id}.{number}") for n in uses]
    return RuleHit(
        10,
        handed[0] if handed else event.statement,
        f"`{target}` holds on to the whole graph of each turn's {'loss' if one else 'result'} as long as it lives: "
        f"memory grows with every batch. {'Keep the number only.' if one else 'Detach what is kept.'}",
        case.text.replace(pieces or [(value, f"{case.text.operand(value)}.{number}")]),
    )
