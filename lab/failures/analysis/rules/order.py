"""Rules about the order within an iteration: zero the gradients, backward pass, step, schedule; and accumulation.

One automaton goes through the events for each updater, an optimizer or a tensor that is updated by hand. Its state is
what the gradients hold: nothing, those of a pass, or those of a pass that a step has used.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.facts import TENSORS, Value, ancestors, is_unknown_loss, modules, owner_of, owners, traverse
from lab.failures.analysis.kinds import EventKind, Kind, Tag, words
from lab.failures.analysis.registry import LOSS_FUNCTIONS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event, exclusive
from lab.failures.analysis.syntax import receiver
from lab.failures.analysis.work import StepList, walk


@dataclass(eq=False, slots=True)
class Updater:
    """An optimizer, or a tensor or module that is updated by hand."""

    value: Value
    text: str
    parts: set[Value] | None  # what it moves; None if unknown
    block: int | None = None  # id of the block of an update by hand

    def touched(self, backward: Event) -> bool | None:
        """Return whether a backward pass fills the gradients of what this moves; None if unknown."""
        found = list(ancestors(backward.value))
        unknown = any(
            v.branches or (v.kind == Kind.UNKNOWN and v.graph is not False) or v.op in {"call", "any"} for v in found
        )
        if self.parts is None:
            return None
        if any(v in self.parts or (v.base and v.base in self.parts) for v in found):
            return True
        return None if unknown else False

    def zeroed_by(self, zero: Event) -> bool:
        value = zero.value
        if value is self.value or self.parts is None or value.kind == Kind.UNKNOWN or Tag.ANY in value.tags:
            return True
        return bool(self.parts & set(modules(value)))

    def stepped_by(self, event: Event) -> bool:
        if event.kind == EventKind.STEP:
            return event.value is self.value
        return is_update(event) and owner_of(event.value) is self.value


def is_update(event: Event) -> bool:
    """Return whether a parameter is updated by hand: w.data -= lr * w.grad, or the same under no_grad."""
    if event.other is None or event.value.graph is False:
        return False
    behind = ancestors(event.other, live=False)
    gradient = any(v.kind == Kind.GRADIENT or Tag.UPDATED in v.tags for v in behind)
    return gradient and (event.kind == EventKind.UPDATE or (event.kind == EventKind.WRITE and not event.recorded))


def updaters(case: Case) -> list[Updater]:
    found: dict[Value, Updater] = {}
    for event in case.state.events:
        value, node = event.value, event.node
        if event.kind == EventKind.STEP:
            given = node.args[0] if isinstance(node, ast.Call) and node.args else None
            name = receiver(node) if given is None or value.kind == Kind.SCALER else given
            parts = set(value.moved) if value.items is not None else None
            found.setdefault(value, Updater(value, case.text.of(name) if name else "optimizer", parts))
        elif is_update(event):
            owner = owner_of(value)
            updater = Updater(owner, owner.name or value.name, {*modules(owner), owner}, id(event.block))
            found.setdefault(owner, updater)
    return list(found.values())


@dataclass
class Gradients:
    """The state of the automaton: what the gradients of an updater hold."""

    filled: Event | None = None  # the last pass, if no step has used it
    wasted: Event | None = None  # what zeroed them since
    steps: list[Event] = field(default_factory=list)  # that used gradients since they were last zeroed
    pending: list[tuple[Event, Event]] = field(default_factory=list)  # passes that add to what a step has used
    clean: bool = True  # no pass since they were zeroed


NOT_FOLLOWED = words(  # ways to zero gradients that are not followed
    "setattr _foreach_zero_ exec register_step_post_hook register_step_pre_hook register_post_accumulate_grad_hook"
)


def order_of_steps(case: Case) -> Iterator[RuleHit]:
    """Report failure 6, gradients that are never zeroed, and failure 18, a step that uses none or those of another
    batch. Reports nothing if anything unknown zeroes or steps, and for events in different arms of one `if`."""
    homes = {event.function for event in case.events_of(EventKind.ZERO)} - {None}
    lazy = any(isinstance(n, ast.Yield | ast.YieldFrom) for home in homes if home for n in walk(home))
    followed = not (lazy or case.names & NOT_FOLLOWED)
    stepped = updaters(case)
    together = len({updater.block for updater in stepped}) == 1 and all(updater.block for updater in stepped)
    steps = StepList(event for event in case.state.events if event.kind == EventKind.STEP or is_update(event))
    zeroes = bool(case.events_of(EventKind.ZERO)) or bool(case.names & {"zero_grad", "zero_"})
    added: dict[ast.AST, tuple[Event, list[Updater], Event]] = {}
    for updater in stepped:
        state = Gradients()
        for event in case.state.events:
            if event.kind == EventKind.BACKWARD:
                touched = updater.touched(event)
                state.wasted = None
                state.filled = event if touched is not False else state.filled
                if touched or (touched is None and (together or alone(updater, event, steps))):
                    before = next((step for step in reversed(state.steps) if not exclusive(step, event)), None)
                    if before is not None and not (event.second_call and zeroes):
                        state.pending.append((event, before))
                    state.clean = False
            elif event.kind in {EventKind.LENT, EventKind.ZERO} and updater.zeroed_by(event):
                if event.kind == EventKind.ZERO and not event.detail:
                    state.wasted = event
                state.clean, state.steps, state.pending = True, [], []
            elif updater.stepped_by(event):
                if event.kind == EventKind.STEP and state.filled is not None:
                    yield from misplaced(case, updater, state.filled, state.wasted, event)
                state.filled = state.wasted = None
                if not state.clean:
                    state.steps.append(event)
                    for backward, step in state.pending[-1:] if followed else ():
                        added.setdefault(backward.node, (backward, [], step))[1].append(updater)
                    state.pending = []
                    state.clean = True
    for event, missed, step in added.values():
        yield accumulated(case, event, list(dict.fromkeys(missed)), step)


def alone(updater: Updater, backward: Event, steps: Sequence[Event]) -> bool:
    """Return whether no other updater steps in the innermost loop of a backward pass."""
    return all(updater.stepped_by(e) for e in steps if {*backward.loops[-1:]} <= {*e.loops})


def accumulated(case: Case, event: Event, missed: list[Updater], step: Event) -> RuleHit:
    """Return the hit for failure 6, at the pass that adds to the last one's gradients."""
    zeroes = [s.text + (".grad = None" if s.value.kind in TENSORS else ".zero_grad()") for s in missed]
    owners = " and ".join(dict.fromkeys(f"`{updater.text}`" for updater in missed))
    change = case.text.beside(event.statement, before=dict.fromkeys(zeroes))
    return case.hit("never_zeroed", event.node, change, owners=owners, step=step.line)


