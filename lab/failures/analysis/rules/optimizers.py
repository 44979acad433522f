"""Rules about optimizers: their learning rate, and the parameters that they lack."""

import ast
import math
from collections.abc import Iterator
from typing import TypeGuard

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.effects import LOSS_FUNCTIONS
from lab.failures.analysis.facts import (
    CREATORS,
    LAYERS,
    NORMS,
    Value,
    has_parameters,
    is_square,
    modules,
    moved_by,
    reach,
    without,
)
from lab.failures.analysis.kinds import Act, Kind, Tag, words
from lab.failures.analysis.program import Event
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.rules.cuts import trained_parts
from lab.failures.analysis.rules.steps import is_update, moved_behind
from lab.failures.analysis.syntax import argument, is_simple, receiver
from lab.failures.analysis.work import walk

# Schedules that start at the optimizer's rate. Others may multiply it by a small factor from the start.
FULL_START = words(
    "StepLR MultiStepLR ExponentialLR CosineAnnealingLR ReduceLROnPlateau PolynomialLR CosineAnnealingWarmRestarts"
)


def rate_too_high(case: Case) -> Iterator[RuleHit]:
    """Report failure 17: a learning rate far above what the optimizer can use.
    Reports nothing with a schedule that may lower it from the start, and for methods whose usual rate is near 1."""
    schedules = [e.detail for e in case.events_of(Act.SCHEDULER) if e.detail]
    if any(name not in FULL_START for name in schedules) or ("lr_scheduler" in case.names and not schedules):
        return
    for event in case.events_of(Act.OPTIMIZER):
        value, given = event.value, event.other.items or [] if event.other is not None else []
        groups = [group.attributes["lr"] for group in given if group.kind == Kind.DICT and "lr" in group.attributes]
        highest = max([value.attributes["lr"], *groups], key=lambda v: v.constant if is_rate(v.constant) else 0)
        rate = highest.constant
        limit, usual, node = highest_rate(value), "0.1" if value.op == "SGD" else "1e-3", event.node
        if limit is None or not is_rate(rate) or rate < limit or not isinstance(node, ast.Call):
            continue
        items = value.items or []
        if value.op != "SGD" and not any(v.kind == Kind.MODULE for v in items):
            continue
        alone = len(items) == 1 and (known_inputs(case, items[0]) or is_part(node, items[0]))
        if value.op == "SGD" and items and (alone or all(v.leaf for v in items)):
            continue  # its highest usable rate depends on the data
        place = argument(node, "lr", 1)
        if isinstance(highest.node, ast.Constant):  # the place of the number itself
            place = highest.node
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


def is_part(optimizer: ast.Call, layer: Value) -> bool:
    """Tell whether an optimizer gets one layer of a network whose others do not learn: model.head.parameters()."""
    return layer.op in LAYERS and isinstance(receiver(argument(optimizer, "params", 0)), ast.Attribute)


def is_rate(number: object) -> TypeGuard[float]:
    return isinstance(number, int | float)


def growing_rate(case: Case) -> Iterator[RuleHit]:
    """Report failure 17: a schedule multiplies the rate many times over.
    Reports nothing if the number of its steps is unknown, if its loop may break off, as a learning rate finder does, or
    if the rate stays below 1."""
    for made in case.events_of(Act.SCHEDULER):
        schedule, first = made.value, made.value.base
        step = next((e for e in case.events_of(Act.SCHEDULER) if e.value is schedule and not e.detail), None)
        loops = step.loops if step is not None else ()
        counts = [case.program.loop_counts.get(loop, 0) for loop in loops]
        steps = math.prod(counts) if counts else 0
        rate = first.attributes["lr"] if first is not None and "lr" in first.attributes else Value()
        reached = [v.constant for i, v in enumerate(schedule.items or []) if 2**i <= steps]
        last = reached[-1] if reached else None
        ends = any(isinstance(node, ast.Break) for loop in loops for node in walk(loop))
        if made.detail and is_rate(last) and is_rate(rate.constant) and not ends:
            place = argument(made.node, "lr_lambda", 1) or argument(made.node, "gamma")
            if last >= MIN_GROWTH and last * rate.constant >= 1 and place is not None:
                yield from report_growth(case, schedule, place, last)


