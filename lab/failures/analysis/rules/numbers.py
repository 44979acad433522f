"""Rules about numbers: shapes that broadcast, steep functions at 0, activations, equal weights, steps that climb."""

import ast
import itertools
import re
from collections.abc import Iterator

from lab.failures.analysis.facts import (
    TENSORS,
    Value,
    ancestors,
    column_against_row,
    graph_of,
    is_square,
    modules,
    owner_of,
    traverse,
    without,
)
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import BROADCASTING_LOSSES, ELEMENTWISE, IDENTITIES, LAYERS, LOSS_FUNCTIONS, NORMS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import argument, called, inside, is_simple, method, receiver


def column_and_row(case: Case) -> Iterator[RuleHit]:
    """Report failure 8: (N, 1) is combined with (N,) in a loss, or a layer's output with it in a difference.
    Reports nothing if one of the shapes is unknown, and for what may compare each number with each on purpose."""
    for event in case.events_of(EventKind.LOSS, EventKind.SUBTRACT):
        if event.other is None or (event.kind == EventKind.LOSS and event.detail not in BROADCASTING_LOSSES):
            continue
        column, node = column_against_row(event.value, event.other), event.node
        if column is None or column.shape is None:
            continue
        row = event.other if column is event.value else event.value
        on_purpose = without(row, {"view"}) is without(column, {"view"})  # s - s.squeeze(1)
        on_purpose |= column.op == "view" and column.statement is event.statement  # a.view(-1, 1) - b
        meant = is_output(column) or (column.op == "gather" and discounted(row))
        if event.kind == EventKind.SUBTRACT and (not meant or on_purpose or (row.leaf and row.graph)):
            continue
        both = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])[:2]
        if len(both) == 2:
            part, other = both if column is event.value else reversed(both)
            change = [(part, f"{case.text.operand(part)}.squeeze(1)")]
            yield case.hit("table_of_pairs", node, change, column=part, row=other, n=column.shape[0] or "N")


def stretched_in_a_loss(case: Case) -> Iterator[RuleHit]:
    """Report failure 8: a loss compares (N, 1) with (N, k). Reports nothing if both are stretched, on purpose."""
    for event in case.events_of(EventKind.LOSS):
        one, two = event.value.shape or (), (event.other or event.value).shape or ()
        if len(one) != len(two) or event.detail not in BROADCASTING_LOSSES:
            continue
        axes = [(m, n) for m, n in list(zip(one, two, strict=True))[1:] if m and n and m != n and 1 in {m, n}]
        if len({m == 1 for m, _ in axes}) == 1:
            first, second = (str(shape).replace("None", "N") for shape in (one, two))
            yield case.hit("stretched", event.node, None, one=first, two=second)


def is_output(value: Value) -> bool:
    """Return whether a value has the shape in which a layer returned it."""
    passes_on = value.op in {"call", "view"} or value.op in ELEMENTWISE
    return value.op in LAYERS or (passes_on and any(is_output(p) for p in value.parents[:1]))


def discounted(value: Value) -> bool:
    """Return whether a value is a sum with a term scaled by a discount factor, like the targets of Q-learning."""
    return value.op == "+" and any(map(has_discount, value.parents))


def has_discount(value: Value) -> bool:
    """Return whether a factor of a value, or of a term of it, may be a discount factor."""
    factors = traverse(value, lambda here: here.parents if here.op in {"+", "*"} else ())
    return any(isinstance(v.constant, float) and 0.8 < v.constant < 1 for v in factors)


def steep_at_zero(case: Case) -> Iterator[RuleHit]:
    """Report failure 9: the logarithm or root of what can be exactly 0, or a division by it.
    Reports nothing if something is added before, if no gradient goes through, and in where()."""
    steep = [e for e in case.events_of(EventKind.LOG, EventKind.ROOT, EventKind.DIVIDE) if e.node not in case.in_where]
    for event in steep:
        part, where = steep_input(event.node), zero_source(event)
        if part is not None and where:
            same = dict.fromkeys(steep_input(other.node) for other in steep if other.value is event.value)
            change = [(use, f"({case.text.of(use)} + 1e-8)") for use in same if use is not None]
            yield case.hit("steep_at_zero", event.node, change, part=part, where=where)


