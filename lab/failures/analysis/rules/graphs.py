"""Rules about the life of a graph: freed and used again, carried on, kept, overwritten; and about its leaves."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import (
    Value,
    ancestors,
    graph_of,
    has_many_elements,
    has_parameters,
    is_network_output,
    is_unknown_loss,
    owner_of,
    storage_owner,
    traverse,
)
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import ELEMENTWISE, SAVING
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.shapes import leaves
from lab.failures.analysis.state import Event, exclusive
from lab.failures.analysis.syntax import inside, is_simple, names_in, receiver
from lab.failures.analysis.work import walk


def graph_used_again(case: Case) -> Iterator[RuleHit]:
    """Report failures 2 and 11: a backward pass through a graph that an earlier pass has freed.
    Reports nothing with retain_graph, unless a state is carried from one iteration to the next; in different arms of
    one `if`; and if the shared part saves nothing that a pass needs, or is unknown."""
    gone: dict[Value, Event] = {}
    done: set[ast.AST] = set()
    for event in case.events_of(EventKind.BACKWARD, EventKind.USED):
        values = [
            v
            for v in ancestors(event.value, sure=True)
            if (v.graph and not v.leaf and v.kind == Kind.TENSOR and saves(v)) or (is_network_output(v) and not v.cut)
        ]
        shared = [(v, gone[v]) for v in values if v in gone and not exclusive(gone[v], event)]
        if shared and event.node not in done:
            done.add(event.node)
            yield from freed_graph(case, event, shared)
        gone |= dict.fromkeys(values, event)


def saves(value: Value) -> bool:
    """Return whether an operation saves tensors for the backward pass. A number as a factor is not a tensor."""
    tensors = [p for p in value.parents if p.kind not in {Kind.NUMBER, Kind.FLAG}]
    return value.op in SAVING and (value.op not in {"*", "/"} or len(tensors) > 1)


def freed_graph(case: Case, event: Event, shared: list[tuple[Value, Event]]) -> Iterator[RuleHit]:
    """Report a pass through a graph that an earlier one freed, at what should be done differently."""
    value, before = shared[0]
    between = case.state.events[case.order[before] : case.order[event]]
    stepped = any(e.kind == EventKind.STEP and {*e.value.moved} & {*map(owner_of, ancestors(value))} for e in between)
    iterations = dict(event.iterations)
    earlier_turn = any(iterations.get(loop, iteration) != iteration for loop, iteration in value.iterations)
    node = before.node
    if event.value is not before.value and (earlier_turn or (event.second_call and not before.second_call)):
        unknown = all(v.op == "call" for v, _ in shared)  # a network defined elsewhere may detach its state itself
        if not (unknown and any("detach" in name for name in case.names)):
            yield from carried_state(case, event)
    elif "retain" in before.detail:
        return
    elif stepped or (event.value is before.value and before.kind == EventKind.BACKWARD):
        yield case.hit("freed_before", event.node, None, event, freed=before.line)
    elif (undetached := list(undetached_input(case, event, before, [v for v, _ in shared]))) != []:
        yield from undetached
    elif isinstance(node, ast.Call) and not node.args and not before.detail:
        change = case.text.with_keyword(node, "retain_graph", "True")
        yield case.hit("frees_later_pass", node, change, event, freed=before.value)


def carried_state(case: Case, event: Event) -> Iterator[RuleHit]:
    """Report failure 11 where a state is computed that the next iteration goes on from. The state is a name that a loop
    carries on, or an attribute, which outlives a call."""
    alive = set(ancestors(event.value))

    def lives(value: Value) -> bool:
        return value in alive or any(v in alive for v in leaves([value]))

    for loop in reversed(event.loops):
        carried = [pair for left in case.state.carried.get(loop, []) for pair in left.items()]
        names = {name: v for name, v in carried if lives(v) and graph_of(v) is not False}
        made = [node for node in walk(loop) if isinstance(node, ast.Assign)]
        for node in made:
            own = [name for target in node.targets for name in names_in(target) if name in names]
            found = [name for name in own if read_before(name, node, loop)]
            if found:
                yield case.hit("carried_state", node, None, event, name=found[0])
                return
    for kept in reversed(case.events_of(EventKind.ATTRIBUTE)):
        value = kept.other
        if value is not None and lives(value) and value.kind not in {Kind.MODULE, Kind.PARAMETER}:
            yield case.hit("carried_state", kept.statement, None, event, name=case.text.of(kept.node))
            return


def read_before(name: str, made: ast.stmt, loop: ast.stmt) -> bool:
    """Return whether a loop reads a name above the statement that assigns it: a value of the previous iteration."""
    read = (n for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id == name)
    return any(node.lineno <= made.lineno for node in read)


def undetached_input(case: Case, event: Event, before: Event, shared: list[Value]) -> Iterator[RuleHit]:
    """Report failure 11: the pass of one network runs on into another, whose own pass then lacks its graph."""
    events, start, end = case.state.events, case.order[before], case.order[event]
    step = next((e for e in events[start:end] if e.kind == EventKind.STEP), None)
    top = next((v for v in shared if v.name), None)
    if step is None or top is None or step.value.items is None:
        return
    parts = [p for v in shared for p in v.parents if p.kind == Kind.MODULE]
    foreign = [p for p in parts if (has_parameters(p) or Tag.ANY in p.tags) and p not in step.value.moved]
    users = [v for v in ancestors(before.value) if top in v.parents]
    texts = [node for user in users for node in (user.node, user.statement) if node is not None]
    calls = [call for node in texts for call in walk(node) if isinstance(call, ast.Call)]
    for use in (use for call in calls for use in call.args if isinstance(use, ast.Name) and use.id == top.name):
        if foreign and use.lineno <= before.line:
            change = [(use, f"{top.name}.detach()")]
            yield case.hit("undetached", use, change, before, optimizer=step.value, name=top.name, later=event.line)
            return


def starts_from_many(case: Case) -> Iterator[RuleHit]:
    """Report failure 3: a pass starts from several numbers without a gradient. Reports nothing for unknown shapes."""
    for event in case.events_of(EventKind.BACKWARD, EventKind.USED):
        value, node = event.value, event.node
        target, started = receiver(node), "given" in event.detail
        if event.kind == EventKind.USED:
            target = node.args[0] if isinstance(node, ast.Call) and graph_of(value) is True else None
        several = value.form == "losses" or has_many_elements(value)
        if started or value.kind != Kind.TENSOR or value.shape == () or not several or target is None:
            continue
        made = value.statement
        given = made.value if isinstance(made, ast.Assign | ast.Return) and isinstance(target, ast.Name) else None
        here = event.kind == EventKind.BACKWARD and given is not None and given is value.node
        part, place = (given, made) if here and given is not None and made is not None else (target, node)
        yield case.hit("starts_from_many", place, [(part, f"{case.text.operand(part)}.mean()")], event)


def kept_graphs(case: Case) -> Iterator[RuleHit]:
    """Report failure 10: losses or results are collected with their graphs.
    Reports nothing if a backward pass starts from the sum itself, or if the sum is passed on and its use is unknown."""
    passes = case.events_of(EventKind.BACKWARD, EventKind.USED)
    ends = {e.value for e in case.events_of(EventKind.BACKWARD)}
    starts = {v for end in ends for v in summands(end)}
    wanted = case.reached(EventKind.BACKWARD, EventKind.USED, live=False)
    evaluated = {e.function for e in case.events_of(EventKind.EVAL) if e.function is not None}
    busy = {place for e in passes for place in e.functions}
    for event in case.events_of(EventKind.GATHER, EventKind.APPEND):
        statement, held, summed = event.statement, event.other, event.kind == EventKind.GATHER
        total = getattr(statement, "target", None) or (getattr(statement, "targets", None) or [None])[0]
        if not event.loops or not event.recorded or held is None or (summed and event.value in wanted):
            continue
        tensors = [v for v in (summands(held) if summed else leaves([held])) if v.kind != Kind.NUMBER]
        parts = [v for v in tensors if v in starts and (v in ends or v.form == "loss") and v.graph is not False]
        evaluating = any(p in evaluated and p not in busy for p in event.functions)
        loss = (held.form == "loss" and held.kind == Kind.TENSOR) or is_unknown_loss(held)
        computed = held.graph is True or (loss and held.graph is not False)
        known = bool(parts) and not (summed and event.value.kind == Kind.NUMBER)
        if not known and not (evaluating and computed):
            continue
        target = total or receiver(event.node)
        if target is not None:
            args = event.node.args if isinstance(event.node, ast.Call) and total is None else []
            given = next(iter(args), getattr(statement, "value", None))
            alone = held.kind in {Kind.TENSOR, Kind.UNKNOWN}
            change = [(given, f"{case.text.operand(given)}.detach()")] if alone and given is not None else None
            yield case.hit("kept_graphs", statement, change, target=target)


def summands(value: Value) -> Iterator[Value]:
    """Yield a value and everything it was computed from by arithmetic."""
    arithmetic = {"+", "-", "*", "/", "neg", "view", "mean", "sum"}
    return traverse(value, lambda here: here.parents if here.op in arithmetic and not here.cut else ())


def grad_of_nonleaf(case: Case) -> Iterator[RuleHit]:
    """Report failure 5: .grad is read of a non-leaf.
    Reports nothing after retain_grad(), and for this project's engine, which keeps the gradient of a result."""
    for event in case.events_of(EventKind.READ_GRAD) if case.torch else ():
        value = event.value
        seen = value.kind == Kind.TENSOR or (value.kind == Kind.UNKNOWN and value.op in {"view", "index", *ELEMENTWISE})
        if not seen or value.leaf or not value.graph or Tag.RETAINED in value.tags:
            continue
        statement = value.statement
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if Tag.UPDATED in value.tags and isinstance(statement, ast.Assign | ast.Return):
            yield case.hit("leaf_replaced", statement, None, event)
        elif isinstance(target, ast.Name) and statement is not None:
            change = case.text.beside(statement, after=[f"{target.id}.retain_grad()"])
            yield case.hit("grad_not_retained", event.node, change, name=target.id, made=statement.lineno)
        elif isinstance(statement, ast.Assign | ast.Return):  # an attribute or item may be read anywhere
            yield case.hit("grad_of_result", statement, None, event)