def side_by_side(events: Sequence[Event]) -> tuple[list[ast.stmt], list[int]] | None:
    """Return the innermost block whose different statements cause these events, and the statements' indices in it.
    None if there is no such block, or if one of them is inside an `if`."""
    for depth, levels in enumerate(zip(*(event.path for event in events), strict=False)):
        block, first = levels[0]
        if any(other is not block for other, _ in levels):
            return None
        if all(statement is first for _, statement in levels):
            continue
        below = [statement for event in events for _, statement in event.path[depth:]]
        if any(isinstance(statement, ast.If | ast.Try) for statement in below):
            return None
        return list(block), [block.index(statement) for _, statement in levels]
    return None


def moved_behind(case: Case, early: Event, late: Event) -> Edit | None:
    """Return the edit that moves the statement of `early` to after that of `late`.
    None if they do not come in this order in one block, or share lines."""
    together = side_by_side((early, late))
    if together is None:
        return None
    block, (here, there) = together
    part = block[here : there + 1]
    return case.text.reorder(part, [*part[1:], part[0]]) if here < there else None


def misplaced(case: Case, updater: Updater, backward: Event, zero: Event | None, step: Event) -> Iterator[RuleHit]:
    """Report failure 18 for a step whose gradients were zeroed, or which comes before this iteration's pass."""
    together = side_by_side((backward, zero or step, step))
    again = bool(step.loops or step.functions) and backward.loops == step.loops and backward.functions == step.functions
    if together is None or not (zero or again) or updater.value.kind not in {Kind.OPTIMIZER, Kind.UNKNOWN}:
        return
    filled, emptied, used = together[1]
    fields = {"stepper": updater.text, "step": step.line, "zeroed": zero.line if zero else 0}
    if used < filled:
        key = "step_without_gradient" if zero else "step_before_backward"
        yield case.hit(key, step.node, moved_behind(case, step, backward), backward, **fields)
    elif zero and filled <= emptied <= used and (edit := moved_behind(case, zero, step)):
        yield case.hit("zeroed_before_step", zero.node, edit, backward, **fields)