def zero_source(event: Event) -> str:
    """Return where the input of a steep function is exactly 0; "" if nothing makes it so."""
    value = event.value
    if event.kind == EventKind.LOG and value.form in {"probabilities", "relu"}:
        where = "for a confident network" if value.form == "probabilities" else "where its input was below 0"
        return "" if graph_of(value) is False else where
    reduced = value.op in {"sum", "std", "norm", "amax"} or (event.kind == EventKind.ROOT and value.op != "relu")
    if value.form == "relu" and graph_of(value) is True and reduced and event.recorded:
        return "where relu gives nothing but 0"
    for total in (value, *value.branches) if event.kind != EventKind.DIVIDE else ():
        squares = total.parents[0] if total.op == "sum" and total.parents else Value()
        squared = squares.parents[0] if is_square(squares) else Value()
        if squared.op == "-" and graph_of(squared) is True:
            one, two = ({v for v in ancestors(side) if v.kind == Kind.MODULE} for side in squared.parents)
            left, right = (without(side, {"view", "index"}) for side in squared.parents)
            if one & two or left is right:
                return "where the two sides are equal"
        leaf = squared if squared.leaf else total
        if leaf.leaf and graph_of(leaf) is True and leaf.op.startswith("zeros") and Tag.WRITTEN not in leaf.tags:
            return "in its first step"
    return ""


def steep_input(node: ast.AST | None) -> ast.expr | None:
    """Return the input of a root, logarithm or division: x of x**0.5, torch.pow(x, 0.5), x.sqrt(), log(x), 1 / x."""
    if isinstance(node, ast.BinOp):
        return node.right if isinstance(node.op, ast.Div) else node.left
    if not isinstance(node, ast.Call):
        return None
    given = node.args[:-1] if method(node) == "pow" else node.args
    return given[0] if given else receiver(node)


STEEP = {"sqrt", "log", "rsqrt", "reciprocal", "log2", "acos", "asin", "exp"}  # their slope is infinite somewhere
SAFE = {"clamp", "clip", "clamp_min", "maximum", "max", "where", "nan_to_num", "exp", "sigmoid", "softmax", "softplus"}


def both_arms_of_where(case: Case) -> Iterator[RuleHit]:
    """Report failure 20: an arm of where() is not finite at elements that its condition leaves out.
    Reports nothing if the arm's input was made safe before, or if no gradient is known to go through it."""
    wanted = case.reached(EventKind.BACKWARD, EventKind.USED)
    for event in case.events_of(EventKind.WHERE):
        node, tested = event.node, {core(part) for part in event.other.parents} if event.other else set()
        if not isinstance(node, ast.Call) or not (event.in_forward or event.value in wanted):
            continue
        for first, arm in zip((True, False), event.value.parents, strict=False):
            found = next((v for v in ancestors(arm) if steep_part(v, tested)), None)
            part = steep_input(found.node) if found is not None else None
            if found is None or found.node is None or part is None:
                continue
            test, x = case.text.of(node.args[0]), case.text.of(part)
            ones = f"torch.ones_like({x})" if case.torch else "1.0"
            change = [(part, f"{case.text.of(node.func)}({test}, {x}, {ones})")]
            if not first:
                change = [(part, f"{case.text.of(node.func)}({test}, {ones}, {x})")]
            here = inside(node, found.node)
            yield case.hit("both_arms_of_where", node if here else found.node, change, arm=found.node)
            break


def steep_part(value: Value, tested: set[Value]) -> bool:
    """Return whether an operation is steep where its input is 0, and where()'s condition tests that input.
    A power counts only if its base is known to have a graph: gamma correction of images uses one on data."""
    if value.op in {"**", "pow"} and len(value.parents) == 2:
        power = value.parents[1].constant
        part = value.parents[0] if isinstance(power, float) and not power.is_integer() else None
    elif value.op == "/" or value.op in STEEP:
        part = value.parents[-1] if value.parents else None
    else:
        part = None
    if part is None or part.op in SAFE or core(part) not in tested:
        return False
    return graph_of(part) is True or (graph_of(part) is None and value.op not in {"**", "pow"} and part.op != "call")


def core(value: Value) -> Value:
    """Return what a value is a multiple, a power or a difference of."""

    def inside(here: Value) -> tuple[Value, ...]:
        passes_on = here.op in {"*", "-", "neg", "abs", "view", "**", "pow", "square"}
        return tuple(part for part in here.parents if part.kind in TENSORS | {Kind.UNKNOWN})[:1] if passes_on else ()

    *_, last = traverse(value, inside)
    return last


# What a loss must not get, such as what it applies by itself: the loss, the operation, the sentence.
UNFIT = {("nll_loss", layer): "scores_into_nll" for layer in LAYERS} | {
    ("cross_entropy", "softmax"): "activation_twice",
    ("cross_entropy", "sigmoid"): "activation_twice",
    ("cross_entropy", "relu"): "relu_before_loss",
    ("binary_cross_entropy_with_logits", "softmax"): "activation_twice",
    ("binary_cross_entropy_with_logits", "sigmoid"): "activation_twice",
    ("binary_cross_entropy_with_logits", "relu"): "relu_before_loss",
    ("nll_loss", "softmax"): "probabilities_into_nll",
    ("nll_loss", "sigmoid"): "probabilities_into_nll",
}