def leaf_written(case: Case) -> Iterator[RuleHit]:
    """Report failure 7: a leaf that requires a gradient is written in place while operations are recorded.
    The operators of this project's engine never write in place: there, `w -= ...` makes a new tensor."""
    for event in case.events_of(EventKind.WRITE) if case.torch else ():
        statement, places = event.statement, [e.functions for e in case.events_of(EventKind.BACKWARD)]
        stepped = event.other and event.other.base is event.value and event.functions in places  # w -= lr * w.grad
        if not (event.required_grad or stepped) or not is_simple(statement) or case.text.indent(statement).strip():
            continue
        if event.recorded:
            yield case.hit("leaf_written", statement, case.text.under(statement, "with torch.no_grad():"), event)


def written_name(event: Event) -> str:
    """Return the name that is written to: h of h *= 2, h[0] = 1, h.add_(1), F.relu_(h) or self.act(h); else ""."""
    node, statement = event.node, event.statement
    written: ast.expr | None = getattr(statement, "target", None)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        written = statement.targets[0]
    elif isinstance(node, ast.Call):
        layer = event.detail == "argument" and not inside(statement, node)  # of a Sequential that is called here
        called = getattr(statement, "value", node) if layer else node
        first = called.args[0] if isinstance(called, ast.Call) and called.args else None
        written = first if event.detail == "argument" else receiver(node)
    written = written.value if isinstance(written, ast.Subscript) else written
    return ast.unparse(written) if isinstance(written, ast.Name | ast.Attribute) else ""


