"""Rules about cuts in the graph (detach, no_grad, item, NumPy, choices): is this loss, term or parameter behind one?

`CUTS` names the sentence for each kind of cut. Three questions use it: does the whole loss lie behind a cut, does a
term of it, does a parameter that an optimizer moves? A cut next to anything unknown is not reported.
"""

import ast
from collections.abc import Iterator

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.facts import (
    TENSORS,
    Value,
    ancestors,
    graph_of,
    has_parameters,
    is_unknown_call,
    is_unknown_loss,
    modules,
    traverse,
    without,
)
from lab.failures.analysis.kinds import Cut, EventKind, Kind, Tag
from lab.failures.analysis.registry import CREATORS, LAYERS, LOSS_FUNCTIONS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import is_simple, method, receiver

# The sentence for each kind of cut; the number of the failure stands there.
CUTS = {
    Cut.DETACH: "cut_by_detach",
    Cut.NO_GRAD: "cut_by_no_grad",
    Cut.ITEM: "cut_by_number",
    Cut.NUMPY: "cut_by_number",
    Cut.CHOICE: "cut_by_choice",
    Cut.WRAPPED: "cut_by_copy",
    Cut.DERIVATIVE: "cut_by_derivative",
    Cut.CHECKPOINT: "cut_by_checkpoint",
}


def cut_hit(case: Case, cut: Value, event: Event, what: str) -> Iterator[RuleHit]:
    """Report the failure of a cut; `what` is behind it, for the pass of an event."""
    node = cut.cut_by
    array = cut.cut == Cut.DETACH and not case.torch  # .data of this project's engine
    if isinstance(node, ast.expr):
        key = CUTS[Cut.NUMPY if array else cut.cut]
        yield case.hit(key, node, without_cut(case, cut, node), event, what=what)


def without_cut(case: Case, cut: Value, node: ast.expr) -> Edit | str | None:
    """Return the edit that takes a cut away; None where a person must think."""
    source = node.value if isinstance(node, ast.Attribute) else receiver(node)
    taken = cut.cut == Cut.DETACH or (cut.cut == Cut.ITEM and method(node) == "item")
    if source is not None and taken and case.torch:
        return case.text.of(source)
    if cut.cut == Cut.DERIVATIVE and isinstance(node, ast.Call):
        return case.text.with_keyword(node, "create_graph", "True")
    if cut.cut == Cut.NO_GRAD:
        blocks = (block for block in case.nodes(ast.With) if [item.context_expr for item in block.items] == [node])
        around = next(blocks, None)
        return case.text.unindented(around) if around else None
    return None


def loss_behind_a_cut(case: Case) -> Iterator[RuleHit]:
    """Report failures 4, 11, 12, 13 and 21: a pass starts from a value without a graph; the hit is at the cut.
    Reports nothing if anything on the way is unknown."""
    for event in case.events_of(EventKind.BACKWARD, EventKind.USED):
        value = event.value
        if event.kind == EventKind.USED and not (value.graph is False and value.cut == Cut.NO_GRAD):
            continue
        number = value.kind == Kind.NUMBER and any(v.op == "item" for v in ancestors(value, live=False))
        asked = [e for e in case.events_of(EventKind.ASK) if e.value is value and is_simple(e.statement)]
        without_graph = value.graph is False and value.kind in TENSORS | {Kind.UNKNOWN, Kind.NUMBER}
        if asked:
            yield case.hit("forced_requires_grad", asked[0].node, None, event)
        if without_graph or number or asked or only_data(value):
            yield from first_cut(case, event)


def only_data(value: Value) -> bool:
    """Return whether no live path leads to a parameter: only batches, targets, and cuts with layers behind."""
    alive = list(ancestors(value))
    losses = [v for v in alive if v.op in LOSS_FUNCTIONS or is_unknown_loss(v)]
    known = {without(v.parents[-1], {"view"}) for v in losses} | {v.base for v in losses}
    for part in (v for v in alive if not v.cut and v not in losses):
        stranger = part.kind == Kind.UNKNOWN and not part.parents and not part.iterations and part not in known
        learned = part.kind in {Kind.MODULE, Kind.PARAMETER} or (part.graph and (part.leaf or not part.parents))
        if stranger or learned or part.op == "call" or part.branches:
            return False
    return any(v.op == "call" or v.op in LAYERS for c in alive if c.cut for v in ancestors(c, live=False))


def first_cut(case: Case, event: Event) -> Iterator[RuleHit]:
    """Report the cut behind which the parameters of a loss lie, or the tensors that lack requires_grad."""
    found = list(ancestors(event.value, live=False))
    cuts = [v for v in found if v.cut and v.cut_by is not None]
    if event.value.kind == Kind.NUMBER and not cuts:  # only the .item() call is known
        number = next((v for v in found if v.op == "item" and v.node is not None), None)
        if number is not None and number.node is not None:
            yield case.hit(CUTS[Cut.ITEM], number.node, None, event, what="the parameters")
        return
    for cut in sorted(cuts, key=lambda v: v.cut == Cut.WRAPPED):
        behind = list(ancestors(cut, live=False))[1:]
        known = any(v.graph or graph_of(v) or v.cut or v.op == "call" for v in behind)
        by_numpy = cut.cut == Cut.DETACH and any(v.cut == Cut.NUMPY for v in found)
        if (cut.cut == Cut.NO_GRAD or known) and not by_numpy:
            yield from cut_hit(case, cut, event, "the parameters")
            return
    yield from nothing_requires_grad(case, event, found)


