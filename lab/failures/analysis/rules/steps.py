"""Rules about the order of a turn: emptying the gradients, the pass, the step."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.effects import LOSS_FUNCTIONS
from lab.failures.analysis.facts import (
    LAYERS,
    TENSORS,
    Value,
    graph_of,
    modules,
    reach,
)
from lab.failures.analysis.kinds import Act, Kind, Tag
from lab.failures.analysis.program import Event, exclusive
from lab.failures.analysis.rules.accumulating import scales_gradient
from lab.failures.analysis.rules.case import Case, RuleHit, called, own_line, receiver


@dataclass(eq=False, slots=True)
class Stepper:
    """An optimizer, or a tensor or module that is updated by hand."""

    value: Value
    text: str
    parts: set[int] | None  # what it moves; None: not known
    block: int | None = None  # updates by hand: among which statements

    def touched(self, backward: Event) -> bool | None:
        """Does a backward pass fill the gradients of what this moves? None: cannot be said."""
        if backward.value.graph is False and backward.value.cut:
            return False
        found = list(reach(backward.value))
        unknown = any(
            v.branches or (v.kind == Kind.UNKNOWN and v.graph is not False) or v.op in {"call", "any"} for v in found
        )
        if self.parts is None:
            return None
        if any(id(v) in self.parts or (v.base and id(v.base) in self.parts) for v in found):
            return True
        return None if unknown else False

    @property
    def layers(self) -> set[int]:
        """What of it has a gradient, where that is known for an optimizer."""
        given = [part for item in self.value.items or [] if item.kind == Kind.MODULE for part in modules(item)]
        return {id(part) for part in given if part.op in LAYERS or part.kind == Kind.PARAMETER}

    def left_full(self, zero: Event) -> bool:
        """Does it empty the gradients of one part of a network only?"""
        emptied = {id(part) for part in modules(zero.value)}
        apart = zero.value.kind == Kind.MODULE and Tag.ANY not in zero.value.tags and not zero.detail
        return apart and bool(self.layers & emptied) and bool(self.layers - emptied)

    def zeroed(self, zero: Event) -> bool:
        value = zero.value
        if value is self.value or self.parts is None or value.kind == Kind.UNKNOWN or Tag.ANY in value.tags:
            return True
        return bool(self.parts & {id(part) for part in modules(value)})


def is_update(event: Event) -> bool:
    """A parameter moved by hand: w.data -= lr * w.grad, or the same under no_grad."""
    if event.other is None or event.value.graph is False:
        return False
    behind = reach(event.other, live=False)
    gradient = any(v.kind == Kind.GRADIENT or v.tags & {Tag.UPDATED, Tag.VELOCITY} for v in behind)
    return gradient and (event.kind == Act.UPDATE or (event.kind == Act.WRITE and not event.recorded))


def steppers(case: Case) -> list[Stepper]:
    found: dict[int, Stepper] = {}
    for event in case.program.events:
        if event.kind == Act.STEP:
            value = event.value
            name = receiver(event.node)
            call = event.node
            if isinstance(call, ast.Call) and call.args and event.detail != "closure" and value.kind != Kind.SCALER:
                name = call.args[0]
            parts: set[int] | None = None
            if value.items is not None:
                parts = {
                    id(part) for item in value.items for part in (modules(item) if item.kind == Kind.MODULE else [item])
                }
            found.setdefault(id(value), Stepper(value, case.text.of(name) if name else "optimizer", parts))
        elif is_update(event):
            value = event.value.base if event.value.kind == Kind.PARAMETER and event.value.base else event.value
            text = value.name or event.value.name
            parts = {id(part) for part in modules(value)} | {id(value)}
            found.setdefault(id(value), Stepper(value, text, parts, id(event.block)))
    return list(found.values())


def is_step_of(event: Event, stepper: Stepper) -> bool:
    if event.kind == Act.STEP:
        return event.value is stepper.value
    value = event.value.base if event.value.kind == Kind.PARAMETER and event.value.base else event.value
    return is_update(event) and value is stepper.value


def emptied_as_read(case: Case) -> list[Stepper]:
    """What is stepped; nothing where gradients may be emptied in a way that is not followed."""
    return [] if case.names & {"setattr", "_foreach_zero_"} else steppers(case)


def never_zeroed(case: Case) -> Iterator[RuleHit]:
    """6: backward, step, and backward again with nothing that empties the gradients between.
    Silent: where one zero_grad of anything unknown stands between; where the two are arms of one `if`; for a pass that
    cannot be said to reach what is stepped, unless only one thing is stepped at all, or all side by side; where the
    text scales what is left in a gradient, as momentum by hand does."""
    if any(scales_gradient(node) for node in ast.walk(case.program.tree)):
        return
    everyone = emptied_as_read(case)
    together = len({stepper.block for stepper in everyone}) == 1 and all(stepper.block for stepper in everyone)
    zeroes = bool(case.all(Act.ZERO)) or bool(case.names & {"zero_grad", "zero_"})
    hits: dict[int, tuple[Event, list[Stepper], Event]] = {}
    for stepper in everyone:
        apart_only = len({id(e.value) for e in case.all(Act.ZERO) if stepper.zeroed(e)}) == 1
        state = "clean"
        steps: list[Event] = []  # since the gradients were emptied
        waiting: list[tuple[Event, Event]] = []  # what went wrong if a step comes before the next zero
        for event in case.program.events:
            if event.kind == Act.BACKWARD:
                touched = stepper.touched(event)
                if touched is False or (touched is None and len(everyone) > 1 and not together):
                    continue
                before = next((step for step in reversed(steps) if not exclusive(step, event)), None)
                if before is not None and not (event.second_call and zeroes):
                    waiting.append((event, before))
                state = "filled"
            elif event.kind == Act.ZERO and stepper.zeroed(event) and not (apart_only and stepper.left_full(event)):
                state = "clean"
                steps.clear()
                waiting.clear()
            elif is_step_of(event, stepper) and state == "filled":
                state = "used"
                steps.append(event)
                for backward, step in waiting[-1:]:
                    those = hits.setdefault(id(backward.node), (backward, [], step))[1]
                    if stepper not in those:
                        those.append(stepper)
                waiting.clear()
    for event, those, step in hits.values():
        yield from added_up(case, event, those, step)


def added_up(case: Case, event: Event, those: list[Stepper], step: Event) -> Iterator[RuleHit]:
    """6, at what should empty the gradients and does not, or else at the pass that adds to them."""
    names = []
    for stepper in those:
        plain = stepper.value.kind in TENSORS
        names.append(f"{stepper.text}.grad = None" if plain else f"{stepper.text}.zero_grad()")
    names = list(dict.fromkeys(names))
    who = " and ".join(dict.fromkeys(f"`{stepper.text}`" for stepper in those))
    line = getattr(step.node, "lineno", 0)
    vain = emptied_in_vain(case, event, those)
    if vain is not None:
        yield RuleHit(
            6,
            vain.node,
            f"This empties no gradient: those of {who} add up, pass after pass, and the step in line {line} "
            "follows the sum of all batches so far.",
            emptied_indeed(case, vain) or case.text.before(event.statement, *names),
        )
        return
    part = emptied_partly(case, those)
    source = receiver(part.node) if part is not None else None
    if part is not None and source is not None:
        yield RuleHit(
            6,
            part.node,
            f"This empties the gradients of `{case.text.of(source)}` only, but {who} moves more: the other "
            "gradients add up, pass after pass.",
            case.text.replace([(source, those[0].text)]),
        )
        return
    once = emptied_once(case, event, those)
    if once is not None:
        yield RuleHit(
            6,
            once.node,
            f"This empties the gradients of {who} outside of the loop, and nothing does between the step in line "
            f"{line} and the `backward()` in line {event.statement.lineno} of the next turn: each pass adds to the "
            "last one's.",
            case.text.before(event.statement, *names),
        )
        return
    other = emptied_instead(case, event)
    if other is not None and len(those) == 1 and those[0].value.kind == Kind.OPTIMIZER:
        wrong = receiver(other.node)
        assert wrong is not None
        yield RuleHit(
            6,
            other.node,
            f"This empties the gradients of `{case.text.of(wrong)}`, which the `backward()` in line "
            f"{event.statement.lineno} does not fill; those of {who} are never emptied and add up.",
            case.text.replace([(wrong, those[0].text)]),
        )
        return
    half = emptied_part(case, event, those)
    yield RuleHit(
        6,
        event.node if half is None else half,
        f"Nothing empties the gradients of {who} between the step in line {line} and this `backward()` of the "
        "next turn: each pass adds to the last one's, so every step follows the sum of all batches so far."
        if half is None
        else f"Only the gradients of `{case.text.of(half)}` are emptied here; those of {who} add up, pass after "
        f"pass, and the step in line {line} follows the sum of all batches so far.",
        case.text.before(event.statement, *names),
    )


def emptied_in_vain(case: Case, backward: Event, those: list[Stepper]) -> Event | None:
    """What stands before a pass as if it emptied the gradients, and does not."""
    for event in reversed(case.program.events[: case.order[backward]]):
        if event.kind in {Act.STEP, Act.BACKWARD}:
            return None
        if event.kind == Act.VAIN and any(stepper.zeroed(event) for stepper in those):
            return event
    return None


def emptied_indeed(case: Case, vain: Event) -> Edit | None:
    """Call a zero_grad that is only named; a gradient set to 0 in place instead of its name."""
    if isinstance(vain.node, ast.Attribute):
        return case.text.replace([(vain.node, f"{case.text.of(vain.node)}()")])
    if isinstance(vain.node, ast.Name) and isinstance(vain.statement, ast.Assign):
        return case.text.replace([(vain.statement, f"{vain.node.id}.zero_()")])
    return None


def emptied_partly(case: Case, those: list[Stepper]) -> Event | None:
    """The statement that empties the gradients of a part of what one optimizer moves, and nothing else does."""
    return next((e for e in case.all(Act.ZERO) if len(those) == 1 and those[0].left_full(e)), None)


def emptied_once(case: Case, backward: Event, those: list[Stepper]) -> Event | None:
    """The statement that empties the gradients of a loop's passes, in the same function but around the loop."""
    for event in case.all(Act.ZERO):
        outside = len(event.loops) < len(backward.loops) and event.loops == backward.loops[: len(event.loops)]
        if outside and event.functions == backward.functions and all(stepper.value is event.value for stepper in those):
            return event
    return None