MIN_GROWTH = 10  # from this many times the optimizer's rate on, a schedule is reported


def report_growth(case: Case, schedule: Value, place: ast.expr, last: float) -> Iterator[RuleHit]:
    """Report failure 17 at a schedule's factor: the number, the body of a lambda, or what a function returns."""
    definition = schedule.body.definition if schedule.body is not None else place
    given = [n.value for n in walk(definition) if isinstance(n, ast.Return) and n.value is not None]
    places = given or [definition.body if isinstance(definition, ast.Lambda) else place]
    new = [(n, "0.99" if isinstance(n, ast.Constant) else f"min(1.0, {case.text.of(n)})") for n in places]
    yield case.hit("growing_rate", places[0], new, last=last)


def known_inputs(case: Case, network: Value) -> bool:
    """Tell whether a network is one linear layer whose inputs have a scale known from the program."""
    passes = [linear_parts(squared_prediction(e.value)) for e in case.events_of(Act.BACKWARD)]
    return any(learned is network and data.moments is not None for parts in passes for learned, data in parts)


def rate_above_curvature_limit(case: Case) -> Iterator[RuleHit]:
    """Report failure 17: for a linear model on data of known scale, the rate exceeds what the squared error allows.
    Reports nothing if the scale of the data is uncertain, and with a schedule."""
    if case.events_of(Act.SCHEDULER) or "lr_scheduler" in case.names:
        return
    done: set[ast.expr] = set()
    for event in case.events_of(Act.BACKWARD):
        for learned, data in linear_parts(squared_prediction(event.value)):
            rate, momentum, node = rate_of(case, learned)
            if data.moments is None or rate is None or not isinstance(node, ast.Constant) or node in done:
                continue
            mean, variance = data.moments
            size = (variance + mean**2) ** 0.5
            if rate * size**2 > MARGIN * (1 + momentum):  # 2 / curvature, of a mean of squares
                done.add(node)
                limit = (1 + momentum) / size**2
                usual = f"{limit / 4:.0e}"
                yield case.hit("rate_above_curvature_limit", node, usual, size=size, limit=limit, usual=usual)


MARGIN = 1.3  # a sample's moments differ from those of its distribution


def squared_prediction(loss: Value) -> Value:
    """Return the prediction in a mean of squared differences; an empty value for any other loss."""
    loss = without(loss, {"mean", "sum", "view"})
    if not loss.parents:
        return Value()
    if loss.op == "mse_loss":
        return loss.parents[0]
    difference = loss.parents[0] if is_square(loss) else Value()
    if difference.leaf:
        return difference
    parts = [part for part in difference.parents if part.graph] if difference.op == "-" else []
    return parts[0] if len(parts) == 1 else Value()


def linear_parts(prediction: Value) -> Iterator[tuple[Value, Value]]:
    """Yield the weights in which a prediction of one number is linear, each with what it is multiplied by."""
    prediction = without(prediction, {"view"})
    one = prediction.shape is None or len(prediction.shape) < 2 or prediction.shape[-1] == 1
    if prediction.leaf and prediction.graph and prediction.shape == ():
        yield prediction, Value(moments=(1.0, 0.0))
    elif prediction.op == "Linear" and one and len(prediction.parents) == 2:
        yield prediction.parents[1], prediction.parents[0]
    elif prediction.op == "+":
        for part in prediction.parents:
            yield from linear_parts(part)
    elif prediction.op in {"*", "@", "matmul"} and one and len(prediction.parents) == 2:
        for weight, data in (prediction.parents, prediction.parents[::-1]):
            if weight.graph and (weight.leaf or weight.op == "view") and data.graph is False:
                yield weight, data


