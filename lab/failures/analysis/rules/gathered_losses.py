"""The rule about losses and results that are collected together with their graphs."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, is_unknown_loss, reach, traverse
from lab.failures.analysis.kinds import Act, Kind
from lab.failures.analysis.program import Event, exclusive
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.shapes import leaves
from lab.failures.analysis.syntax import receiver
from lab.failures.analysis.work import walk

JOINING = {"stack", "cat"}  # they take tensors, no numbers


def summands(value: Value) -> Iterator[Value]:
    """Yield a value and everything it was computed from by arithmetic."""
    arithmetic = {"+", "-", "*", "/", "neg", "view", "mean", "sum"}
    return traverse(value, lambda here: here.parents if here.op in arithmetic and not here.cut else ())


def assigned_target(statement: ast.stmt) -> ast.expr | None:
    """Return the target of an assignment with = or +=; None for any other statement."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    return statement.targets[0] if isinstance(statement, ast.Assign) else None


def backpropagated(case: Case, event: Event, value: Value) -> bool:
    """Tell whether a value is part of a loss that backward() already went through in the same iteration."""
    if value.form != "loss" or value.kind != Kind.TENSOR or not (value.graph or value.shape == ()):
        return False
    events = case.program.events
    return any(
        before.kind == Act.BACKWARD
        and before.turns == event.turns[: len(before.turns)]
        and not exclusive(before, event)
        and value in summands(before.value)
        for before in events[: events.index(event)]
    )


def never_freed(event: Event, value: Value, passes: list[Event]) -> bool:
    """Tell whether a summed loss belongs to an iteration with a backward pass, and no pass goes through it."""
    if value.form != "loss" or value.graph is not True or value.turns != event.turns or not value.turns:
        return False
    here = any(e.turns == value.turns and not exclusive(e, event) for e in passes)
    return here and not any(v is value for e in passes for v in reach(e.value, live=False))


def listed(case: Case, event: Event, value: Value) -> bool:
    """Tell whether a result is appended to a list that outlives the iteration, in which every pass through it is.
    A pass that comes later and not always may be what the list is for."""
    if value.kind != Kind.TENSOR or value.leaf or not value.graph or not event.loops:
        return False
    if event.value.kind != Kind.LIST or event.turns[-1][0] in dict(event.value.turns):
        return False
    alike = [e for e in case.events_of(Act.APPEND) if e.value is event.value and e.node is event.node]
    through = [e for e in case.events_of(Act.BACKWARD, Act.USED) if value in reach(e.value)]
    late = all(case.order[e] < case.order[event] for e in through)
    grows = len({e.turns for e in alike}) > 1 and not any(e.tests for e in through)
    here = all(e.turns == event.turns and not exclusive(e, event) for e in through)
    return bool(through) and here and (late or grows)


def handover_call(event: Event, names: set[str]) -> tuple[ast.stmt, list[ast.Name]] | None:
    """Return the call in an outer function that hands over one of the names, and its arguments; None without one."""
    for _, statement in event.path[:-1]:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call):
            given = [*call.args, *(key.value for key in call.keywords)]
            uses = [part for part in given if isinstance(part, ast.Name) and part.id in names]
            if uses:
                return statement, uses
    return None


def kept_graphs(case: Case) -> Iterator[RuleHit]:
    """Report failure 10: losses or results are collected with their graphs.
    Reports nothing if a backward pass starts from the sum itself, or if the sum is passed on and its use is unknown."""
    passes = case.events_of(Act.BACKWARD, Act.USED)
    starts = {e.value for e in case.events_of(Act.BACKWARD)}
    wanted = case.reached(Act.BACKWARD, Act.USED, live=False)
    evaluated = {e.function for e in case.events_of(Act.EVAL) if e.function is not None}
    busy = {place for e in passes for place in e.functions}
    for event in case.events_of(Act.GATHER, Act.APPEND):
        statement, held = event.statement, event.other
        total = assigned_target(statement)
        lasts = event.second_call and isinstance(total, ast.Attribute)  # it outlives the call
        if not (event.loops or lasts) or not event.recorded or held is None:
            continue
        summed = event.kind == Act.GATHER
        if summed and event.value in wanted:
            continue
        tensors = [v for v in (summands(held) if summed else leaves([held])) if v.kind != Kind.NUMBER]
        keeps = [never_freed(event, v, passes) if summed else listed(case, event, v) for v in tensors]
        parts = [v for v, k in zip(tensors, keeps, strict=True) if k or v in starts or backpropagated(case, event, v)]
        evaluating = any(p in evaluated and p not in busy for p in event.functions)
        loss = (held.form == "loss" and held.kind == Kind.TENSOR) or is_unknown_loss(held)
        computed = held.graph is True or (loss and held.graph is not False)
        known = bool(parts) and not (summed and event.value.kind == Kind.NUMBER)
        if not known and not (evaluating and computed):
            continue
        names = {v.name for v in parts}
        if total is not None and isinstance(statement, ast.AugAssign | ast.Assign):
            target, value = case.text.of(total), statement.value
        elif isinstance(event.node, ast.Call) and event.node.args:
            target, value = case.text.of(receiver(event.node) or event.node), event.node.args[0]
        else:
            continue
        yield kept_graph_hit(case, event, names, target, value)


def asked_later(case: Case, names: set[str]) -> bool:
    """Tell whether the program uses what it keeps as tensors: it asks an element for its number, or stacks them."""
    calls = [node.func for node in case.nodes(ast.Call) if isinstance(node.func, ast.Attribute)]
    asked = [func.value for func in calls if func.attr == "item" and not isinstance(func.value, ast.Call)]
    return any(case.text.of(node) not in names for node in asked) or any(func.attr in JOINING for func in calls)


def kept_graph_hit(case: Case, event: Event, names: set[str], target: str, value: ast.expr) -> RuleHit:
    """Return the hit for failure 10, with .item() or .detach() added where the value is handed over or kept."""
    held = event.other or Value()
    one = held.shape == () or held.form == "loss" or is_unknown_loss(held)
    number = "item()" if one and not asked_later(case, names | {case.text.of(value)}) else "detach()"
    handed = handover_call(event, names)
    names = names - {target}  # the sum itself is a number once its terms are
    uses = handed[1] if handed else [n for n in walk(value) if isinstance(n, ast.Name) and n.id in names]
    pieces: list[tuple[ast.AST, str]] = [(n, f"{n.id}.{number}") for n in uses]
    return case.hit(
        "kept_losses" if one else "kept_results",
        handed[0] if handed else event.statement,
        pieces or [(value, f"{case.text.operand(value)}.{number}")],
        target=target,
    )


RULES = (kept_graphs,)
