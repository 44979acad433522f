"""Rules of failure 19: what a backward pass reaches and no optimizer moves, and the reasons for it."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, ancestors, has_parameters, modules
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import LAYERS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.rules.order import is_update
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import argument


def unregistered(case: Case) -> Iterator[RuleHit]:
    """Report layers in a plain list or dict of a module, or a weight that is not a Parameter.
    Reports nothing if the layers are also registered elsewhere, or handed in by a caller who may hold them."""
    nn = case.imports.get("torch.nn", "torch.nn" if case.imports else "nn")
    for event in case.events_of(EventKind.ATTRIBUTE):
        owner, value, statement = event.value, event.other, event.statement
        if owner.kind != Kind.MODULE or owner.op != "module" or value is None or not isinstance(statement, ast.Assign):
            continue
        if owner.body and {f.name for f in owner.body.functions} & {"parameters", "named_parameters", "__setattr__"}:
            continue  # it registers in a way of its own
        target = statement.targets[0]
        if value.kind in {Kind.LIST, Kind.DICT}:
            items = value.items or []
            layers = [v for v in items if v.kind == Kind.MODULE and has_parameters(v)]
            free = [v for v in items if v.kind == Kind.PARAMETER and v.base is None and Tag.FROZEN not in v.tags]
            known = any(v.tags & {Tag.REGISTERED, Tag.EXPOSED} for v in layers + free)
            if (layers or free) and not known:
                box = f"{'Module' if layers else 'Parameter'}{'List' if value.kind == Kind.LIST else 'Dict'}"
                change = [(statement.value, f"{nn}.{box}({case.text.of(statement.value)})")]
                yield case.hit("hidden", statement, change, box=box, target=target)
        elif value.kind == Kind.TENSOR:
            asked = value.leaf and argument(statement.value, "requires_grad") is not None
            moved = any(v.leaf and v.graph and v.statement is statement for v in value.parents and ancestors(value))
            if asked or moved:  # nn.Parameter(...).cuda() is a tensor computed from one
                change = [(statement.value, f"{nn}.Parameter({case.text.of(statement.value)})")]
                yield case.hit("no_parameter", statement, change if asked and value.graph else None, target=target)


def is_tracked(case: Case) -> bool:
    """Return whether it is known what each optimizer moves, and nothing else moves parameters."""
    makers, stepped = case.events_of(EventKind.OPTIMIZER), [e.value for e in case.events_of(EventKind.STEP)]
    known = all(e.value.items is not None for e in makers) and all(v.kind == Kind.OPTIMIZER for v in stepped)
    return bool(makers) and known and not any(is_update(e) for e in case.state.events)


def left_out(case: Case) -> Iterator[RuleHit]:
    """Report what a pass reaches and no optimizer moves.
    Reports nothing for what is frozen, loaded, evaluated or used elsewhere."""
    if not is_tracked(case):
        return
    for name, parts in left_modules(case):
        makers = (e for e in case.events_of(EventKind.OPTIMIZER) if stepped_with(case, e, parts))
        if parts and (maker := next(makers, None)) is not None:
            yield case.hit("left_out", maker.node, None, name=name)


def given_too_late(case: Case) -> Iterator[RuleHit]:
    """Report a layer that a network gets after the only optimizer was made, which has the one that was there before."""
    makers = case.events_of(EventKind.OPTIMIZER)
    if len(makers) != 1 or "add_param_group" in case.names:
        return
    had = {part for item in makers[0].value.items or [] for part in modules(item)}
    for event in case.events_of(EventKind.ATTRIBUTE):
        layer, late = event.other, case.order[event] > case.order[makers[0]]
        if late and event.value in had and layer is not None and layer.kind == Kind.MODULE and has_parameters(layer):
            yield case.hit("left_out", event.node, None, name=case.text.of(event.node))


LEFT_ALONE = {Tag.EVAL, Tag.FROZEN, Tag.EXPOSED, Tag.REGISTERED}


def left_modules(case: Case) -> Iterator[tuple[str, set[Value]]]:
    """Yield networks with their parts that a pass reaches and no optimizer moves: all of them, or those that come
    after a part that one moves. Those before it may be left as they are on purpose."""
    attributes = case.events_of(EventKind.ATTRIBUTE)
    held = {
        v for e in attributes if e.other and e.value.kind != Kind.INSTANCE for v in (e.other, *(e.other.items or ()))
    }
    outputs = [v for v in case.backward_reached if v.op in LAYERS and len(v.parents) > 1]
    for box in case.state.objects:
        asleep = box.tags & LEFT_ALONE or any(part.tags & {Tag.EVAL, Tag.FROZEN} for part in modules(box))
        if box.kind != Kind.MODULE or asleep or box in held:
            continue
        parts = {part for part in modules(box) if part.op in LAYERS or part.leaf}
        left = (parts - case.optimized) & case.backward_reached
        if left != parts & case.backward_reached:
            after = [v for v in outputs if v.parents[-1] in left and case.optimized & {*ancestors(v.parents[0])}]
            left = {v.parents[-1] for v in after}
        name = next((part.name for part in left if part.name and parts != left), box.name)
        if name:
            yield name, left


def stepped_with(case: Case, maker: Event, parts: set[Value]) -> bool:
    """Return whether an optimizer steps for passes that reach some parts, or for none that are known."""
    moved = set(maker.value.moved)
    passes = [set(ancestors(event.value)) for event in case.events_of(EventKind.BACKWARD)]
    through = set().union(*(alive for alive in passes if alive & parts))
    if through & moved:
        return True
    unknown = any(v.branches or v.kind == Kind.UNKNOWN or v.op in {"call", "any"} for v in through)
    alone = len(case.events_of(EventKind.OPTIMIZER)) == 1 and not any(item.leaf for item in maker.value.items or [])
    return bool(through) and alone and not unknown and not moved & case.backward_reached


RULES = (unregistered, left_out, given_too_late)
