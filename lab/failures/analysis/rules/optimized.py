"""Rules of failure 19: what a backward pass reaches and no optimizer moves, and the reasons for it."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, ancestors, has_parameters, modules, moved_by
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import CREATORS, LAYERS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.rules.order import is_update
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import argument, is_simple
from lab.failures.analysis.work import walk


def made_in_forward(case: Case) -> Iterator[RuleHit]:
    """Report a parameter or a layer that `forward` creates.
    Reports nothing under an `if`, which may run once only, and for what does not require a gradient."""
    for event in case.events_of(EventKind.MADE):
        value, statement, place = event.value, event.statement, event.function
        constructor = not isinstance(place, ast.FunctionDef) or place.name == "__init__"
        conditional = any(isinstance(around, ast.If) for _, around in event.path)
        if constructor or conditional or not event.in_forward or not event.recorded or not is_simple(statement):
            continue
        if Tag.FROZEN not in value.tags:
            value.tags.add(Tag.MADE_IN_FORWARD)
            what = "layer" if value.kind == Kind.MODULE else "parameter"
            yield case.hit("made_in_forward", statement, None, what=what)


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
            known = known or (not layers and bool(set(owner.attributes.values()) & set(free)))
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


def refused_or_empty(case: Case) -> Iterator[RuleHit]:
    """Report an optimizer that gets a result instead of a leaf, or a generator that something has consumed."""
    for event in case.events_of(EventKind.OPTIMIZER) if case.torch else ():
        given = event.other
        if event.detail == "empty" and given is not None and isinstance(given.node, ast.expr):
            change = [(given.node, f"list({case.text.of(given.node)})")]
            yield case.hit("consumed_generator", event.node, change, name=given.name, made=given.node.lineno)
        for value in event.value.items or []:
            statement = value.statement
            result = value.kind == Kind.TENSOR and not value.leaf and value.graph is True
            if result and isinstance(statement, ast.Assign | ast.Return):
                yield case.hit("optimizer_of_nonleaf", statement, None, event, value=value)


def is_tracked(case: Case) -> bool:
    """Return whether it is known what each optimizer moves, and nothing else moves parameters."""
    makers, stepped = case.events_of(EventKind.OPTIMIZER), [e.value for e in case.events_of(EventKind.STEP)]
    known = all(e.value.items is not None for e in makers) and all(v.kind == Kind.OPTIMIZER for v in stepped)
    return bool(makers) and known and not any(is_update(e) for e in case.state.events)


LEFT_ALONE = {Tag.EVAL, Tag.FROZEN, Tag.EXPOSED}


def left_out(case: Case) -> Iterator[RuleHit]:
    """Report what a pass reaches and no optimizer moves, with the reason: a layer took its place, the optimizer
    has another one, or simply lacks it. Reports nothing for what is frozen, loaded, evaluated or used
    elsewhere, and next to an optimizer of leaves alone, which trains an input of a fixed network."""
    if is_tracked(case):
        late = list(replaced_layer(case))
        yield from late
        yield from missing(case, late)
        yield from missing_leaf(case)


def replaced_layer(case: Case) -> Iterator[RuleHit]:
    """Report a layer that joins a network after the optimizer was made, perhaps in the first `forward`.
    Reports nothing if another optimizer is made later, and for a layer made in `forward` without a test for None."""
    if "add_param_group" in case.names:
        return
    makers = case.events_of(EventKind.OPTIMIZER)
    replaced = {(e.node, e.other): e.value for e in case.events_of(EventKind.REPLACED)}
    made = {v: place for place, v in enumerate(case.state.objects)}
    for event in case.events_of(EventKind.ATTRIBUTE):
        owner, value = event.value, event.other
        if value is None or value.kind != Kind.MODULE or not has_parameters(value) or not is_simple(event.statement):
            continue
        held = {owner, replaced.get((event.node, value))}
        before = [e for e in makers if case.order[e] < case.order[event] and held & set(moved_by(e.value))]
        before = [e for e in before if made.get(owner, -1) < made[e.value]]  # a wrapper made later joins whole
        apart = [set(modules(item)) for e in makers for item in e.value.items or []]
        elsewhere = Tag.FROZEN in value.tags or any(value in parts and owner not in parts for parts in apart)
        again = any(case.order[e] > case.order[event] for e in makers)
        if before and not again and not elsewhere and (not event.in_forward or created_if_none(event)):
            yield case.hit("layer_joins_late", event.statement, None, before[0], name=before[0].value.name)


def created_if_none(made: Event) -> bool:
    """Return whether a layer is created under a test that its attribute is None."""
    around = next((s for _, s in reversed(made.path) if isinstance(s, ast.If)), None)
    return around is not None and ast.unparse(around.test) == f"{ast.unparse(made.node)} is None"


def missing(case: Case, late: list[RuleHit]) -> Iterator[RuleHit]:
    """Report a network, or a part of one that is listed after what the optimizer has, that no optimizer moves."""
    held = {
        v for e in case.events_of(EventKind.ATTRIBUTE) if e.other is not None for v in (e.other, *(e.other.items or ()))
    }
    inside = {
        e.other for e in case.events_of(EventKind.ATTRIBUTE) if e.value.kind == Kind.INSTANCE
    }  # self.head of a trainer
    makers = case.events_of(EventKind.OPTIMIZER)
    given = [item for e in makers for item in e.value.items or []]
    for box in case.state.objects:
        parts = set(modules(box))
        asleep = box.tags & (LEFT_ALONE | {Tag.REGISTERED, Tag.MADE_IN_FORWARD}) or late
        frozen = any(part.tags & {Tag.EVAL, Tag.FROZEN} for part in parts)
        if box.kind != Kind.MODULE or asleep or frozen or (box in held and box not in inside):
            continue
        own = box.items or [v for v in box.attributes.values() if v.kind == Kind.MODULE]
        first = next((place for place, part in enumerate(own) if part in given), None)
        if first is not None and (box.op == "module" or (box.op == "Sequential" and Tag.OPEN not in box.tags)):
            left = [p for p in own[first + 1 :] if has_parameters(p) and not p.tags & LEFT_ALONE]  # others may stay
        else:
            left = [box] if box.name and not parts & case.optimized else []
        left = [p for p in left if not set(modules(p)) & case.optimized and learned(p) & case.backward_reached]
        if left and (maker := next((e for e in makers if stepped_with(case, e, learned(left[0]))), None)) is not None:
            yield case.hit("left_out", maker.node, None, name=left[0].name or box.name or left[0].op)


def learned(box: Value) -> set[Value]:
    """Return the layers and leaves of a module."""
    return {part for part in modules(box) if part.op in LAYERS or (part.leaf and part.graph)}


def stepped_with(case: Case, maker: Event, layers: set[Value]) -> bool:
    """Return whether an optimizer of networks steps for passes that reach some layers, or for none that are known."""
    if not maker.value.items or all(item.leaf for item in maker.value.items):
        return False
    passes = [set(ancestors(event.value)) for event in case.events_of(EventKind.BACKWARD)]
    through = set().union(*(alive for alive in passes if alive & layers))
    unknown = any(v.branches or v.kind == Kind.UNKNOWN or v.op in {"call", "any"} for v in through)
    moved, alone = set(moved_by(maker.value)), len(case.events_of(EventKind.OPTIMIZER)) == 1
    return bool(through & moved) or (alone and not unknown and not moved & case.backward_reached)


def missing_leaf(case: Case) -> Iterator[RuleHit]:
    """Report a tensor that requires a gradient and is in the loss, and no optimizer moves.
    Reports nothing if its gradient is read or computed in another way, and for an input of layers."""
    used = case.reached(EventKind.READ_GRAD, EventKind.DIFFERENTIATE, EventKind.USED) | case.optimized
    used |= {e.other for e in case.events_of(EventKind.ATTRIBUTE) if e.other is not None}
    outputs = [v for v in case.backward_reached if v.op in LAYERS or v.op == "call"]
    inputs = {v for output in outputs for v in ancestors(output)}  # an input may require a gradient for other reasons
    for event in case.events_of(EventKind.BACKWARD) if case.torch else ():
        step = next((e for e in case.events_of(EventKind.STEP) if e.loops == event.loops), None)
        node = step.value.node if step is not None else None
        listed = isinstance(node, ast.Call) and bool(node.args) and isinstance(node.args[0], ast.List)
        for value in ancestors(event.value) if node is not None else ():
            free = value.leaf and value.graph and value.kind == Kind.TENSOR and value.name and value.op in CREATORS
            apart = (listed or value not in inputs) and value not in used
            if free and apart and node is not None and not value.cut and not value.branches:
                yield case.hit("left_out", node, None, name=value.name)


RULES = (made_in_forward, unregistered, refused_or_empty, left_out)