def emptied_part(case: Case, backward: Event, those: list[Stepper]) -> ast.expr | None:
    """What a loop goes through to empty the gradients of other parameters just before a pass."""
    for event in reversed(case.program.events[: case.order[backward]]):
        if event.kind in {Act.STEP, Act.BACKWARD}:
            return None
        loop = event.loops[-1] if event.kind == Act.ZERO and event.loops else None
        if isinstance(loop, ast.For) and loop not in backward.loops and not any(s.zeroed(event) for s in those):
            return loop.iter if ast.unparse(loop.iter).endswith(".parameters()") else None
    return None


def emptied_instead(case: Case, backward: Event) -> Event | None:
    """The `zero_grad()` just before a pass, of an optimizer that has nothing to do with it."""
    events = case.program.events
    now = events.index(backward)
    turn = [e for e in events[:now] if e.turns == backward.turns and e.kind in {Act.ZERO, Act.BACKWARD, Act.STEP}]
    before = turn[-1] if turn else None
    if (
        before is None
        or before.kind != Act.ZERO
        or before.value.kind != Kind.OPTIMIZER
        or before.path[:-1] != backward.path[:-1]
        or receiver(before.node) is None
    ):
        return None
    moved = {id(part) for item in before.value.items or [] for part in modules(item)}
    if not moved or moved & {id(v) for v in reach(backward.value)}:
        return None
    uses = [e for e in events[now:] if e.kind in {Act.ZERO, Act.STEP} and e.value is before.value]
    return before if not uses or uses[0].kind == Act.ZERO else None  # emptied once more before it steps


