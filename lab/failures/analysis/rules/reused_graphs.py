"""Rules about graphs that are used twice, and about state that a loop carries on."""

import ast
import itertools
import re
from collections.abc import Iterator

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.facts import (
    LAYERS,
    SAVING,
    Value,
    graph_of,
    has_many_elements,
    has_parameters,
    is_network_output,
    moved_by,
    reach,
    surely_reached,
    traverse,
)
from lab.failures.analysis.kinds import Act, Kind, Tag
from lab.failures.analysis.program import Event, exclusive
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.rules.cuts import decorated_function
from lab.failures.analysis.shapes import leaves
from lab.failures.analysis.syntax import inside, names_in, receiver
from lab.failures.analysis.work import walk


def graph_used_again(case: Case) -> Iterator[RuleHit]:
    """Report failures 2 and 11: a backward pass through a graph that an earlier pass has freed.
    Reports nothing with retain_graph, unless a state is carried from one iteration to the next; in different arms of
    one `if`; and if the shared part saves nothing that a pass needs, or is unknown."""
    gone: dict[Value, Event] = {}
    done: set[ast.AST] = set()
    for event in case.events_of(Act.BACKWARD, Act.USED):
        values = [
            v
            for v in surely_reached(event.value)
            if (v.graph and not v.leaf and v.kind == Kind.TENSOR and saves(v)) or (is_network_output(v) and not v.cut)
        ]
        shared = [(v, gone[v]) for v in values if v in gone and not exclusive(gone[v], event)]
        if shared and event.node not in done:
            done.add(event.node)
            hit = report_freed_graph(case, event, shared)
            yield from [hit] if hit is not None else []
        elif not shared and recurs(case, event) and (state := carried_state(case, event)) is not None:
            yield state[1]
        gone |= dict.fromkeys(values, event)


def recurs(case: Case, event: Event) -> bool:
    """Tell whether a pass goes through the previous iteration's state, from which this one's state is computed, too.
    The next iteration's pass will then go through that part again."""
    alive = set(reach(event.value))
    kept = [e for e in case.events_of(Act.ATTRIBUTE) if e.other is not None and e.other.kind == Kind.TENSOR]
    for one, two in itertools.combinations(kept, 2):
        before, now = one.other, two.other
        if before is None or now is None or one.node is not two.node or one.turns == two.turns or not event.loops:
            continue
        here = two.turns == event.turns[: len(two.turns)] and before in alive and before.graph
        if here and before in reach(now) and any(v.graph and saves(v) for v in reach(before)):
            return True
    return False


def weights_changed_between(case: Case) -> Iterator[RuleHit]:
    """Report failure 1: weights change between a forward pass and its backward pass, which needs the old ones.
    Reports nothing if no gradient goes on behind these weights, or if the graph is freed anyway."""
    events = case.program.events
    for end, event in enumerate(events):
        if event.kind != Act.BACKWARD:
            continue
        swapped = swap_loop_pair(case, event)
        made = [event.turns, event.turns[:-1]] if swapped is not None else [event.turns]
        users = [(v, weight) for v in reach(event.value) for weight in saved_weights(v) if v.turns in made]
        for value, weight in users:
            between = events[value.created_at : end]
            passes = [e for e in between if e.kind == Act.BACKWARD]
            if any("retain" not in e.detail and value in reach(e.value) for e in passes):
                continue
            steps = [e for e in between if moves(e, weight) and not exclusive(e, event)]
            if steps and steps[0].kind == Act.STEP and not passes:  # see wrong_order
                continue
            step = steps[0] if steps else None
            if step is None or not isinstance(event.statement, ast.Expr):
                continue
            lines = recomputing_lines(case, event, value)
            edit = case.text.before(event.statement, *lines) if lines else swapped
            if edit is not None:
                place = step.node if step.kind == Act.STEP else step.statement
                key = "weights_changed_between" if lines else "weights_changed_by_other_iteration"
                yield case.hit(key, place, edit, event)
                break


def swap_loop_pair(case: Case, event: Event) -> Edit | None:
    """Return the edit that swaps the two elements of a loop over a written-out pair; None for any other loop."""
    loop = event.loops[-1] if event.loops else None
    pair = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(pair, ast.Tuple | ast.List) or len(pair.elts) != 2:
        return None
    one, two = pair.elts
    return case.text.replace([(one, case.text.of(two)), (two, case.text.of(one))])


def saved_weights(value: Value) -> list[Value]:
    """Return the weights whose values an operation saves because a gradient goes on to its input."""
    if value.op in LAYERS and len(value.parents) > 1 and graph_of(value.parents[0]) is True:
        return [value.parents[-1]]
    if value.op in {"*", "@"} and all(graph_of(p) is True for p in value.parents):
        return [p for p in value.parents if p.leaf]
    return []


