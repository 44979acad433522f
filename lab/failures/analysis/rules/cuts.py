"""Rules about cuts in the graph (detach, no_grad, item, NumPy, choices): is this loss, term or parameter behind one?

`CUTS` names the sentence for each kind of cut. Three questions use it: does the whole loss lie behind a cut, does a
term of it, does a parameter that an optimizer moves? A cut next to anything unknown is not reported.
"""

import ast
import itertools
from collections.abc import Iterator

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.facts import (
    TENSORS,
    Value,
    ancestors,
    graph_of,
    has_parameters,
    is_network_output,
    is_unknown_call,
    is_unknown_loss,
    modules,
    surely_reached,
    traverse,
    without,
)
from lab.failures.analysis.kinds import Cut, EventKind, Kind, Tag
from lab.failures.analysis.registry import BROADCASTING_LOSSES, CREATORS, LAYERS, LOSS_FUNCTIONS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.rules.numbers import discounted
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
    for event in case.events_of(EventKind.BACKWARD):
        value = event.value
        number = value.kind == Kind.NUMBER and any(v.op == "item" for v in ancestors(value, live=False))
        asked = [e for e in case.events_of(EventKind.ASK) if e.value is value and is_simple(e.statement)]
        without_graph = value.graph is False and value.kind in TENSORS | {Kind.UNKNOWN, Kind.NUMBER}
        if without_graph or number or asked or only_data(value):
            yield from first_cut(case, event)
        if asked:
            yield case.hit("forced_requires_grad", asked[0].node, None, event)


def only_data(value: Value) -> bool:
    """Return whether no live path leads to a parameter: only batches, targets, and cuts with layers behind."""
    alive = list(ancestors(value))
    judges = {v.base for v in alive if is_unknown_loss(v)}
    strangers = [v for v in alive if v.kind == Kind.UNKNOWN and not v.cut and not v.parents and v not in judges]
    if any(v.op for v in strangers) or any(is_source(v) for v in alive if not v.cut):
        return False
    behind = [v for c in alive if c.cut for v in ancestors(c, live=False)]
    remade = any(v.cut == Cut.WRAPPED and v.leaf and v.graph for v in alive) and not strangers
    if remade or any(v.kind == Kind.MODULE and v.op in LAYERS for v in behind):
        return True
    targets = {v.parents[-1] for v in alive if v.op in LOSS_FUNCTIONS or is_unknown_loss(v)}
    return any(v.op == "call" for v in behind) and all(v.iterations or v in targets for v in strangers)


def is_source(value: Value) -> bool:
    """Return whether a value may have a gradient of its own, not only by what it was computed from."""
    called = (value.op == "call" and not is_unknown_loss(value)) or bool(value.branches)
    learned = value.kind in {Kind.MODULE, Kind.PARAMETER} or (value.graph and (value.leaf or not value.parents))
    return called or bool(learned)


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
    """Report failure 4: the program itself creates every tensor on the way, and none requires a gradient."""
    known = {Kind.TENSOR, Kind.NUMBER, Kind.FLAG, Kind.TEXT, Kind.LIST}
    made = [v for v in found if v.leaf and isinstance(v.node, ast.Call) and v.op in CREATORS]
    if made and not any(v.kind not in known or v.branches or v.cut or v.op == "item" for v in found):
        yield from ask(case, min(made, key=lambda v: v.node.lineno if v.node else 0), event)


def ask(case: Case, value: Value, event: Event) -> Iterator[RuleHit]:
    """Report failure 4 at the tensor that should require a gradient."""
    if (node := value.node) is not None:
        created = isinstance(node, ast.Call) and value.op in CREATORS
        keyword = case.text.with_keyword(node, "requires_grad", "True") if isinstance(node, ast.Call) else ""
        change = keyword if created else f"{case.text.operand(node)}.requires_grad_()"
        yield case.hit("nothing_requires_grad", node, change, event, value=value)


def gradient_of_plain_tensor(case: Case) -> Iterator[RuleHit]:
    """Report failure 4: a gradient is read of, or computed for, a tensor of the program that does not require one.
    Reports nothing for this project's engine, whose tensors require gradients by default."""
    for event in case.events_of(EventKind.READ_GRAD, EventKind.DIFFERENTIATE) if case.torch else ():
        value, source = event.value, without(event.value, {"view"})
        made = source.leaf and source.op in CREATORS
        plain = made and value.graph is False and not value.cut and Tag.FROZEN not in value.tags
        if plain and (event.kind == EventKind.DIFFERENTIATE or value in case.backward_reached):
            yield from ask(case, value, event)