def wrong_order(case: Case) -> Iterator[RuleHit]:
    """18: the gradients are thrown away between backward and step, or the step comes before the backward pass.
    Silent: where the three do not stand in one block."""
    for stepper in steppers(case):
        if stepper.value.kind not in {Kind.OPTIMIZER, Kind.UNKNOWN}:
            continue
        last: Event | None = None
        emptied: Event | None = None
        for event in case.program.events:
            if event.kind == Act.BACKWARD and stepper.touched(event) is not False:
                last, emptied = event, None
            elif event.kind == Act.BACKWARD:
                emptied = None
            elif event.kind == Act.ZERO and last is not None and not event.detail and stepper.zeroed(event):
                emptied = event
            elif event.kind == Act.STEP and event.value is stepper.value:
                if (
                    last is not None
                    and emptied is not None
                    and not exclusive(last, event)
                    and not exclusive(emptied, event)
                ):
                    yield from misplaced(case, stepper, last, emptied, event)
                elif last is not None and emptied is None:
                    yield from one_turn_late(case, stepper, last, event)
                last, emptied = None, None


def side_by_side(events: Sequence[Event]) -> tuple[list[ast.stmt], list[int]] | None:
    """The innermost block in whose statements all events happen, each in another one or in what it calls, and the
    positions of these statements. None where there is no such block, or where one of them is behind an `if`."""
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
    """The edit that moves the statement of `early` behind that of `late`; None where the two do not stand in this order
    in one block, or share lines."""
    together = side_by_side((early, late))
    if together is None:
        return None
    block, (here, there) = together
    part = block[here : there + 1]
    return case.text.reorder(part, [*part[1:], part[0]]) if here < there else None


