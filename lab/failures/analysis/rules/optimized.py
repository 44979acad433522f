"""Rules of failure 19: what a backward pass reaches and no optimizer moves, and the reasons for it."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, ancestors, has_parameters, modules
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import LAYERS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.rules.order import is_update
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import argument, is_simple
from lab.failures.analysis.work import walk


def unregistered(case: Case) -> Iterator[RuleHit]:
    """Report layers in a plain list or dict of a module, or a weight that is not a Parameter.
    Reports nothing if the layers are also registered elsewhere, or handed in by a caller who may hold them."""
    nn = case.imports.get("torch.nn", "torch.nn")
    for event in case.events_of(EventKind.ATTRIBUTE):
        owner, value, statement = event.value, event.other, event.statement
        if owner.kind != Kind.MODULE or owner.op != "module" or value is None or not isinstance(statement, ast.Assign):
            continue
        if registers_itself(owner):
            continue
        target = statement.targets[0]
        if value.kind in {Kind.LIST, Kind.DICT} and Tag.VARARGS not in value.tags:
            items = value.items or []
            layers = [v for v in items if v.kind == Kind.MODULE and has_parameters(v)]
            free = [v for v in items if v.kind == Kind.PARAMETER and v.base is None and Tag.FROZEN not in v.tags]
            known = any(v.tags & {Tag.REGISTERED, Tag.EXPOSED} for v in layers)
            if (layers or free) and not known:
                box = f"{'Module' if layers else 'Parameter'}{'List' if value.kind == Kind.LIST else 'Dict'}"
                change = [(statement.value, f"{nn}.{box}({case.text.of(statement.value)})")]
                yield case.hit("hidden", statement, change, box=box, target=target)
        elif value.kind == Kind.TENSOR and value.leaf and argument(statement.value, "requires_grad") is not None:
            change = [(statement.value, f"{nn}.Parameter({case.text.of(statement.value)})")]
            yield case.hit("no_parameter", statement, change if value.graph else None, target=target)


def registers_itself(module: Value) -> bool:
    """Return whether a class keeps account of its layers in a way that is not followed."""
    inside = list(walk(module.body.definition)) if module.body is not None else []
    names = {getattr(node, "attr", getattr(node, "id", getattr(node, "name", ""))) for node in inside}
    return bool(names & {"_modules", "_parameters", "__dict__", "vars", "__setattr__", "exec"}) or any(
        isinstance(node, ast.FunctionDef) and node.name in {"parameters", "named_parameters"} for node in inside
    )


def optimizer_of_nonleaf(case: Case) -> Iterator[RuleHit]:
    """Report an optimizer that gets a result instead of a leaf."""
    for event in case.events_of(EventKind.OPTIMIZER) if case.torch else ():
        for value in event.value.items or []:
            result = value.kind == Kind.TENSOR and not value.leaf and value.graph is True
            if result and isinstance(value.statement, ast.Assign | ast.Return):
                yield case.hit("optimizer_of_nonleaf", value.statement, None, event, value=value)


def is_tracked(case: Case) -> bool:
    """Return whether it is known what each optimizer moves, and nothing else moves parameters."""
    makers, stepped = case.events_of(EventKind.OPTIMIZER), [e.value for e in case.events_of(EventKind.STEP)]
    known = all(e.value.items is not None for e in makers) and all(v.kind == Kind.OPTIMIZER for v in stepped)
    return bool(makers) and known and not any(is_update(e) for e in case.state.events)


def left_out(case: Case) -> Iterator[RuleHit]:
    """Report what a pass reaches and no optimizer moves, with the reason: it joined a network after the optimizer was
    made, or the optimizer simply lacks it. Reports nothing for what is frozen, loaded, evaluated or used elsewhere."""
    if not is_tracked(case):
        return
    late = list(joins_late(case))
    yield from late
    for name, parts in left_modules(case) if not late else ():
        makers = (e for e in case.events_of(EventKind.OPTIMIZER) if stepped_with(case, e, parts))
        if parts and (maker := next(makers, None)) is not None:
            yield case.hit("left_out", maker.node, None, name=name)


def joins_late(case: Case) -> Iterator[RuleHit]:
    """Report a layer that joins a network which an optimizer has, if no other optimizer is made later."""
    makers = case.events_of(EventKind.OPTIMIZER)
    for event in case.events_of(EventKind.ATTRIBUTE) if "add_param_group" not in case.names else ():
        value, place = event.other, case.order[event]
        if value is None or value.kind != Kind.MODULE or not has_parameters(value) or not is_simple(event.statement):
            continue
        before = [e for e in makers if case.order[e] < place and event.value in e.value.moved]
        known = value in case.optimized or Tag.FROZEN in value.tags or event.in_forward
        if before and not known and not any(case.order[e] > place for e in makers):
            yield case.hit("layer_joins_late", event.statement, None, before[0], name=before[0].value.name)


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


RULES = (unregistered, optimizer_of_nonleaf, left_out)