def climbing_optimizer(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: a negative rate, or maximize=True, for a loss of the library or a mean of squares.
    Reports nothing if a pass starts from anything else, or if another optimizer minimises the same loss: a game."""
    passes = case.events_of(Act.BACKWARD)
    if not passes or any(e.value.op not in LOSS_FUNCTIONS and not squared_prediction(e.value).op for e in passes):
        return
    for event in case.events_of(Act.OPTIMIZER):
        flag, rate = argument(event.node, "maximize"), event.value.attributes["lr"]
        if flag is not None and ast.unparse(flag) == "True" and len(case.events_of(Act.OPTIMIZER)) == 1:
            yield case.hit("maximized", flag, "False")
        elif is_rate(rate.constant) and rate.constant < 0 and rate.node is not None:
            yield case.hit("rate_below_zero", rate.node, f"{-rate.constant:g}")


def rate_of(case: Case, learned: Value) -> tuple[float | None, float, ast.expr | None]:
    """Return the rate and the momentum with which a weight is updated, and the expression that gives the rate."""
    for event in case.events_of(Act.OPTIMIZER):
        if event.value.op == "SGD" and learned in moved_by(event.value):
            rate, momentum = event.value.attributes["lr"], event.value.attributes["momentum"].constant
            if is_rate(rate.constant) and is_rate(momentum):
                return rate.constant, momentum, rate.node
            return None, 0, None
    for event in case.events_of(Act.UPDATE, Act.WRITE):
        if event.value is learned and event.detail == "-" and event.other is not None:
            for part in event.other.parents:
                if part.kind == Kind.NUMBER and is_rate(part.constant):
                    return part.constant, 0, part.node
    return None, 0, None


def scheduled_too_early(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: a schedule steps before its optimizer's first step, in the same block of a loop.
    Reports nothing for schedules that may start at 0, with an argument to step(), and if either is conditional."""
    moved: set[Value] = set()
    for event in case.events_of(Act.SCHEDULER):
        optimizer = event.value.base
        if event.detail or event.other or optimizer is None or event.value in moved:
            continue
        moved.add(event.value)
        first = next((e for e in case.events_of(Act.STEP) if e.value is optimizer), None)
        if first is None or event.value.op not in FULL_START or not event.loops or event.functions != first.functions:
            continue
        edit = moved_behind(case, event, first) if first.turns[: len(event.turns)] == event.turns else None
        if edit is not None:
            yield case.hit("scheduled_too_early", event.node, edit, first)


def made_in_forward(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: `forward` creates a parameter or a layer.
    Reports nothing under an `if`, which may run once only, and for what does not require a gradient."""
    for event in case.events_of(Act.MADE):
        value, statement, place = event.value, event.statement, event.function
        if not isinstance(place, ast.FunctionDef) or place.name == "__init__" or is_conditional(statement, place):
            continue
        if Tag.FROZEN in value.tags or not event.in_forward or not event.recorded or not is_simple(statement):
            continue
        value.tags.add(Tag.MADE_IN_FORWARD)
        what = "layer" if value.kind == Kind.MODULE else "parameter"
        name = statement.targets[0] if isinstance(statement, ast.Assign) else event.node
        home = f", as `self.{name.id}`" if isinstance(name, ast.Name) else ""
        yield case.hit("made_in_forward", statement, create_once(case, event, statement), what=what, home=home)


def is_conditional(statement: ast.stmt, place: ast.FunctionDef) -> bool:
    """Tell whether a statement is inside an `if` of its function."""
    branches = [node for node in walk(place) if isinstance(node, ast.If)]
    return any(inner is statement for branch in branches for inner in walk(branch))


def create_once(case: Case, event: Event, statement: ast.stmt) -> Edit:
    """Return the edit that creates it on the first call only: its sizes may be known in `forward` alone."""
    node, indent = event.node, case.text.indent(statement)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    attribute = case.text.of(target).removeprefix("self.") if target is not None else "made"
    attribute = attribute if attribute.isidentifier() else "made"
    lines = [
        f'if not hasattr(self, "{attribute}"):  # better in __init__, before the optimizer is made',
        f"    self.{attribute} = {case.text.of(node)}",
    ]
    new = case.text.of(statement).replace(case.text.of(node), f"self.{attribute}", 1)
    rest = [] if new == f"self.{attribute} = self.{attribute}" else [new]
    return case.text.replace([(statement, f"\n{indent}".join([*lines, *rest]))])


def unregistered(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: layers in a plain list or dict of a module, or a weight that is not a Parameter.
    Reports nothing if the layers are also registered elsewhere, or handed in by a caller who may hold them."""
    nn = case.imports.get("torch.nn", "torch.nn")
    for event in case.events_of(Act.ATTRIBUTE):
        owner, value, statement = event.value, event.other, event.statement
        if owner.kind != Kind.MODULE or owner.op != "module" or value is None or not isinstance(statement, ast.Assign):
            continue
        if registers_itself(owner):
            continue
        if value.kind in {Kind.LIST, Kind.DICT} and Tag.HANDED not in value.tags:
            box = "List" if value.kind == Kind.LIST else "Dict"
            layers = [v for v in value.items or [] if v.kind == Kind.MODULE and has_parameters(v)]
            free = [v for v in value.items or [] if v.kind == Kind.PARAMETER and v.base is None]
            free = [v for v in free if Tag.FROZEN not in v.tags]
            known = any(v.tags & {Tag.REGISTERED, Tag.EXPOSED} for v in layers)
            known = known or (not layers and bool(set(owner.attributes.values()) & set(free)))
            if (layers or free) and not known:
                key, kind = ("hidden_layers", "Module") if layers else ("hidden_parameters", "Parameter")
                change = [(statement.value, f"{nn}.{kind}{box}({case.text.of(statement.value)})")]
                yield case.hit(key, statement, change, box=box.lower(), target=statement.targets[0])
        elif value.kind == Kind.TENSOR and value.leaf and value.graph is True and isinstance(statement.value, ast.Call):
            call = statement.value
            if argument(call, "requires_grad") is not None:
                change = [(call, f"{nn}.Parameter({case.text.without_keyword(call, 'requires_grad')})")]
                yield case.hit("no_parameter", statement, change, target=statement.targets[0])


def registers_itself(module: Value) -> bool:
    """Tell whether a class keeps account of its layers in a way that is not followed."""
    inside = list(walk(module.body.definition)) if module.body is not None else []
    names = {getattr(node, "attr", getattr(node, "id", getattr(node, "name", ""))) for node in inside}
    return bool(names & {"_modules", "_parameters", "__dict__", "vars", "__setattr__", "exec"}) or any(
        isinstance(node, ast.FunctionDef) and node.name in {"parameters", "named_parameters"} for node in inside
    )


def consumed_generator(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: an optimizer gets a generator of parameters that something else has already consumed."""
    for event in case.events_of(Act.OPTIMIZER):
        given = event.other
        if event.detail != "empty" or given is None or not isinstance(given.node, ast.expr) or not case.torch:
            continue
        change = [(given.node, f"list({case.text.of(given.node)})")]
        yield case.hit("consumed_generator", event.node, change, name=given.name, made=given.node.lineno)


def replaced_network(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: a new network takes the name of the one that the optimizer has.
    Reports nothing if another optimizer is made, or if the loss uses any part of the old network."""
    if not all_tracked(case):
        return
    for event in case.events_of(Act.REPLACED):
        old, new = event.value, event.other
        if new is None or event.detail or not is_simple(event.statement):
            continue
        parts = set(modules(new))
        holder = next((e for e in case.events_of(Act.OPTIMIZER) if old in (e.value.items or [])), None)
        if holder is None or parts & case.moved or not parts & case.alive or set(modules(old)) & case.alive:
            continue
        again = case.text.after(event.statement, *case.text.of(holder.statement).split("\n"))
        yield case.hit("replaced_network", event.statement, again, node=event.node, holder=holder.value.name)


def optimizes_other_network(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: no pass goes through the network of the only optimizer, but one goes through another network.
    Reports nothing if anything on the way is unknown, or if a network was replaced."""
    optimizers, passes = case.events_of(Act.OPTIMIZER), case.events_of(Act.BACKWARD)
    replaced = [e for e in case.events_of(Act.REPLACED, Act.READ_GRAD) if not e.detail]
    if len(optimizers) != 1 or not all_tracked(case) or replaced or not passes:
        return
    given = optimizers[0].value.items or []
    unknown = any(v.branches or v.kind == Kind.UNKNOWN or v.op in {"call", "any"} for v in case.alive)
    if unknown or not given or any(v.kind != Kind.MODULE for v in given):
        return
    used = [v for v in case.program.objects if v.kind == Kind.MODULE and v.name and has_parameters(v)]
    used = [v for v in used if set(modules(v)) & case.alive and not v.tags & {Tag.FROZEN, Tag.EVAL}]
    node = optimizers[0].node
    if not used or any(set(modules(v)) & case.alive for v in given) or not isinstance(node, ast.Call):
        return
    name = next((n for n in walk(node) if isinstance(n, ast.Name) and n.id == given[0].name), None)
    if name is not None:
        yield case.hit("other_network", node, [(name, used[0].name)], used=used[0].name, given=name.id)


def all_tracked(case: Case) -> bool:
    """Tell whether it is known what each optimizer moves, and nothing else moves parameters."""
    optimizers = case.events_of(Act.OPTIMIZER)
    stepped = [e.value for e in case.events_of(Act.STEP)]
    return (
        bool(optimizers)
        and all(e.value.items is not None for e in optimizers)
        and all(v.kind == Kind.OPTIMIZER for v in stepped)
        and not any(is_update(e) for e in case.program.events)
    )


def replaced_layer(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: a layer joins a network after the optimizer was made, perhaps in the first `forward`.
    Reports nothing if another optimizer is made later, and for a layer made in `forward` without a test for None."""
    if not all_tracked(case) or "add_param_group" in case.names:
        return
    events, optimizers = case.program.events, case.events_of(Act.OPTIMIZER)
    replaced = {(e.node, e.other): e.value for e in case.events_of(Act.REPLACED) if e.detail}
    made = {v: place for place, v in enumerate(case.program.objects)}
    for event in case.events_of(Act.ATTRIBUTE):
        owner, value = event.value, event.other
        if value is None or value.kind != Kind.MODULE or not has_parameters(value) or not is_simple(event.statement):
            continue
        index, old = events.index(event), replaced.get((event.node, value))
        before = [e for e in optimizers if events.index(e) < index and holds(e.value, owner, old)]
        before = [e for e in before if made.get(owner, -1) < made[e.value]]  # a wrapper made later joins whole
        after = any(events.index(e) > index for e in optimizers)
        learned_elsewhere = Tag.FROZEN in value.tags or any(has_layer(e.value, value, owner) for e in optimizers)
        if before and not after and not learned_elsewhere and (not event.in_forward or created_if_none(event)):
            target, name = case.target(event.node), before[0].value.name
            key = "layer_joins_in_first_pass" if event.in_forward else "layer_replaced"
            yield case.hit(key, event.statement, None, before[0], name=name, target=target)


def holds(optimizer: Value, owner: Value, old: Value | None) -> bool:
    """Tell whether an optimizer was given a network, or the layer in it that another one replaces."""
    return any(part is owner or part is old for part in moved_by(optimizer))


def has_layer(optimizer: Value, layer: Value, owner: Value) -> bool:
    """Tell whether an optimizer was given a layer by itself, not only the network that it joins later."""
    apart = [list(modules(item)) for item in optimizer.items or []]
    return any(part is layer for parts in apart for part in parts if all(other is not owner for other in parts))


def created_if_none(made: Event) -> bool:
    """Tell whether a layer is created under a test that its attribute is None."""
    around = next((s for _, s in reversed(made.path) if isinstance(s, ast.If)), None)
    return around is not None and ast.unparse(around.test) == f"{ast.unparse(made.node)} is None"


def network_left_out(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: the loss goes through a network that no optimizer moves.
    Reports nothing for a network that is frozen, loaded or evaluated, or whose parameters are used elsewhere, and next
    to an optimizer with leaves alone, which trains an input of a fixed network."""
    if not all_tracked(case):
        return
    passes = [set(reach(event.value)) for event in case.events_of(Act.BACKWARD)]
    names = {v: v.name for v in case.program.objects}
    hidden: set[Value] = set()
    for event in case.events_of(Act.ATTRIBUTE):
        if event.other is None:
            continue
        if event.value.kind == Kind.INSTANCE:  # self.head of a trainer
            names[event.other] = case.target(event.node)
        elif event.other.kind in {Kind.LIST, Kind.DICT}:
            hidden |= set(event.other.items or [])
        else:
            hidden.add(event.other)
    for box in case.program.objects:
        inner = set(modules(box))
        asleep = box.tags & (LEFT_ALONE | {Tag.REGISTERED, Tag.MADE_IN_FORWARD})
        frozen = any(part.tags & {Tag.EVAL, Tag.FROZEN} for part in inner)
        if box.kind != Kind.MODULE or box in hidden or not names[box] or asleep or frozen or inner & case.moved:
            continue
        layers = {part for part in inner if part.op in LAYERS or (part.leaf and part.graph)}
        through: set[Value] = set().union(*(alive for alive in passes if alive & layers))
        user = next((e.value for e in case.events_of(Act.STEP) if through & set(moved_by(e.value))), None)
        node = user.node if user is not None else None
        if user is None or not isinstance(node, ast.Call) or all(item.leaf for item in user.items or [Value()]):
            continue
        given = argument(node, "params", 0)
        if given is not None:
            name = names[box]
            yield case.hit("left_out", node, [(given, f"[*{case.text.of(given)}, *{name}.parameters()]")], name=name)


def part_left_out(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: an optimizer has one part of the program's network, and nothing moves another part.
    Reports nothing for parts that are loaded, frozen or evaluated, or have the name of such a part."""
    if not all_tracked(case):
        return
    for network in case.program.objects:
        if network.tags & {Tag.EXPOSED, Tag.COPIED}:
            continue
        parts = trained_parts(network)
        if network.op == "Sequential" and not network.tags & (LEFT_ALONE | {Tag.OPEN}):
            parts = [part for part in network.items or [] if has_parameters(part)]
        left = [p for p in parts if not set(modules(p)) & case.moved]
        left = [p for p in left if not p.tags & LEFT_ALONE and set(modules(p)) & case.alive]
        for event in case.events_of(Act.OPTIMIZER):
            given = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
            part = receiver(given)
            mine = [p for p in event.value.items or [] if p in parts]
            left = [
                p for p in left if mine and parts.index(p) > parts.index(mine[0])
            ]  # earlier ones may stay on purpose
            if left and mine and given is not None and isinstance(part, ast.Attribute | ast.Subscript):
                whole = case.text.of(part.value)
                name = f"{whole}.{left[0].name}" if left[0].name else whole
                yield case.hit("left_out", event.node, [(given, f"{whole}.parameters()")], name=name)


LEFT_ALONE = {Tag.EVAL, Tag.FROZEN, Tag.EXPOSED, Tag.COPIED}


def left_out_by_axes(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: parameter groups for certain numbers of axes, and a layer whose weights have more.
    Reports nothing with a second optimizer, for other tests in the groups, and for weights that no loss needs."""
    makers = case.events_of(Act.OPTIMIZER)
    if not all_tracked(case) or len(makers) > 1 or "add_param_group" in case.names:
        return
    groups = (makers[0].other.items or []) if makers[0].other is not None else []
    tests = [axes_test(group.attributes.get("params", Value()).node) for group in groups]
    known = [test for test in tests if test is not None]
    parts = [part for part in moved_by(makers[0].value) if Tag.FROZEN not in part.tags]
    if known and len(known) == len(tests):
        test, most = max(known, key=lambda pair: pair[1])
        left = next((part for part in parts if axes_of(part) > most and part in case.alive), None)
        if left is not None:
            wider = f"{case.text.of(test.left)} >= {most}"
            yield case.hit("left_out_by_axes", test, wider, axes=axes_of(left), layer=left.name or left.op)


def axes_test(params: ast.expr | None) -> tuple[ast.Compare, int] | None:
    """Return the test of [p for p in params if p.ndim == 2], and its number; None for other lists."""
    match params:
        case ast.ListComp(generators=[ast.comprehension(ifs=[ast.Compare(ops=[ast.Eq()]) as test])]):
            called = test.left.func if isinstance(test.left, ast.Call) else test.left
            name = called.attr if isinstance(called, ast.Attribute) else ""
            number = test.comparators[0].value if isinstance(test.comparators[0], ast.Constant) else None
            return (test, number) if name in {"ndim", "dim"} and isinstance(number, int) else None
    return None


def axes_of(part: Value) -> int:
    """Return how many axes the weight of a layer, or a parameter, has; 0 if unknown."""
    if part.kind == Kind.PARAMETER and part.base is None:
        return len(part.shape or ())
    return 2 + int(part.op[-2]) if part.op in LAYERS and part.op[:4] == "Conv" else 0


def leaf_left_out(case: Case) -> Iterator[RuleHit]:
    """Report failure 19: a tensor that requires a gradient is in the loss, and no optimizer moves it.
    Reports nothing if its gradient is read or computed in another way."""
    if not all_tracked(case) or not case.torch:
        return
    moved = {item for e in case.events_of(Act.OPTIMIZER) for item in e.value.items or []}
    used = case.reached(Act.READ_GRAD, Act.DIFFERENTIATE, Act.USED)
    used |= {e.other for e in case.events_of(Act.ATTRIBUTE) if e.other is not None}
    outputs = [v for v in case.alive if v.op in LAYERS or v.op == "call"]
    inputs = {v for output in outputs for v in reach(output)}  # an input may require a gradient for other reasons
    for event in case.events_of(Act.BACKWARD):
        step = next((e for e in case.events_of(Act.STEP) if e.loops == event.loops), None)
        node = step.value.node if step is not None else None
        if not isinstance(node, ast.Call) or not node.args:
            continue
        given = node.args[0]
        listed = isinstance(given, ast.List) and not any(isinstance(part, ast.Starred) for part in given.elts)
        groups = isinstance(given, ast.List) and any(isinstance(n, ast.Dict) for n in given.elts)
        others = case.text.of(given)[:-1] if listed else f"[*{case.text.of(given)}"
        for value in reach(event.value):
            free = value.leaf and value.graph and value.kind == Kind.TENSOR and value.name and value.op in CREATORS
            apart = (listed or value not in inputs) and value not in moved | used
            if free and apart and not value.cut and not value.branches:
                new = f'{{"params": [{value.name}]}}' if groups else value.name
                yield case.hit("leaf_left_out", node, [(given, f"{others}, {new}]")], name=value.name)


RULES = (
    climbing_optimizer,
    rate_too_high,
    growing_rate,
    rate_above_curvature_limit,
    scheduled_too_early,
    made_in_forward,
    unregistered,
    replaced_layer,
    network_left_out,
    leaf_left_out,
    left_out_by_axes,
    part_left_out,
    replaced_network,
    optimizes_other_network,
    consumed_generator,
)