def misplaced(case: Case, stepper: Stepper, backward: Event, zero: Event, step: Event) -> Iterator[RuleHit]:
    together = side_by_side((backward, zero, step))
    if together is None:
        return
    if len(set(together[1])) == 2:  # two of them in one call
        yield from emptied_in_a_call(case, stepper, backward, zero, step)
        return
    block, positions = together
    at = dict(zip(("backward", "zero", "step"), positions, strict=True))
    here = len({e.functions for e in (backward, zero, step)}) == 1  # else the order is that of calls
    if at["step"] < at["backward"]:
        part = block[at["step"] : at["backward"] + 1]
        edit = case.text.reorder(part, [*part[1:], part[0]])
        sentence = (
            f"`{stepper.text}` steps before this turn's `backward()` in line {backward.statement.lineno}, and what "
            f"the last turn's pass left was emptied in line {zero.statement.lineno}: it steps with no gradient at all."
        )
        node = step.node if here else block[at["step"]]
    elif at["backward"] < at["zero"] < at["step"]:
        part = block[at["backward"] : at["zero"] + 1]
        edit = case.text.reorder(part, [part[-1], *part[:-1]])
        sentence = (
            f"The gradients of `backward()` in line {backward.statement.lineno} are emptied here, before "
            f"`{stepper.text}` steps with them in line {step.statement.lineno}: nothing is learned."
        )
        called_by_name = len(zero.functions) - len(backward.functions) <= 1  # else what is called may do much more
        node = block[at["zero"]] if called_by_name and not here else zero.node
    else:
        return
    if edit is not None:
        yield RuleHit(18, node, sentence, edit)


def emptied_in_a_call(case: Case, stepper: Stepper, backward: Event, zero: Event, step: Event) -> Iterator[RuleHit]:
    """18: a function that empties the gradients of a pass before it, and then steps."""
    inner = side_by_side((zero, step))
    before = case.order[backward] < case.order[zero] < case.order[step]
    if inner is None or not before or zero.functions != step.functions or zero.functions == backward.functions:
        return
    block, (here, there) = inner
    part = block[here : there + 1]
    edit = case.text.reorder(part, [*part[1:], part[0]]) if here < there else None
    if edit is not None:
        yield RuleHit(
            18,
            zero.node,
            f"The gradients of `backward()` in line {backward.statement.lineno} are emptied here, before "
            f"`{stepper.text}` steps with them in line {step.statement.lineno}: nothing is learned.",
            edit,
        )


def one_turn_late(case: Case, stepper: Stepper, backward: Event, step: Event) -> Iterator[RuleHit]:
    """18: a step with the gradients of the turn before, in front of this turn's pass.
    Silent: where the two do not stand in one block of a loop, or of a function that is called again."""
    one_place = (
        bool(step.loops or step.functions) and backward.loops == step.loops and backward.functions == step.functions
    )
    edit = moved_behind(case, step, backward) if one_place else None
    if edit is not None:
        yield RuleHit(
            18,
            step.node,
            f"`{stepper.text}` steps before this turn's `backward()` in line {backward.statement.lineno}: it follows "
            "the gradient of the batch before, and that of the last batch is never used.",
            edit,
        )