def overwritten(case: Case) -> Iterator[RuleHit]:
    """Report failure 1: numbers that the backward pass needs are overwritten.
    Reports nothing if no operation is known to have saved them, and outside of forward() if no pass needs them."""
    wanted = case.reached(EventKind.BACKWARD, EventKind.USED, live=False)
    for event in case.events_of(EventKind.WRITE):
        value, statement, name = event.value, event.statement, written_name(event)
        if value.leaf or not event.saved or not event.recorded or not is_simple(statement) or not name:
            continue
        if not event.in_forward and not {value, storage_owner(value)} & wanted:
            continue
        yield case.hit(
            "overwritten", statement, case.text.beside(statement, before=[f"{name} = {name}.clone()"]), name=name
        )


def stepped_before_pass(case: Case) -> Iterator[RuleHit]:
    """Report failure 1: an optimizer changes weights that a later pass through an older result needs.
    Reports nothing if an earlier pass has freed that result, and for a layer whose input needs no gradient."""
    made = {event.value: case.order[event] for event in case.events_of(EventKind.LAYER)}
    freed: set[Value] = set()
    for event in case.events_of(EventKind.BACKWARD, EventKind.USED):
        reached = set(ancestors(event.value, sure=True))
        for value in made.keys() & reached - freed if event.kind == EventKind.BACKWARD else ():
            between = case.state.events[made[value] : case.order[event]]
            first = next((i for i, e in enumerate(between) if e.kind == EventKind.BACKWARD), len(between))
            steps = (e for e in between[first:] if e.kind == EventKind.STEP and not exclusive(e, event))
            step = next((e for e in steps if value.parents[-1] in e.value.moved), None)
            if step is not None and any(graph_of(v) or case.optimized & {*ancestors(v)} for v in value.parents[:-1]):
                yield case.hit("stepped_before_pass", step.node, None, event, layer=value.parents[-1])
                break
        freed |= set() if "retain" in event.detail else reached


RULES = (
    stepped_before_pass,
    graph_used_again,
    starts_from_many,
    kept_graphs,
    grad_of_nonleaf,
    leaf_written,
    overwritten,
)