def term_behind_a_cut(case: Case) -> Iterator[RuleHit]:
    """Report failures 12, 13 and 21: one term of the loss is behind a cut, while another term has a gradient.
    Reports nothing for factors, and if the loss contains a detach: a straight-through estimator gives a choice a
    gradient that way."""
    for event in case.events_of(EventKind.BACKWARD):
        parts = list(traverse(event.value, summands))
        if event.value.graph is False or any(part.cut == Cut.DETACH for part in parts):
            continue
        for term in parts:
            number = term.op == "item" and term.form == "loss"
            plain = term.kind == Kind.TENSOR and graph_of(term) is False and graph_of(event.value) is True
            found = list(ancestors(term, live=False)) if plain or number else []
            cuts = [v for v in found if v.cut and any(graph_of(p) is True for p in v.parents)]
            if cuts and {v.cut for v in cuts} in ({Cut.CHOICE}, {Cut.NO_GRAD}, {Cut.ITEM}):
                yield from cut_hit(case, cuts[0], event, "the parameters of this term")


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
            for event, live in lives:
                if event.loops != step.loops or any(v.op == "call" and not v.cut and not is_known(v) for v in live):
                    continue
                cuts = [v for v in live if v.cut in CUTS and any(p in parts for p in ancestors(v, live=False))]
                targets = {e.other for e in case.events_of(EventKind.LOSS)}
                cuts.sort(key=lambda v: v in targets)  # a target may be detached on purpose
                if cuts:
                    before = [v for v in ancestors(cuts[0], live=False) if v.cut and v.cut_by is not None]
                    cut = next((v for v in before if v.cut != Cut.WRAPPED), cuts[0])
                    yield from cut_hit(case, cut, event, f"{item:the parameters}")


def learned_parts(whole: Value) -> Iterator[Value]:
    """Yield what an optimizer was given, and the layers and parameters that are attributes of it."""
    yield whole
    if whole.op in {"module", "ModuleDict"} and not whole.tags & {Tag.FROZEN, Tag.EVAL}:
        for part in whole.attributes.values():
            free = part.kind == Kind.PARAMETER and part.base is None
            if free or (part.kind == Kind.MODULE and has_parameters(part)):
                yield from learned_parts(part)


def is_known(value: Value) -> bool:
    """Return whether it is known what was called: a network, a function of torch, or a loss."""
    return is_unknown_loss(value) or (value.base is not None and value.base.kind in {Kind.MODULE, Kind.LIBRARY})


def still_frozen(case: Case) -> Iterator[RuleHit]:
    """Report failure 12: frozen parameters are to learn again, but what is set is not their requires_grad.
    Reports nothing for an object's own flag."""
    for event in case.events_of(EventKind.ATTRIBUTE):
        owner, node = event.value, event.node
        on = event.other is not None and event.other.constant is True and Tag.FROZEN in (owner.base or owner).tags
        if on and event.detail.startswith("require") and isinstance(node, ast.Attribute):
            name = case.text.of(node.value)
            if name != "self":
                yield case.hit("frozen_by_wrong_name", event.statement, None, word=event.detail, name=name)


def moving_target(case: Case) -> Iterator[RuleHit]:
    """Report failure 11: the network's own discounted output is its target, so the gradient pulls both."""
    pairs = [(e.value, e.other) for e in case.events_of(EventKind.LOSS) if e.other and e.detail in BROADCASTING_LOSSES]
    for top in dict.fromkeys(
        v for e in case.events_of(EventKind.BACKWARD) for v in surely_reached(e.value) if v.op == "-"
    ):
        pairs += list(itertools.permutations(top.parents, 2))
    for prediction, target in pairs:
        if not discounted(target):
            continue
        statement = target.statement
        alive = list(ancestors(prediction))
        shared = {v for v in alive if v.kind == Kind.MODULE and graph_of(v)}
        shared |= {v.base for v in alive if is_network_output(v) and v.base is not None}
        own = not is_unknown_call(target) and any(v in shared for v in surely_reached(target))
        if own and isinstance(statement, ast.Assign | ast.Return) and statement.value is not None:
            made = target.node if isinstance(target.node, ast.BinOp) else statement.value
            yield case.hit("moving_target", statement, [(made, f"({case.text.of(made)}).detach()")], value=target)


RULES = (
    loss_behind_a_cut,
    gradient_of_plain_tensor,
    term_behind_a_cut,
    parameter_behind_a_cut,
    still_frozen,
    moving_target,
)