LOSS = re.compile("loss|error|cost|mse")
GROWS = re.compile("(?i)likelihood|reward|return|score|objective|elbo|evidence|log_?p|utility")  # what should grow


def uphill(case: Case) -> Iterator[RuleHit]:
    """18: a loss made larger, by += with its own gradient. Silent: signs of gradients (attacks climb on purpose), a
    step up that another statement takes back, and whatever is not called a loss."""
    passes = case.all(Act.BACKWARD, Act.USED)
    losses = [e for e in passes if likelihood_turned(e.value) or e.value.form == "loss" or LOSS.search(e.value.name)]
    if any((e.value.op == "neg" and e not in losses) or GROWS.search(e.value.name) for e in passes):
        return
    for event in case.all(Act.UPDATE, Act.WRITE):
        new = event.other
        climbs = new is not None and (
            new.kind == Kind.GRADIENT
            or Tag.VELOCITY in new.tags
            or (event.kind == Act.UPDATE and Tag.UP in new.tags)
            or slope_of(new, event.value)
        )
        if event.detail != "+" or new is None or not climbs or {Tag.SIGN, Tag.TURNED} & new.tags or not losses:
            continue
        if event.value.graph is False or (event.recorded and event.kind == Act.WRITE) or taken_back(case, event):
            continue
        statement = event.statement
        if isinstance(statement, ast.AugAssign):
            line = case.text.of(statement).replace("+=", "-=", 1)
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
            whole = statement.value
            new_value = f"{case.text.of(whole.left)} - {case.text.operand(whole.right)}"
            line = f"{case.text.of(statement.targets[0])} = {new_value}"
        elif isinstance(event.node, ast.Call):
            if any(not positive(k.value) for k in event.node.keywords):
                continue
            line = case.text.of(statement).replace(".add_(", ".sub_(", 1)
        else:
            continue
        moved = receiver(event.node)
        name = f"`{case.text.of(moved)}`" if moved is not None else called(event.value, "the parameter")
        yield RuleHit(
            18,
            statement,
            f"The gradient points to where the loss grows: adding it to {name} climbs; the step goes against it.",
            case.text.replace([(statement, line)]),
        )


def taken_back(case: Case, step: Event) -> bool:
    """Does another statement move the same parameters the other way, or put back what they were?"""
    owner = step.value.base or step.value
    moves = (e for e in case.all(Act.UPDATE, Act.WRITE) if (e.value.base or e.value) is owner)
    return any(e.detail != "+" and e.statement is not step.statement for e in moves)


def likelihood_turned(value: Value) -> bool:
    """Is it the mean of log-probabilities with a minus: a loss?"""
    turned = False
    while value.parents and value.op in {"neg", "mean", "sum", "view", "index", "gather"}:
        turned = turned != (value.op == "neg")
        value = value.parents[0]
    return turned and value.form == "log probabilities"


def slope_of(step: Value, weight: Value) -> bool:
    """Is it the derivative of a loss by a weight, perhaps times a rate? Not that by what goes into layers, which an
    attack moves uphill on purpose."""
    if step.op == "*":
        rates = [part.constant for part in step.parents if part.kind == Kind.NUMBER and part.op != "neg"]
        slopes = [part for part in step.parents if part.op == "derivative"]
        if len(rates) != 1 or len(slopes) != 1 or (isinstance(rates[0], int | float) and rates[0] <= 0):
            return False
        step = slopes[0]
    behind = list(reach(step.parents[0])) if step.op == "derivative" and step.parents else []
    through_layers = any(part.kind in {Kind.MODULE, Kind.UNKNOWN} or part.branches for part in behind)
    return any(part is weight for part in behind) and not through_layers


@dataclass(frozen=True, slots=True)
class LossPart:
    """A summand of a loss, the sign with which it is in it, and what numbers without a gradient it is multiplied by."""

    value: Value
    sign: int
    weights: tuple[Value, ...] = ()