def moves(event: Event, weight: Value) -> bool:
    """Tell whether an event changes the numbers of a layer or leaf: an optimizer's step, or an update by hand."""
    if event.kind == Act.STEP:
        return any(weight is part for part in moved_by(event.value))
    written = event.kind == Act.UPDATE or (event.kind == Act.WRITE and not event.recorded)
    return written and (event.value is weight or event.value.base is weight)


def recomputing_lines(case: Case, event: Event, first: Value) -> list[str]:
    """Return the lines of the pass's block that compute its result from a value on."""
    block = set(event.block)
    found: dict[int, ast.stmt] = {}
    for value in reach(event.value):
        statement = value.statement
        if isinstance(statement, ast.Assign) and statement in block and first in reach(value):
            found[statement.lineno] = statement
    target = receiver(event.node)
    if not found and isinstance(target, ast.Name):  # a call returned it, perhaps in a tuple
        named = [s for s in event.block if isinstance(s, ast.Assign) and s.lineno < event.line]
        named = [s for s in named if target.id in names_given(s) and isinstance(s.value, ast.Call)]
        found = {s.lineno: s for s in named[-1:]}
    return [line for number in sorted(found) for line in case.text.of(found[number]).split("\n")]


def names_given(statement: ast.Assign) -> list[str]:
    """Return the names that an assignment binds."""
    return [n.id for target in statement.targets for n in walk(target) if isinstance(n, ast.Name)]


def saves(value: Value) -> bool:
    """Tell whether an operation saves tensors for the backward pass. A number as a factor is not a tensor."""
    tensors = [p for p in value.parents if p.kind not in {Kind.NUMBER, Kind.FLAG}]
    return value.op in SAVING and (value.op not in {"*", "/"} or len(tensors) > 1)


def report_freed_graph(case: Case, event: Event, shared: list[tuple[Value, Event]]) -> RuleHit | None:
    """Return the hit for a pass through a graph that an earlier one freed; None if unsure."""
    value, before = shared[0]
    kept = next((e for e in case.events_of(Act.CACHED) if value in reach(e.value)), None)
    if kept is not None:
        return report_kept_result(case, kept, event)
    turns = dict(event.turns)
    earlier_turn = any(turns.get(loop, turn) != turn for loop, turn in value.turns)
    if event.value is not before.value and (earlier_turn or (event.second_call and not before.second_call)):
        state = carried_state(case, event)
        unknown = all(v.op == "call" for v, _ in shared)  # a network defined elsewhere may detach its state itself
        detaches = any("detach" in name or "repackage" in name for name in case.names)
        if state is None or (unknown and (detaches or not STATE.search(state[0]))):
            return None
        return state[1]
    if "retain" in before.detail:
        return None
    if before.kind == Act.USED and isinstance(before.node, ast.Call):
        key = "freed_by_derivative" if event.kind == Act.BACKWARD else "derivative_freed_by_derivative"
        change = case.text.with_keyword(before.node, "retain_graph", "True")
        return case.hit(key, before.node, change, event, freed=before.value)
    if event.value is before.value:
        lines = [line for statement in rebuilt(event) for line in case.text.of(statement).split("\n")]
        if not lines:
            return None
        key = "freed_in_previous_iteration" if before.node is event.node else "freed_before"
        again = case.text.before(event.statement, *lines)
        return case.hit(key, event.node, again, event, freed=before.line)
    if (gan := undetached(case, event, before, [v for v, _ in shared])) is not None:
        return gan
    if before.node is event.node and (earlier := computed_before_loop(case, event)) is not None:
        return earlier
    call = before.node
    if isinstance(call, ast.Call) and not call.args and not before.detail:
        key = "frees_next_iteration" if before.node is event.node else "frees_later_pass"
        return case.hit(key, call, case.text.with_keyword(call, "retain_graph", "True"), event, freed=before.value)
    return None


STATE = re.compile(r"^(self\.)?(h|c|hx|hc|rnn_state|lstm_state)$|hidden")  # names of a recurrent network's state


def report_kept_result(case: Case, kept: Event, event: Event) -> RuleHit | None:
    """Return the hit for failure 2: a decorator keeps a result with its graph, which the first pass through it frees.
    None if the program may drop what was kept."""
    place, prop = decorated_function(case, kept.node), case.text.of(kept.node).endswith("property")
    name = place.name if place is not None else ""
    dropped = any(name in ast.unparse(node) for node in case.nodes(ast.Delete))
    if case.names & {"cache_clear", "delattr", "__dict__", "vars"} or dropped:
        return None
    assert isinstance(kept.node, ast.expr)
    change = "property" if prop else case.text.without(kept.node)
    return case.hit("kept_by_decorator", kept.node, change, event, name=name)


