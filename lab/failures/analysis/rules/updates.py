"""Rules about the direction and the length of a step: ascent, and learning rates."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, ancestors, owner_of, traverse
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import LAYERS, LOSS_FUNCTIONS, NORMS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.syntax import argument, is_simple, receiver

SQUARES = frozenset(("**", "pow", "square", "abs"))


def gradient_ascent(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: parameters += their gradient, which makes the loss larger. Reports nothing for the input of
    layers, since attacks climb on purpose, for a step that another statement takes back, and if a pass starts from
    anything but a loss."""
    passes = case.events_of(EventKind.BACKWARD, EventKind.USED)
    if not all(is_cost(e.value) for e in passes):
        return
    outputs = {v for e in passes for v in ancestors(e.value) if v.parents and (v.op in LAYERS or v.op == "call")}
    inputs = {v for output in outputs for part in output.parents for v in ancestors(part)}
    moves = case.events_of(EventKind.UPDATE, EventKind.WRITE)
    for event in moves:
        value, new, statement = event.value, event.other or Value(), event.statement
        climbs = event.detail == "+" and Tag.NEGATED not in new.tags
        by_hand = event.kind == EventKind.UPDATE or not event.recorded
        if not climbs or not by_hand or not (new.kind == Kind.GRADIENT or Tag.UP in new.tags):
            continue
        attacked = value in inputs and value.kind not in {Kind.MODULE, Kind.PARAMETER}
        back = any(owner_of(e.value) is owner_of(value) and e.detail != "+" for e in moves)
        if value.graph is not False and not attacked and not back and is_simple(statement):
            moved = receiver(event.node)
            name = f"`{case.text.of(moved)}`" if moved is not None else f"{value:the parameter}"
            added = isinstance(statement, ast.AugAssign)
            change = case.text.of(statement).replace("+=", "-=", 1) if added else None
            yield case.hit("ascent", statement, change, name=name)


def is_cost(value: Value) -> bool:
    """Return whether a value is made to be small: a sum with a loss or a squared difference."""
    summed = traverse(value, lambda v: v.parents if v.op in {"mean", "sum", "+"} else ())
    return any(v.op in LOSS_FUNCTIONS or (v.op in SQUARES and v.parents[0].op != "+") for v in summed)


# The highest rate that each kind of optimizer can use, and the usual one. The steps of Adam and its like are about as
# long as the rate.
RATES = {"SGD": (5.0, "0.1"), **dict.fromkeys(("Adam", "AdamW", "NAdam", "RMSprop"), (0.2, "1e-3"))}


def rate_too_high(case: Case) -> Iterator[RuleHit]:
    """Report failures 17 and 18: a learning rate far above what the optimizer can use, or below 0.
    Reports nothing with a schedule, which may lower it, and for leaves or one layer alone: there it depends on the
    data."""
    for event in case.events_of(EventKind.OPTIMIZER) if "lr_scheduler" not in case.names else ():
        value, items = event.value, event.value.items or []
        rate, momentum = (value.attributes[name].constant for name in ("lr", "momentum"))
        limit, usual = RATES.get(value.op, (0.0, ""))
        if isinstance(momentum, float):  # it lengthens the step by up to 1 / (1 - momentum)
            limit = min(limit, 10 * (1 - momentum))
        if not limit or not isinstance(rate, int | float) or 0 <= rate < limit:
            continue
        layers = [part for part in value.moved if part.op in LAYERS - NORMS]
        alone = len(items) == 1 and len(layers) == 1
        place = argument(event.node, "lr", 1)
        free = alone or (items and all(v.leaf for v in items))
        if place is not None and (rate < 0 or not free):
            given = value.attributes["lr"].node
            place = given if isinstance(given, ast.Constant) else place
            key = "rate_too_high" if rate > 0 else "climbs"
            yield case.hit(key, place, usual, rate=rate, optimizer=value.op, usual=usual)


RULES = (gradient_ascent, rate_too_high)