def nothing_requires_grad(case: Case, event: Event, found: list[Value]) -> Iterator[RuleHit]:
    """Report failure 4: the program itself creates every tensor on the way, and none requires a gradient. The hit is at
    the first that an optimizer was given, or else at the first."""
    known = {Kind.TENSOR, Kind.NUMBER, Kind.FLAG, Kind.TEXT, Kind.LIST}
    made = [(v.node, v) for v in found if v.leaf and isinstance(v.node, ast.Call) and v.op in CREATORS]
    if made and not any(v.kind not in known or v.branches or v.cut or v.op == "item" for v in found):
        node, value = min(made, key=lambda pair: (pair[1] not in case.optimized, pair[0].lineno))
        change = case.text.with_keyword(node, "requires_grad", "True")
        yield case.hit("nothing_requires_grad", node, change, event, value=value)


def term_behind_a_cut(case: Case) -> Iterator[RuleHit]:
    """Report failures 11, 12, 13 and 21: a cut keeps a term of the loss from all that the next steps move.
    Reports nothing if it is unknown what they move, for a detach of which no other network is behind, and for a choice
    next to a detach: a straight-through estimator gives it a gradient that way."""
    for event in case.events_of(EventKind.BACKWARD):
        after = case.state.events[case.order[event] + 1 :]
        ends = next((i for i, e in enumerate(after) if e.kind == EventKind.BACKWARD), len(after))
        steps = [e.value for e in after[:ends] if e.kind == EventKind.STEP]
        moved = {part for value in steps for part in value.moved}
        parts = list(traverse(event.value, summands)) if all(value.items for value in steps) else []
        through = any(part.cut == Cut.DETACH for part in parts)
        for term in parts:
            live = set(ancestors(term))
            if summands(term) or live & moved or any(v.branches or is_unknown_call(v) for v in live):
                continue
            other = any(v.kind == Kind.MODULE and graph_of(v) for v in live)
            kinds = {Cut.DETACH, Cut.NO_GRAD} if other else set() if through else {Cut.CHOICE, Cut.NO_GRAD, Cut.ITEM}
            cuts = (v for v in live if v.cut in kinds | {Cut.DERIVATIVE} and moved & {*ancestors(v, live=False)})
            if (cut := next(cuts, None)) is not None:
                yield from cut_hit(case, cut, event, "what the next step moves")


def summands(value: Value) -> tuple[Value, ...]:
    """Return the terms that a value is the sum of; a sum behind a cut is not taken apart."""
    if value.kind == Kind.NUMBER:
        return () if value.op == "item" else value.parents + value.branches
    return () if value.cut or value.op not in {"+", "-", "neg", "mean", "sum"} else value.parents


def parameter_behind_a_cut(case: Case) -> Iterator[RuleHit]:
    """Report failures 4, 11, 12, 13 and 21: an optimizer moves what a cut separates from every backward pass.
    Reports nothing if a pass reaches it on another path, or might through an unknown call, or if it is written to."""
    written = {e.value for e in case.events_of(EventKind.WRITE, EventKind.UPDATE)}
    lives = [(event, list(ancestors(event.value))) for event in case.events_of(EventKind.BACKWARD)]
    for step in case.events_of(EventKind.STEP):
        for item in dict.fromkeys(part for whole in step.value.items or [] for part in learned_parts(whole)):
            parts = set(modules(item))
            if item.tags & {Tag.FROZEN, Tag.EVAL} or parts & (case.backward_reached | written):
                continue
            place = case.order[step]  # the sentence names the last pass before it
            for event, live in sorted(lives, key=lambda life: (case.order[life[0]] > place, -case.order[life[0]])):
                if event.loops != step.loops or any(is_unknown_call(v) and not v.cut for v in live):
                    continue
                cuts = [v for v in live if v.cut in CUTS and any(p in parts for p in ancestors(v, live=False))]
                targets = {e.other for e in case.events_of(EventKind.LOSS)}
                cuts.sort(key=lambda v: v in targets)  # a target may be detached on purpose
                if cuts:
                    before = [v for v in ancestors(cuts[0], live=False) if v.cut and v.cut_by is not None]
                    cut = next((v for v in before if v.cut != Cut.WRAPPED), cuts[0])
                    yield from cut_hit(case, cut, event, f"{item:the parameters}")
                    break  # a cut before an earlier pass, as in a target, may be meant


def learned_parts(whole: Value) -> Iterator[Value]:
    """Yield what an optimizer was given, and the layers and parameters that are attributes of it."""
    yield whole
    if whole.op in {"module", "ModuleDict"} and not whole.tags & {Tag.FROZEN, Tag.EVAL}:
        for part in whole.attributes.values():
            free = part.kind == Kind.PARAMETER and part.base is None
            if free or (part.kind == Kind.MODULE and has_parameters(part)):
                yield from learned_parts(part)


def refused(case: Case) -> Iterator[RuleHit]:
    """Report failure 13, an array made of a tensor with a graph, and 22, a gradient that integers are asked for."""
    for event in case.events_of(EventKind.TO_NUMPY, EventKind.INTEGERS) if case.torch else ():
        if event.kind == EventKind.TO_NUMPY and not event.recorded:
            continue
        key = "refused_by_numpy" if event.kind == EventKind.TO_NUMPY else "integers_asked"
        yield case.hit(key, event.node, None, event)


RULES = (
    loss_behind_a_cut,
    parameter_behind_a_cut,
    term_behind_a_cut,
    refused,
)