def terms(value: Value, sign: int = 1, weights: tuple[Value, ...] = ()) -> Iterator[LossPart]:
    """The summands of a loss."""
    parents = value.parents
    if value.op == "neg" and parents:
        yield from terms(parents[0], -sign, weights)
    elif value.op in {"+", "-"} and len(parents) == 2:
        yield from terms(parents[0], sign, weights)
        yield from terms(parents[1], -sign if value.op == "-" else sign, weights)
    elif value.op in {"*", "/"} and len(parents) == 2:
        one, two = parents if graph_of(parents[0]) or value.op == "/" else parents[::-1]
        number = two.constant if isinstance(two.constant, int | float) else 1
        turned = -1 if number < 0 or two.op == "neg" else 1
        yield from terms(one, sign * turned, weights if two.kind == Kind.NUMBER else (*weights, two))
    elif parents and value.op not in LOSS_FUNCTIONS and (value.op in SUMMED or (weights and value.op in RATIO)):
        for part in parents[:1] if value.op in {"gather", "index"} else parents:
            yield from terms(part, sign, weights)
    elif graph_of(value) is not False:
        yield LossPart(value, sign, weights)


SUMMED = {"mean", "sum", "view", "index", "gather", "stack", "cat", "clone"}
RATIO = {"exp", "min", "minimum", "clamp"}  # of a probability to the one before, as PPO has it
REWARD = re.compile("(?i)^(r|g|rew|ret|adv|gain|delta|td|score|payoff|win)|reward|return|advantage")
COST = re.compile("(?i)cost|loss|length|dist|regret|time|error|penal|tour")


def of_reward(weights: tuple[Value, ...]) -> bool:
    """Is a probability multiplied by what should be large, as a policy's is?"""
    names = [v.name.split(".")[-1] for weight in weights for v in reach(weight, live=False) if v.name]
    return any(map(REWARD.search, names)) and not any(map(COST.search, names))


def turned_loss(case: Case) -> Iterator[RuleHit]:
    """18: a likelihood without its minus, or a loss with one, as what an optimizer makes smaller.
    Silent: where another term has the right sign or is not known, for an optimizer told to maximize, and where two
    play against each other."""
    makers = [e.node for e in case.all(Act.OPTIMIZER) if isinstance(e.node, ast.Call)]
    if not case.all(Act.STEP) or any(key.arg in {"maximize", None} for node in makers for key in node.keywords):
        return
    for event in case.all(Act.BACKWARD):
        found = list(terms(event.value))
        likely = [t for t in found if t.value.op == "log_prob" or t.value.form == "log probabilities"]
        losses = [t for t in found if t.value.op in LOSS_FUNCTIONS]
        rewarded = bool(likely) and all(t.sign > 0 and of_reward(t.weights) for t in likely)
        plain = bool(likely) and likely == found and all(t.sign > 0 and not t.weights for t in likely)
        networks = {v.kind for e in case.all(Act.OPTIMIZER) for v in e.value.items or []} == {Kind.MODULE}
        turned = bool(losses) and losses == found and all(t.sign < 0 for t in losses)
        if not (rewarded or plain or (turned and networks and len(makers) == 1)) or "given" in event.detail:
            continue
        place = made_where(event)
        if place is None:
            continue
        what = "is a loss with a minus" if turned else "is the logarithm of a probability, which should grow"
        new = f"-{case.text.operand(place)}"
        if isinstance(place, ast.UnaryOp) and isinstance(place.op, ast.USub):
            new = case.text.of(place.operand)
        statement = event.value.statement
        here = statement is not None and own_line(statement) and inside(statement, place)
        yield RuleHit(
            18,
            statement if statement is not None and here else event.node,
            f"{called(event.value, 'This')} {what}, but each step makes it smaller: change its sign.",
            case.text.replace([(place, new if place is not receiver(event.node) else f"({new})")]),
        )


def made_where(event: Event) -> ast.expr | None:
    """The expression that makes what a pass starts from."""
    made, statement = event.value.node, event.value.statement
    if made is not None and statement is not None and inside(statement, made):
        return made
    return receiver(event.node)


def inside(around: ast.AST | None, node: ast.AST) -> bool:
    return around is not None and any(part is node for part in ast.walk(around))


def positive(node: ast.expr) -> bool:
    """Is a factor written without a sign?"""
    return isinstance(node, ast.Name | ast.Attribute) or (
        isinstance(node, ast.Constant) and node.value not in (0, None)
    )
