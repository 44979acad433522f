"""Rules about the direction and the length of a step: ascent, wrong signs, learning rates."""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from lab.failures.analysis.facts import Value, ancestors, graph_of, moved_by, traverse
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import LAYERS, LOSS_FUNCTIONS, NORMS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.rules.order import FULL_START
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import argument, inside, is_simple, receiver

SQUARES = frozenset(("**", "pow", "square", "abs"))


def gradient_ascent(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: parameters += their gradient, which makes the loss larger. Reports nothing for signs of
    gradients and for the input of layers, since attacks climb on purpose, for a step that another statement takes back,
    and for what is not known to be a loss."""
    passes = case.events_of(EventKind.BACKWARD, EventKind.USED)
    losses = [e for e in passes if is_cost(e.value)]
    if not losses or any(e.value.op == "neg" and e not in losses for e in passes):
        return
    for event in case.events_of(EventKind.UPDATE, EventKind.WRITE):
        new, statement = event.other, event.statement
        if event.detail != "+" or new is None or Tag.NEGATED in new.tags:
            continue
        gradient = new.kind == Kind.GRADIENT or slope_of(new, event.value)
        if not gradient and not (event.kind == EventKind.UPDATE and Tag.UP in new.tags):
            continue
        if event.value.graph is False or (event.recorded and event.kind == EventKind.WRITE) or moved_back(case, event):
            continue
        if any(goes_into_layer(event.value, e.value) for e in passes) or not is_simple(statement):
            continue
        if isinstance(event.node, ast.Call) and any(not is_positive(k.value) for k in event.node.keywords):
            continue
        moved = receiver(event.node)
        name = f"`{case.text.of(moved)}`" if moved is not None else f"{event.value:the parameter}"
        climbs = isinstance(statement, ast.AugAssign)
        change = case.text.of(statement).replace("+=", "-=", 1) if climbs else None
        yield case.hit("ascent", statement, change, name=name)


def goes_into_layer(value: Value, loss: Value) -> bool:
    """Return whether a value is, or makes, the input of a layer on the way to a loss. Its weights are not."""
    layers = [v for v in ancestors(loss) if v.parents and (v.op in LAYERS or v.op == "call")]
    free = value.kind not in {Kind.MODULE, Kind.PARAMETER}
    return free and any(v is value for layer in layers for part in layer.parents for v in ancestors(part))


def moved_back(case: Case, step: Event) -> bool:
    """Return whether another statement moves the same parameters the other way, or restores them."""
    owner = step.value.base or step.value
    moves = (e for e in case.events_of(EventKind.UPDATE, EventKind.WRITE) if (e.value.base or e.value) is owner)
    return any(e.detail != "+" and e.statement is not step.statement for e in moves)


def is_cost(value: Value) -> bool:
    """Return whether a value is made to be small: a sum with a loss, a squared difference or minus a likelihood."""
    summed = traverse(value, lambda v: v.parents if v.op in {"mean", "sum", "+"} else ())
    costs = any(v.op in LOSS_FUNCTIONS or (v.op in SQUARES and v.parents[0].op != "+") for v in summed)
    return costs or any(sign < 0 and is_likelihood(term) for term, sign in terms(value))


def is_likelihood(value: Value) -> bool:
    return value.op == "log_prob" or value.form == "log probabilities"


def slope_of(step: Value, weight: Value) -> bool:
    """Return whether a step is the derivative of a loss with respect to a weight, perhaps times a rate.
    That of the input of layers does not count: an attack moves it uphill on purpose."""
    if step.op == "*":
        rates = [part.constant for part in step.parents if part.kind == Kind.NUMBER and part.op != "neg"]
        slopes = [part for part in step.parents if part.op == "derivative"]
        if len(rates) != 1 or len(slopes) != 1 or (is_rate(rates[0]) and rates[0] <= 0):
            return False
        step = slopes[0]
    behind = list(ancestors(step.parents[0])) if step.op == "derivative" and step.parents else []
    through_layers = any(part.kind in {Kind.MODULE, Kind.UNKNOWN} or part.branches for part in behind)
    return weight in behind and not through_layers


def is_positive(node: ast.expr) -> bool:
    """Return whether a factor is written without a sign."""
    constant = isinstance(node, ast.Constant) and node.value not in (0, None)
    return constant or isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def terms(value: Value, sign: int = 1) -> Iterator[tuple[Value, int]]:
    """Yield the summands of a loss, each with its sign; what is multiplied by a tensor is one of them."""
    parents = value.parents
    if value.op == "neg" and parents:
        yield from terms(parents[0], -sign)
    elif value.op in {"+", "-"} and len(parents) == 2:
        yield from terms(parents[0], sign)
        yield from terms(parents[1], -sign if value.op == "-" else sign)
    elif value.op in {"*", "/"} and len(parents) == 2 and parents[1].kind == Kind.NUMBER:
        yield from terms(parents[0], -sign if is_rate(parents[1].constant) and parents[1].constant < 0 else sign)
    elif parents and value.op in {"mean", "sum", "view", "index", "gather", "stack", "cat", "clone"}:
        for part in parents[:1] if value.op in {"gather", "index"} else parents:
            yield from terms(part, sign)
    elif graph_of(value) is not False:
        yield value, sign


def wrong_sign_of_loss(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: an optimizer minimises a likelihood, or the negative of a loss.
    Reports nothing if another term has the right sign or is unknown, with maximize, and if two networks play a game."""
    makers = [e.node for e in case.events_of(EventKind.OPTIMIZER) if isinstance(e.node, ast.Call)]
    if not case.events_of(EventKind.STEP) or any(
        key.arg in {"maximize", None} for node in makers for key in node.keywords
    ):
        return
    networks = {v.kind for e in case.events_of(EventKind.OPTIMIZER) for v in e.value.items or []} == {Kind.MODULE}
    for event in case.events_of(EventKind.BACKWARD):
        found = list(terms(event.value))
        likely = all(sign > 0 and is_likelihood(term) for term, sign in found)
        turned = all(sign < 0 and term.op in LOSS_FUNCTIONS for term, sign in found) and networks and len(makers) == 1
        if not found or not (likely or turned) or "given" in event.detail:
            continue
        made, statement = event.value.node, event.value.statement
        here = made is not None and statement is not None and is_simple(statement) and inside(statement, made)
        yield case.hit("wrong_sign", statement if here and statement is not None else event.node, None, event)


def climbing_optimizer(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: a negative rate, or maximize=True, for a loss.
    Reports nothing if a pass starts from anything else, or if another optimizer minimises the same loss: a game."""
    passes, makers = case.events_of(EventKind.BACKWARD), case.events_of(EventKind.OPTIMIZER)
    if not passes or not all(is_cost(e.value) for e in passes):
        return
    for event in makers:
        flag, rate = argument(event.node, "maximize"), event.value.attributes["lr"]
        if flag is not None and ast.unparse(flag) == "True" and len(makers) == 1:
            yield case.hit("climbs", flag, "False")
        elif is_rate(rate.constant) and rate.constant < 0 and rate.node is not None:
            yield case.hit("climbs", rate.node, f"{-rate.constant:g}")


def rate_too_high(case: Case) -> Iterator[RuleHit]:
    """Report failure 17: a learning rate far above what the optimizer can use.
    Reports nothing with a schedule that may lower it from the start, and for methods whose usual rate is near 1."""
    schedules = [e.detail for e in case.events_of(EventKind.SCHEDULER) if e.detail]
    if any(name not in FULL_START for name in schedules) or ("lr_scheduler" in case.names and not schedules):
        return
    for event in case.events_of(EventKind.OPTIMIZER):
        value, given = event.value, event.other.items or [] if event.other is not None else []
        groups = [group.attributes["lr"] for group in given if group.kind == Kind.DICT and "lr" in group.attributes]
        highest = max([value.attributes["lr"], *groups], key=lambda v: v.constant if is_rate(v.constant) else 0)
        rate, items, node = highest.constant, value.items or [], event.node
        limit, usual = highest_rate(value), "0.1" if value.op == "SGD" else "1e-3"
        if limit is None or not is_rate(rate) or rate < limit or not isinstance(node, ast.Call):
            continue
        linear = value.op == "SGD" and len(items) == 1 and items[0].op in LAYERS
        if linear or (items and all(v.leaf for v in items)):  # the highest rate depends on the data
            continue
        place = highest.node if isinstance(highest.node, ast.Constant) else argument(node, "lr", 1)
        if place is not None:
            yield case.hit("rate_too_high", place, usual, rate=rate, optimizer=value.op, usual=usual)


def highest_rate(optimizer: Value) -> float | None:
    """Return the highest usable rate of an optimizer; None if its usual rate is near 1.
    The steps of Adam and its like are about as long as the rate, so deep networks need a lower one."""
    momentum = optimizer.attributes["momentum"].constant
    if optimizer.op == "SGD":  # momentum lengthens the step by up to 1 / (1 - momentum)
        return min(5.0, 10.0 * (1 - momentum)) if is_rate(momentum) and 0 < momentum < 1 else 5.0
    if optimizer.op not in {"Adam", "AdamW", "NAdam", "RMSprop"}:
        return None
    parts = [part.op for part in moved_by(optimizer) if part.op in LAYERS - NORMS]
    if any("Transformer" in name or "Attention" in name for name in parts):
        return 0.1
    return 0.3 if len(parts) > 1 else 0.5


def is_rate(number: object) -> TypeGuard[float]:
    return isinstance(number, int | float)


def growing_rate(case: Case) -> Iterator[RuleHit]:
    """Report failure 17: a schedule multiplies the rate by more than 1 at each step, as a learning rate finder does in
    a loop that breaks off; there it reports nothing."""
    for made in case.events_of(EventKind.SCHEDULER):
        factor = made.value.attributes.get("gamma", Value()).constant
        steps = [e for e in case.events_of(EventKind.SCHEDULER) if e.value is made.value and not e.detail]
        ends = any(isinstance(node, ast.Break) for e in steps for loop in e.loops for node in ast.walk(loop))
        place = argument(made.node, "gamma") or argument(made.node, "", 1)
        if made.detail == "ExponentialLR" and is_rate(factor) and factor > 1 and place is not None and not ends:
            yield case.hit("growing_rate", place, "0.99", factor=factor)


RULES = (gradient_ascent, wrong_sign_of_loss, climbing_optimizer, rate_too_high, growing_rate)