def activation_before_loss(case: Case) -> Iterator[RuleHit]:
    """Report failure 25: softmax or sigmoid before a loss that applies it, or no log_softmax before nll_loss; and
    failure 14: relu before a loss of scores."""
    for event in case.events_of(EventKind.LOSS):
        value = unscaled(event.value)
        by_hand = value.op == "/" and value.form == "probabilities"
        op, node = "softmax" if by_hand else value.op, value.node
        key = UNFIT.get((event.detail, op))
        if key is None or node is None or not (by_hand or isinstance(node, ast.Call)):
            continue
        likelihood = event.detail == "nll_loss"
        if likelihood and not is_trained_as_likelihood(case, event, value):
            continue
        new = None if likelihood or by_hand else unwrapped(case, node)
        yield case.hit(key, event.node if key == "scores_into_nll" else node, new, event, layer=op)


def is_trained_as_likelihood(case: Case, loss: Event, scores: Value) -> bool:
    """Return whether a step follows nll_loss of these scores, as one number. False if the pass uses the scores
    elsewhere, too, as a cross entropy by hand does: nll_loss(z, y) + z.logsumexp(1).mean()."""
    uses = [v for v in case.backward_reached if any(unscaled(part) is scores for part in v.parents)]
    losses = [value for value in uses if value.op not in {"view", "*", "/", "stack"}]
    stepped = any(step.iterations == loss.iterations for step in case.events_of(EventKind.STEP))
    return stepped and {(value.op, value.form) for value in losses} == {("nll_loss", "loss")}


def unscaled(value: Value) -> Value:
    """Strip views, factors and the mean of a stack from a value, and return what is left."""
    while value.parents:
        multiple = value.op in {"*", "/"} and any(part.kind == Kind.NUMBER for part in value.parents)
        several = value.op == "mean" and value.parents[0].op == "stack"
        if not (multiple or several or value.op in {"view", "stack"}):
            break
        value = next((part for part in value.parents if part.kind != Kind.NUMBER), value.parents[0])
    return value


def unwrapped(case: Case, node: ast.expr) -> str | None:
    """Return the input of an activation, which takes its place; None for a layer, which others may use as it is."""
    if not isinstance(node, ast.Call) or called(node) in {"Softmax", "Sigmoid", "ReLU"}:
        return None
    axis = not node.args or isinstance(node.args[0], ast.Constant | ast.UnaryOp)  # of a method: x.softmax(1)
    source = receiver(node) if axis else node.args[0]
    return case.text.of(source) if source is not None else None


def same_weights(case: Case) -> Iterator[RuleHit]:
    """Report failure 16: the weights of a layer, and of the next one, are each one number before training.
    Reports nothing if the layers draw their weights again."""
    filled = filled_weights(case) if "reset_parameters" not in case.names else {}
    boxes = [box for box in case.state.objects if box.op == "Sequential"]
    rows = [[part for part in modules(box) if part.op in LAYERS - NORMS] for box in boxes]
    pairs = [pair for row in rows for pair in itertools.pairwise(sorted(row, key=case.state.objects.index))]
    for value in (event.value for event in case.events_of(EventKind.LAYER)):
        *_, before = traverse(value.parents[0], lambda v: v.parents[:1] if v.op not in LAYERS else ())
        pairs += [(before.parents[-1], value.parents[-1])] if before.op in LAYERS else []
    for first, second in pairs:
        if first in filled and second in filled:
            yield case.hit("same_weights", filled[first], None)


def filled_weights(case: Case) -> dict[Value, ast.AST]:
    """Return the layers whose weights are one number at the first pass, with what made them so."""
    filled: dict[Value, ast.AST] = {}
    for event in case.state.events:
        value, number = event.value, filled_with(event)
        if event.kind == EventKind.BACKWARD:
            break
        if event.kind in {EventKind.INIT, EventKind.WRITE, EventKind.UPDATE} and value.name != "bias":
            for part in modules(value.base or value):
                filled.pop(part, None)
                apart = part.kind != Kind.MODULE or case.names & IDENTITIES  # what is drawn tells the units apart
                if number == 0 or (number is not None and not apart):
                    filled[part] = event.node
    return filled


def filled_with(event: Event) -> float | None:
    """Return the number that an event writes to all elements of a tensor; None for anything else."""
    name, other = method(event.node) or event.detail, event.other or Value()
    number = 0.0 if other.op in {"zeros", "zeros_like"} else other.constant
    if event.tests or event.detail == "part":
        return None
    if name in {"zeros_", "zero_", "ones_"}:
        return float(name == "ones_")
    return number if name in {"constant_", "fill_", "copy_", "="} and isinstance(number, int | float) else None


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