def rebuilt(event: Event) -> list[ast.stmt]:
    """Return the statements outside of the innermost loop that computed a result, in order."""
    statements: dict[int, ast.stmt] = {}
    for value in reach(event.value):
        statement, computed = value.statement, value.kind == Kind.TENSOR or value.op == "call"
        if computed and not value.leaf and isinstance(statement, ast.Assign):
            statements[statement.lineno] = statement
    loop = event.loops[-1] if event.loops else None
    return [statements[line] for line in sorted(statements) if not inside(loop, statements[line])]


def carried_state(case: Case, event: Event) -> tuple[str, RuleHit] | None:
    """Return the state taken over from the previous iteration: its name, and the hit for failure 11. The state
    is a name that the loop carries on, or an attribute, which outlives a call. None if there is no state."""
    alive = set(reach(event.value))

    def lives(value: Value) -> bool:
        return value in alive or any(v in alive for v in leaves([value]))

    for loop in reversed(event.loops):
        carried = [pair for left in case.program.carried.get(loop, []) for pair in left.items()]
        names = {name: v for name, v in carried if lives(v) and graph_of(v) is not False}
        made = [(node, names_given(node)) for node in walk(loop) if isinstance(node, ast.Assign)]
        for reads in (True, False):  # prefer a statement that reads and assigns the state
            for node, targets in made:
                read = names_in(node.value)
                own = [target for target in dict.fromkeys(targets) if target in names]
                found = [target for target in own if (target in read if reads else read_first(target, node, loop))]
                if found and (not reads or any(isinstance(n, ast.Call) for n in walk(node.value))):
                    cut = [f"{name} = {detached(name, names[name])}" for name in found]
                    known = not reads or all(starts_as_tensor(case, name) for name in found)
                    edit = (case.text.before if reads else case.text.after)(node, *cut) if known else None
                    return found[0], case.hit("carried_state", node, edit, event, name=found[0])
    for kept in reversed(case.events_of(Act.ATTRIBUTE)):
        statement, value = kept.statement, kept.other
        if value is None or not isinstance(statement, ast.Assign) or not lives(value):
            continue
        if kept.value.kind == Kind.UNKNOWN or value.kind in {Kind.MODULE, Kind.PARAMETER}:
            continue
        name = case.text.of(kept.node)
        parts = [n for n in walk(statement.value) if isinstance(n, ast.Attribute | ast.Subscript)]
        reads = ast.unparse(kept.node) in [ast.unparse(part) for part in parts]
        known = not reads or starts_as_tensor(case, name)
        line = f"{name} = {detached(name, value)}"
        edit = (case.text.before if reads else case.text.after)(statement, line) if known else None
        return name, case.hit("carried_state", statement, edit, event, name=name)
    return None


def starts_as_tensor(case: Case, name: str) -> bool:
    """Tell whether no assignment gives a state a number or None, on which detach() would fail."""
    given = [*(statement.value for statement in case.assignments(name)), case.default(ast.Name(name))]
    return not any(isinstance(value, ast.Constant) for value in given)


def read_first(name: str, made: ast.stmt, loop: ast.stmt) -> bool:
    """Tell whether a loop reads a name above the statement that assigns it: a value of the previous iteration."""
    read = (n for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id == name)
    return any(node.lineno <= made.lineno for node in read)


def detached(name: str, value: Value) -> str:
    return f"tuple(s.detach() for s in {name})" if value.kind == Kind.LIST else f"{name}.detach()"


def computed_before_loop(case: Case, event: Event) -> RuleHit | None:
    """Return a hit for what is computed before a loop and used in the pass of each iteration; None if there is none.
    Failure 2 if it is the only path to its network: compute it in each iteration. Else failure 11: one side of a
    comparison, to be detached."""
    loop = event.loops[-1] if event.loops else None
    if not isinstance(loop, ast.For | ast.While):
        return None
    for value in loop_inputs(event.value, loop):
        statement = case.assignment(value)
        computed = (value.kind == Kind.TENSOR and value.graph) or any(is_network_output(v) for v in reach(value))
        named = bool(value.name) and isinstance(statement, ast.Assign) and not inside(loop, statement)
        if computed and named and not value.leaf and isinstance(statement, ast.Assign):
            behind = {network for v in reach(value) for network in networks(v)}
            if behind & modules_around(event.value, value):
                change = [(statement.value, f"{case.text.operand(statement.value)}.detach()")]
                return case.hit("part_computed_once", statement, change, event, name=value.name)
            edit = case.text.before(loop.body[0], *case.text.of(statement).split("\n"))
            return case.hit("computed_once", statement, edit, event, name=value.name)
    return None