def out_of_place(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: a schedule moves on before the first step. Reports nothing next to an `if`, or if passes and
    steps are in other functions."""
    for event in case.events_of(EventKind.SCHEDULER):
        inside = [
            e
            for e in case.events_of(EventKind.BACKWARD, EventKind.STEP)
            if e.iterations[: len(event.iterations)] == event.iterations
        ]
        depth = len(event.functions)
        apart = any(e.functions[:depth] != event.functions or e.tests for e in (*inside, event))
        kinds = [e.kind for e in inside[:2]]
        if apart or not event.loops or event.other or kinds != [EventKind.BACKWARD, EventKind.STEP]:
            continue
        if all(case.order[e] > case.order[event] for e in case.events_of(EventKind.STEP)):
            yield case.hit("scheduled_too_early", event.node, moved_behind(case, event, inside[1]), inside[1])


def clipped_in_vain(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: gradients are changed between zeroing and the pass that fills them, or between the step and
    zeroing. Reports nothing for other arms of an `if`, and if it is unknown whose gradients they are."""
    for event in case.events_of(EventKind.CLIP):
        parts = {part for owner in owners(event.value) or () for part in (owner, *modules(owner_of(owner)))}
        near = [
            e
            for e in case.events_of(EventKind.BACKWARD, EventKind.STEP, EventKind.ZERO)
            if not exclusive(e, event)
            and (e.kind == EventKind.BACKWARD or parts & {*e.value.moved, *modules(e.value)} or not e.value.kind)
        ]
        place = sum(case.order[e] < case.order[event] for e in near)
        if not parts or not 0 < place < len(near):
            continue
        before, after = near[place - 1], near[place]
        early = (before.kind, after.kind) == (EventKind.ZERO, EventKind.BACKWARD)
        late = (before.kind, after.kind) == (EventKind.STEP, EventKind.ZERO)
        step = before if late else next((e for e in near[place:] if e.kind == EventKind.STEP), None)
        apart = "partly" in {before.detail, after.detail} or not {*before.tests, *after.tests} <= {*event.tests}
        if (early or late) and step is not None and not apart:
            yield case.hit("clipped_in_vain", event.node, moved_behind(case, event, after) if early else None, step)


def accumulation(case: Case) -> Iterator[RuleHit]:
    """Report failure 24: k batches are added up to one step, but the mean loss is not divided by k or each batch
    zeroes. Reports nothing if the loss is a sum, is divided or weighted anywhere, or is unknown."""
    if any(event.detail == "changed" for event in case.events_of(EventKind.CLIP)):  # p.grad /= k
        return
    for step in case.events_of(EventKind.STEP):
        every = next((t for t in step.tests if period(t) is not None), None)
        divisor = period(every) if every is not None else None
        if every is None or divisor is None or not step.loops:
            continue
        k, loop = case.text.of(divisor), step.loops[-1]
        others = [e for e in case.events_of(EventKind.STEP) if e.loops and e.loops[-1] is loop]
        if any(every not in e.tests for e in others):  # another optimizer step runs in every iteration
            continue
        inner = [e for e in case.state.events if e.loops and e.loops[-1] is loop and every not in e.tests]
        zeroes = [e for e in inner if e.kind == EventKind.ZERO and not e.tests]
        moved = {step.value, *step.value.moved}
        for event in zeroes:
            if case.order[event] < case.order[step] and moved & {*modules(event.value)}:
                yield case.hit("zeroed_each_batch", event.node, None, k=k)
        for event in inner if not zeroes else ():
            if event.kind == EventKind.BACKWARD:
                yield from undivided(case, event, k)


def undivided(case: Case, backward: Event, k: str) -> Iterator[RuleHit]:
    """Report failure 24 if the loss of one of k batches is a mean, and neither it nor the rate is divided by k."""
    rates = [event.value.attributes["lr"].node for event in case.events_of(EventKind.OPTIMIZER)]
    if any(isinstance(r, ast.BinOp) and isinstance(r.op, ast.Div) and case.text.of(r.right) == k for r in rates):
        return
    target = receiver(backward.node)
    mean = backward.value.form == "loss" or is_unknown_loss(backward.value)
    if mean and not weighted(backward.value) and target is not None:
        yield case.hit("undivided", backward.node, [(target, f"({case.text.of(target)} / {k})")], k=k)


def weighted(loss: Value) -> bool:
    """Return whether a loss is divided, multiplied or summed, or one of several."""
    parts = traverse(loss, lambda value: () if value.op in LOSS_FUNCTIONS | {"mean"} else value.parents)
    return any(value.op in {"/", "*"} or Tag.SUM in value.tags or value.branches for value in parts)


def period(branch: ast.If) -> ast.expr | None:
    """Return k of a test such as (i + 1) % k == 0; else None."""
    for node in walk(branch.test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return node.right
    return None


RULES = (order_of_steps, out_of_place, clipped_in_vain, accumulation)