def actor_without_minus(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: a step makes the value smaller that a critic gives to what the step moves. A critic is a
    network that another pass trains towards discounted rewards. Reports nothing if these may be costs."""
    pairs = [(e.value, e.other) for e in case.events_of(EventKind.LOSS, EventKind.SUBTRACT) if e.other]
    aimed = [one for one, two in pairs if discounted(without(two, {"detach", "view"}))]
    critics = {part for one in aimed for part in ancestors(one) if part.kind == Kind.MODULE}
    climbs = any(argument(event.node, "maximize") is not None for event in case.events_of(EventKind.OPTIMIZER))
    for step in case.events_of(EventKind.STEP) if not climbs and "cost" not in "".join(case.names).lower() else ():
        before = [e for e in case.events_of(EventKind.BACKWARD) if case.order[e] < case.order[step]]
        for term in traverse(before[-1].value, terms_to_lower) if before else ():
            judged = term.op in LAYERS and term.parents[-1] in critics - {*step.value.moved}
            if judged and {*step.value.moved} & {*ancestors(term)} and before[-1].value.statement is not None:
                yield case.hit("actor_without_minus", before[-1].value.statement, None, before[-1])
            elif term.op == "*" and len(term.parents) == 2 and term.node and is_rewarded(*term.parents):
                yield case.hit("policy_without_minus", term.node, None)


PASSING = {"+", "mean", "sum", "view", "min", "minimum", "stack", "detach", "part", "index"}


def is_rewarded(one: Value, two: Value) -> bool:
    """Return whether of two factors one is the logarithm of a probability and the other a reward, by its name."""
    chosen, weight = (one, two) if graph_of(two) is False else (two, one)
    while chosen.op in {"view", "sum", "stack", "index"} and chosen.parents:
        chosen = chosen.parents[0]
    path = list(traverse(weight, terms_to_lower))
    named = any(re.search("reward|return|advantage|^adv", part.name.lower()) for part in path)
    turned = any(part.op in LAYERS | {"neg"} for part in path)  # the critic's value minus the reward
    return named and not turned and (chosen.op == "log_prob" or chosen.form == "log probabilities")


def terms_to_lower(value: Value) -> tuple[Value, ...]:
    """Return the values that become smaller with a value, as they are its terms."""
    if value.op == "-":
        return value.parents[:1]
    numbers = [part.constant for part in value.parents if part.kind == Kind.NUMBER]
    scaled = value.op in {"*", "/"} and len(numbers) == 1 and isinstance(numbers[0], int | float) and numbers[0] > 0
    return value.parents if scaled or value.op in PASSING else ()


def is_cost(value: Value) -> bool:
    """Return whether a value is made to be small: a sum with a loss or a squared difference."""
    summed = traverse(value, lambda v: v.parents if v.op in {"mean", "sum", "+"} else ())
    return any(v.op in LOSS_FUNCTIONS or (v.op in SQUARES and v.parents[0].op != "+") for v in summed)


# The highest rate that each kind of optimizer can use, and the usual one. The steps of Adam and its like are about as
# long as the rate.
RATES = {"SGD": (5.0, "0.1"), **dict.fromkeys(("Adam", "AdamW", "NAdam", "RMSprop"), (0.2, "1e-3"))}


def rate_too_high(case: Case) -> Iterator[RuleHit]:
    """Report failure 17: a learning rate far above what the optimizer can use.
    Reports nothing with a schedule, which may lower it, and for leaves or one layer alone: there it depends on the
    data."""
    for event in case.events_of(EventKind.OPTIMIZER) if "lr_scheduler" not in case.names else ():
        value, items = event.value, event.value.items or []
        rate, momentum = (value.attributes[name].constant for name in ("lr", "momentum"))
        limit, usual = RATES.get(value.op, (0.0, ""))
        if isinstance(momentum, float):  # it lengthens the step by up to 1 / (1 - momentum)
            limit = min(limit, 10 * (1 - momentum))
        if not limit or not isinstance(rate, int | float) or rate < limit:
            continue
        layers = [part for part in value.moved if part.op in LAYERS - NORMS]
        alone = len(items) == 1 and len(layers) == 1
        place = argument(event.node, "lr", 1)
        free = alone or (items and all(v.leaf for v in items))
        if place is not None and not free:
            given = value.attributes["lr"].node
            place = given if isinstance(given, ast.Constant) else place
            yield case.hit("rate_too_high", place, usual, rate=rate, optimizer=value.op, usual=usual)


RULES = (
    column_and_row,
    stretched_in_a_loss,
    steep_at_zero,
    both_arms_of_where,
    activation_before_loss,
    same_weights,
    gradient_ascent,
    actor_without_minus,
    rate_too_high,
)