def loop_inputs(result: Value, loop: ast.stmt) -> Iterator[Value]:
    """Yield the values made before a loop that go into an operation inside it."""
    for user in reach(result):
        if loop in dict(user.turns):
            yield from (value for value in user.parents if loop not in dict(value.turns))


def networks(value: Value) -> list[Value]:
    """Return the module that a value is, or the unknown network that returned it."""
    if value.kind == Kind.MODULE:
        return [value]
    if is_network_output(value) and value.base is not None:
        return [value.base, *value.base.parents]
    return []


def modules_around(top: Value, value: Value) -> set[Value]:
    """Return the modules that a gradient of `top` reaches without going through `value`."""

    def before(here: Value) -> list[Value]:
        inside = here.items or [] if here.kind == Kind.LIST else []
        return [] if here.cut else [part for part in (*here.parents, *inside) if part is not value]

    return {network for here in traverse(top, before) if here is not value for network in networks(here)}


def undetached(case: Case, event: Event, before: Event, shared: list[Value]) -> RuleHit | None:
    """Return a hit for failure 11: the pass of one network runs on into another, whose own pass then lacks its
    graph."""
    events, start, end = case.program.events, case.order[before], case.order[event]
    step = next((e for e in events[start:end] if e.kind == Act.STEP), None)
    if step is None:
        return None
    if step.value.items is None:  # unknown parameters: a second optimizer is the only hint
        others = any(e.kind == Act.STEP and e.value is not step.value for e in events[end:])
        foreign = [v for v in shared if others and is_network_output(v)]
    else:
        moved = set(moved_by(step.value))
        parts = [p for v in shared for p in v.parents if p.kind == Kind.MODULE]
        foreign = [p for p in parts if (has_parameters(p) or Tag.ANY in p.tags) and p not in moved]
    top = next((v for v in shared if v.name), None)
    if not foreign or top is None:
        return None
    later = "the next iteration's pass" if event.node is before.node else f"the pass in line {event.line}"
    users = [v for v in reach(before.value) if top in v.parents]  # without the users of a detached copy
    for value in users or reach(before.value):
        texts = [text for text in (value.node if users else None, value.statement) if text is not None]
        calls = [node for text in texts for node in walk(text) if isinstance(node, ast.Call)]
        uses = [(call, use) for call in calls for use in call.args if max(call.lineno, use.lineno) <= before.line]
        for call, use in uses:
            if isinstance(use, ast.Name) and use.id == top.name:
                change = [(use, f"{top.name}.detach()")]
                fields = {"optimizer": step.value, "name": top.name, "later": later}
                return case.hit("undetached", call, change, before, **fields)
    return None


def backward_from_many(case: Case) -> Iterator[RuleHit]:
    """Report failure 3: backward() from several numbers without a gradient. Reports nothing if the shape is unknown."""
    for event in case.events_of(Act.BACKWARD):
        value, target = event.value, receiver(event.node)
        started = "given" in event.detail or "functional" in event.detail
        several = value.form == "losses" or has_many_elements(value) or one_per_sample(value)
        if started or value.kind != Kind.TENSOR or value.shape == () or not several or target is None:
            continue
        size = " x ".join(str(n) if n is not None else "N" for n in value.shape or ()) or "several"
        made = value.statement
        given = made.value if isinstance(made, ast.Assign | ast.Return) and isinstance(target, ast.Name) else None
        whole = given if given is value.node else None
        part, place = whole or target, made if made is not None and whole is not None else event.node
        change = [(part, f"{case.text.operand(part)}.mean()")]
        yield case.hit("backward_from_many", place, change, event, size=size)


def differentiated_many(case: Case) -> Iterator[RuleHit]:
    """Report failure 3 for autograd.grad: a sum gives each element's own derivative if each has its own input."""
    for event in case.events_of(Act.USED):
        node, value = event.node, event.value
        many = value.kind == Kind.TENSOR and has_many_elements(value) and graph_of(value) is True
        if many and "given" not in event.detail and isinstance(node, ast.Call) and node.args:
            change = [(node.args[0], f"{case.text.operand(node.args[0])}.sum()")]
            yield case.hit("differentiated_many", node, change, event)


def one_per_sample(value: Value) -> bool:
    """Tell whether a value has one number for each sample: a layer's column made a row, not summed since."""
    while value.shape is not None and len(value.shape) == 1 and value.parents:
        before = max(value.parents, key=lambda v: v.shape is not None and v.kind == Kind.TENSOR)
        if value.op == "view" and before.shape is not None and len(before.shape) == 2:
            return before.shape[1] == 1 and any(v.op in LAYERS for v in reach(before))
        value = before
    return False


RULES = (graph_used_again, weights_changed_between, backward_from_many, differentiated_many)
