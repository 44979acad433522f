"""Rules about the order within an iteration: zero the gradients, backward pass, step."""

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.effects import LOSS_FUNCTIONS
from lab.failures.analysis.facts import LAYERS, TENSORS, Value, graph_of, modules, moved_by, owner_of, reach, traverse
from lab.failures.analysis.kinds import Act, Kind, Tag, words
from lab.failures.analysis.program import Event, exclusive
from lab.failures.analysis.rules.accumulating import scales_gradients
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.syntax import inside, is_simple, receiver
from lab.failures.analysis.work import walk


@dataclass(eq=False, slots=True)
class Stepper:
    """An optimizer, or a tensor or module that is updated by hand."""

    value: Value
    text: str
    parts: set[Value] | None  # what it moves; None if unknown
    block: int | None = None  # id of the block of an update by hand
    reached: frozenset[Value] = frozenset()  # all that a backward pass is known to reach

    def touched(self, backward: Event) -> bool | None:
        """Tell whether a backward pass fills the gradients of what this moves; None if unknown."""
        if backward.value.graph is False and backward.value.cut:
            return False
        found = list(reach(backward.value))
        unknown = any(
            v.branches or (v.kind == Kind.UNKNOWN and v.graph is not False) or v.op in {"call", "any"} for v in found
        )
        if self.parts is None:
            return None
        if any(v in self.parts or (v.base and v.base in self.parts) for v in found):
            return True
        return None if unknown else False

    @property
    def layers(self) -> set[Value]:
        """The layers and parameters that an optimizer moves and a pass reaches, unlike a replaced layer."""
        given = [part for item in self.value.items or [] if item.kind == Kind.MODULE for part in modules(item)]
        return {part for part in given if part.op in LAYERS or part.kind == Kind.PARAMETER} & self.reached

    def zeroes_part(self, zero: Event) -> bool:
        """Tell whether an event zeroes the gradients of only a part of the network."""
        zeroed = set(modules(zero.value))
        apart = zero.value.kind == Kind.MODULE and Tag.ANY not in zero.value.tags and not zero.detail
        return apart and bool(self.layers & zeroed) and bool(self.layers - zeroed)

    def zeroed_by(self, zero: Event) -> bool:
        value = zero.value
        if value is self.value or self.parts is None or value.kind == Kind.UNKNOWN or Tag.ANY in value.tags:
            return True
        return bool(self.parts & set(modules(value)))


def is_update(event: Event) -> bool:
    """Tell whether a parameter is updated by hand: w.data -= lr * w.grad, or the same under no_grad."""
    if event.other is None or event.value.graph is False:
        return False
    behind = reach(event.other, live=False)
    gradient = any(v.kind == Kind.GRADIENT or v.tags & {Tag.UPDATED, Tag.VELOCITY} for v in behind)
    return gradient and (event.kind == Act.UPDATE or (event.kind == Act.WRITE and not event.recorded))


def steppers(case: Case) -> list[Stepper]:
    found: dict[Value, Stepper] = {}
    reached = frozenset(case.alive)
    for event in case.program.events:
        value, node = event.value, event.node
        if event.kind == Act.STEP:
            given = node.args[0] if isinstance(node, ast.Call) and node.args else None
            name = receiver(node) if given is None or event.detail == "closure" or value.kind == Kind.SCALER else given
            parts = set(moved_by(value)) if value.items is not None else None
            found.setdefault(value, Stepper(value, case.text.of(name) if name else "optimizer", parts, None, reached))
        elif is_update(event):
            owner = owner_of(value)
            stepper = Stepper(owner, owner.name or value.name, {*modules(owner), owner}, id(event.block))
            found.setdefault(owner, stepper)
    return list(found.values())


def is_step_of(event: Event, stepper: Stepper) -> bool:
    if event.kind == Act.STEP:
        return event.value is stepper.value
    return is_update(event) and owner_of(event.value) is stepper.value


def followed_steppers(case: Case) -> list[Stepper]:
    """Return all steppers; [] if gradients may be zeroed in a way that the reader does not follow."""
    homes = {event.function for event in case.events_of(Act.ZERO)} - {None}
    lazy = any(isinstance(n, ast.Yield | ast.YieldFrom) for home in homes if home for n in walk(home))
    return [] if lazy or case.names & NOT_FOLLOWED else steppers(case)


NOT_FOLLOWED = words(
    "setattr _foreach_zero_ exec register_step_post_hook register_step_pre_hook register_post_accumulate_grad_hook"
)


def never_zeroed(case: Case) -> Iterator[RuleHit]:
    """Report failure 6: backward, step, and backward again without zeroing the gradients between.
    Reports nothing if anything unknown is zeroed between; if the two are arms of one `if`; for a pass not known to
    reach what is stepped, unless only one thing is stepped, or all in one block; and if the program scales the
    gradients that are left, as momentum by hand does."""
    if scales_gradients(case):
        return
    stepped = followed_steppers(case)
    together = len({stepper.block for stepper in stepped}) == 1 and all(stepper.block for stepper in stepped)
    zeroes = bool(case.events_of(Act.ZERO)) or bool(case.names & {"zero_grad", "zero_"})
    hits: dict[ast.AST, tuple[Event, list[Stepper], Event]] = {}
    for stepper in stepped:
        part_only = len({e.value for e in case.events_of(Act.ZERO) if stepper.zeroed_by(e)}) == 1
        state = "clean"
        steps: list[Event] = []  # since the gradients were last zeroed
        pending: list[tuple[Event, Event]] = []  # wrong if a step comes before the next zeroing
        for event in case.program.events:
            if event.kind == Act.BACKWARD:
                touched = stepper.touched(event)
                if touched is False or (touched is None and len(stepped) > 1 and not together):
                    continue
                before = next((step for step in reversed(steps) if not exclusive(step, event)), None)
                if before is not None and not (event.second_call and zeroes):
                    pending.append((event, before))
                state = "filled"
            elif (event.kind == Act.LENT and event.value is stepper.value) or (
                event.kind == Act.ZERO and stepper.zeroed_by(event) and not (part_only and stepper.zeroes_part(event))
            ):
                state = "clean"
                steps.clear()
                pending.clear()
            elif is_step_of(event, stepper) and state == "filled":
                state = "used"
                steps.append(event)
                for backward, step in pending[-1:]:
                    missed = hits.setdefault(backward.node, (backward, [], step))[1]
                    if stepper not in missed:
                        missed.append(stepper)
                pending.clear()
    for event, missed, step in hits.values():
        yield report_accumulation(case, event, missed, step)


def report_accumulation(case: Case, event: Event, missed: list[Stepper], step: Event) -> RuleHit:
    """Return the hit for failure 6: at the statement that fails to zero the gradients, or at the pass that adds."""
    zeroes = [s.text + (".grad = None" if s.value.kind in TENSORS else ".zero_grad()") for s in missed]
    zeroing = case.text.before(event.statement, *dict.fromkeys(zeroes))
    owners = " and ".join(dict.fromkeys(f"`{stepper.text}`" for stepper in missed))
    line = getattr(step.node, "lineno", 0)
    if (vain := ineffective_zero(case, event, missed)) is not None:
        change = make_zero_effective(case, vain) or zeroing
        return case.hit("zeroes_nothing", vain.node, change, owners=owners, step=line)
    part = partial_zero(case, missed)
    if part is not None and (source := receiver(part.node)) is not None:
        return case.hit("zeroes_a_part", part.node, [(source, missed[0].text)], source=source, owners=owners)
    if (once := zero_outside_loop(case, event, missed)) is not None:
        return case.hit("zeroed_outside_loop", once.node, zeroing, event, owners=owners, step=line)
    other = zero_of_other_optimizer(case, event)
    wrong = other or zero_meant_for(case, event, missed, step)
    source = receiver(wrong.node) if wrong is not None else None
    if wrong is not None and source is not None and len(missed) == 1 and missed[0].value.kind == Kind.OPTIMIZER:
        key = "zeroes_unfilled" if other is not None else "zeroes_other_optimizer"
        change = case.text.replace([(source, missed[0].text)])
        return case.hit(key, wrong.node, change, event, source=source, owners=owners, step=line)
    half = zeroed_parameters(case, event, missed)
    key = "never_zeroed" if half is None else "zeroes_other_parameters"
    return case.hit(key, half or event.node, zeroing, owners=owners, step=line)


def ineffective_zero(case: Case, backward: Event, missed: list[Stepper]) -> Event | None:
    """Return the event before a pass that looks like zeroing the gradients and is not; None without one."""
    for event in reversed(case.program.events[: case.order[backward]]):
        if event.kind in {Act.STEP, Act.BACKWARD}:
            return None
        if event.kind == Act.VAIN and any(stepper.zeroed_by(event) for stepper in missed):
            return event
    return None


def make_zero_effective(case: Case, ineffective: Event) -> Edit | None:
    """Return the edit that calls a zero_grad that is only named, or zeroes a gradient in place instead of its name."""
    if isinstance(ineffective.node, ast.Attribute):
        return case.text.replace([(ineffective.node, f"{case.text.of(ineffective.node)}()")])
    if isinstance(ineffective.node, ast.Name) and isinstance(ineffective.statement, ast.Assign):
        return case.text.replace([(ineffective.statement, f"{ineffective.node.id}.zero_()")])
    return None


def partial_zero(case: Case, missed: list[Stepper]) -> Event | None:
    """Return the event that zeroes only a part of what the one optimizer moves; None if there is none."""
    return next((e for e in case.events_of(Act.ZERO) if len(missed) == 1 and missed[0].zeroes_part(e)), None)


def zero_outside_loop(case: Case, backward: Event, missed: list[Stepper]) -> Event | None:
    """Return the statement in the same function, but outside the loop, that zeroes the gradients; None without one."""
    for event in case.events_of(Act.ZERO):
        outside = len(event.loops) < len(backward.loops) and event.loops == backward.loops[: len(event.loops)]
        if (
            outside
            and event.functions == backward.functions
            and all(stepper.value is event.value for stepper in missed)
        ):
            return event
    return None


def zeroed_parameters(case: Case, backward: Event, missed: list[Stepper]) -> ast.expr | None:
    """Return the parameters whose gradients a loop zeroes just before a pass that fills others; None without a loop."""
    for event in reversed(case.program.events[: case.order[backward]]):
        if event.kind in {Act.STEP, Act.BACKWARD}:
            return None
        loop = event.loops[-1] if event.kind == Act.ZERO and event.loops else None
        if isinstance(loop, ast.For) and loop not in backward.loops and not any(s.zeroed_by(event) for s in missed):
            return loop.iter if ast.unparse(loop.iter).endswith(".parameters()") else None
    return None


def zero_of_other_optimizer(case: Case, backward: Event) -> Event | None:
    """Return the zero_grad() just before a pass, of an optimizer that the pass does not concern; None without one."""
    before = zero_just_before(case, backward)
    moved = set(moved_by(before.value)) if before is not None else set()
    return before if moved and not moved & set(reach(backward.value)) else None


def zero_just_before(case: Case, backward: Event) -> Event | None:
    """Return the zero_grad() just before a pass in its block, if its optimizer is zeroed again before it steps."""
    events = case.program.events
    index = case.order[backward]
    turn = [e for e in events[:index] if e.turns == backward.turns and e.kind in {Act.ZERO, Act.BACKWARD, Act.STEP}]
    before = turn[-1] if turn else None
    if before is None or before.kind != Act.ZERO or before.value.kind != Kind.OPTIMIZER:
        return None
    if before.path[:-1] != backward.path[:-1] or receiver(before.node) is None:
        return None
    uses = [e for e in events[index:] if e.kind in {Act.ZERO, Act.STEP} and e.value is before.value]
    return before if not uses or uses[0].kind == Act.ZERO else None


def zero_meant_for(case: Case, backward: Event, missed: list[Stepper], step: Event) -> Event | None:
    """Return the zero_grad() just before a pass, of another optimizer than the one that steps after it; else None.
    The other one is zeroed elsewhere as well, for a pass of its own, and the one that steps nowhere."""
    before = zero_just_before(case, backward)
    if before is None or before.value is step.value or step.block is not backward.block:
        return None
    zeroes = case.events_of(Act.ZERO)
    alone = any(e.value is stepper.value for e in zeroes for stepper in missed)
    elsewhere = any(e.value is before.value and e.node is not before.node for e in zeroes)
    return before if elsewhere and not alone else None


def wrong_order(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: gradients are zeroed between backward and step, or the step comes before the backward pass.
    Reports nothing if the three are not in one block."""
    for stepper in steppers(case):
        if stepper.value.kind not in {Kind.OPTIMIZER, Kind.UNKNOWN}:
            continue
        last: Event | None = None
        zeroed: Event | None = None
        for event in case.program.events:
            if event.kind == Act.BACKWARD and stepper.touched(event) is not False:
                last, zeroed = event, None
            elif event.kind == Act.BACKWARD:
                zeroed = None
            elif event.kind == Act.ZERO and last is not None and not event.detail and stepper.zeroed_by(event):
                zeroed = event
            elif event.kind == Act.STEP and event.value is stepper.value:
                if (
                    last is not None
                    and zeroed is not None
                    and not exclusive(last, event)
                    and not exclusive(zeroed, event)
                ):
                    yield from report_misplaced(case, stepper, last, zeroed, event)
                elif last is not None and zeroed is None:
                    yield from step_before_backward(case, stepper, last, event)
                last, zeroed = None, None


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


def report_misplaced(case: Case, stepper: Stepper, backward: Event, zero: Event, step: Event) -> Iterator[RuleHit]:
    together = side_by_side((backward, zero, step))
    if together is None:
        return
    if len(set(together[1])) == 2:  # two of them in one call
        yield from zeroed_in_a_call(case, stepper, backward, zero, step)
        return
    block, positions = together
    at = dict(zip(("backward", "zero", "step"), positions, strict=True))
    here = len({e.functions for e in (backward, zero, step)}) == 1  # else calls determine the order
    if at["step"] < at["backward"]:
        part = block[at["step"] : at["backward"] + 1]
        edit = case.text.reorder(part, [*part[1:], part[0]])
        node, key = step.node if here else block[at["step"]], "step_without_gradient"
    elif at["backward"] < at["zero"] < at["step"]:
        part = block[at["backward"] : at["zero"] + 1]
        edit = case.text.reorder(part, [part[-1], *part[:-1]])
        key = "zeroed_before_step"
        called_by_name = len(zero.functions) - len(backward.functions) <= 1  # else the called function may do much more
        node = block[at["zero"]] if called_by_name and not here else zero.node
    else:
        return
    if edit is not None:
        fields = {"stepper": stepper.text, "step": step.line, "zeroed": zero.line}
        yield case.hit(key, node, edit, backward, **fields)


def zeroed_in_a_call(case: Case, stepper: Stepper, backward: Event, zero: Event, step: Event) -> Iterator[RuleHit]:
    """Report failure 18: a function zeroes the gradients of an earlier pass and then steps."""
    yield from zeroed_by_callback(case, stepper, backward, zero, step)
    before = case.order[backward] < case.order[zero] < case.order[step]
    if not before or zero.functions != step.functions or zero.functions == backward.functions:
        return
    if (edit := moved_behind(case, zero, step)) is not None:
        yield case.hit("zeroed_before_step", zero.node, edit, backward, stepper=stepper.text, step=step.line)


def zeroed_by_callback(case: Case, stepper: Stepper, backward: Event, zero: Event, step: Event) -> Iterator[RuleHit]:
    """Report failure 18: of a list of callbacks, one zeroes the gradients, and a later one steps with them."""
    homes = [(o.node, o.body.definition) for o in case.program.objects if o.body is not None]
    one, two = ([made for made, home in homes if inside(home, e.function)] for e in (zero, step))
    listed = [node.elts for node in case.nodes(ast.List)] + [node.elts for node in case.nodes(ast.Tuple)]
    if zero.loops != step.loops or zero.turns == step.turns or len(one) != 1 or len(two) != 1:
        return
    for early, late in itertools.permutations(next((row for row in listed if one[0] in row), []), 2):
        if early is one[0] and late is two[0]:
            change = [(early, case.text.of(late)), (late, case.text.of(early))]
            yield case.hit("zeroed_before_step", early, change, backward, stepper=stepper.text, step=step.line)


def step_before_backward(case: Case, stepper: Stepper, backward: Event, step: Event) -> Iterator[RuleHit]:
    """Report failure 18: a step before this iteration's pass uses the previous iteration's gradients.
    Reports nothing if the two are not in one block of a loop, or of a function that is called again."""
    again = bool(step.loops or step.functions)
    one_place = again and backward.loops == step.loops and backward.functions == step.functions
    edit = moved_behind(case, step, backward) if one_place else None
    if edit is not None:
        yield case.hit("step_before_backward", step.node, edit, backward, stepper=stepper.text)


LOSS = re.compile("loss|error|cost|mse")
SQUARES = frozenset(("**", "pow", "square", "abs"))
GROWS = re.compile("(?i)likelihood|reward|return|score|objective|elbo|evidence|log_?p|utility")  # to maximise


def gradient_ascent(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: parameters += their gradient, which makes the loss larger. Reports nothing for signs of
    gradients,
    since attacks climb on purpose, for a step that another statement takes back, and for what is not called a loss."""
    passes = case.events_of(Act.BACKWARD, Act.USED)
    losses = [e for e in passes if is_cost(e.value)]
    if any((e.value.op == "neg" and e not in losses) or GROWS.search(e.value.name) for e in passes):
        return
    for event in case.events_of(Act.UPDATE, Act.WRITE):
        new = event.other
        if event.detail != "+" or new is None or {Tag.SIGN, Tag.TURNED} & new.tags or not losses:
            continue
        gradient = new.kind == Kind.GRADIENT or Tag.VELOCITY in new.tags or slope_of(new, event.value)
        if not gradient and not (event.kind == Act.UPDATE and Tag.UP in new.tags):
            continue
        if event.value.graph is False or (event.recorded and event.kind == Act.WRITE) or moved_back(case, event):
            continue
        if any(goes_into_layer(event.value, e.value) for e in passes):  # an attack climbs on purpose
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
        name = f"`{case.text.of(moved)}`" if moved is not None else f"{event.value:the parameter}"
        yield case.hit("ascent", statement, line, name=name)


def goes_into_layer(value: Value, loss: Value) -> bool:
    """Tell whether a value is, or makes, the input of a layer on the way to a loss. Its weights are not."""
    layers = [v for v in reach(loss) if v.parents and (v.op in LAYERS or v.op == "call")]
    free = value.kind not in {Kind.MODULE, Kind.PARAMETER}
    return free and any(v is value for layer in layers for part in layer.parents for v in reach(part))


def moved_back(case: Case, step: Event) -> bool:
    """Tell whether another statement moves the same parameters the other way, or restores them."""
    owner = step.value.base or step.value
    moves = (e for e in case.events_of(Act.UPDATE, Act.WRITE) if (e.value.base or e.value) is owner)
    return any(e.detail != "+" and e.statement is not step.statement for e in moves)


def is_cost(value: Value) -> bool:
    """Tell whether a value is made to be small: by its name, or as a sum with a loss or a squared difference in it."""
    summed = traverse(value, lambda v: v.parents if v.op in {"mean", "sum", "+"} else ())
    far = any(v.op in LOSS_FUNCTIONS or (v.op in SQUARES and v.parents[0].op == "-") for v in summed)
    return far or minus_likelihood(value) or LOSS.search(value.name) is not None


def minus_likelihood(value: Value) -> bool:
    """Tell whether a value is the negative mean of log-probabilities: a loss."""
    turned = False
    while value.parents and value.op in {"neg", "mean", "sum", "view", "index", "gather"}:
        turned = turned != (value.op == "neg")
        value = value.parents[0]
    return turned and value.form == "log probabilities"


def slope_of(step: Value, weight: Value) -> bool:
    """Tell whether a step is the derivative of a loss with respect to a weight, perhaps times a rate.
    That of the input of layers does not count: an attack moves it uphill on purpose."""
    if step.op == "*":
        rates = [part.constant for part in step.parents if part.kind == Kind.NUMBER and part.op != "neg"]
        slopes = [part for part in step.parents if part.op == "derivative"]
        if len(rates) != 1 or len(slopes) != 1 or (isinstance(rates[0], int | float) and rates[0] <= 0):
            return False
        step = slopes[0]
    behind = list(reach(step.parents[0])) if step.op == "derivative" and step.parents else []
    through_layers = any(part.kind in {Kind.MODULE, Kind.UNKNOWN} or part.branches for part in behind)
    return weight in behind and not through_layers


@dataclass(frozen=True, slots=True)
class LossPart:
    """A summand of a loss, its sign there, and the factors without a gradient that it is multiplied by."""

    value: Value
    sign: int
    weights: tuple[Value, ...] = ()


def terms(value: Value, sign: int = 1, weights: tuple[Value, ...] = ()) -> Iterator[LossPart]:
    """Yield the summands of a loss."""
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
RATIO = {"exp", "min", "minimum", "clamp"}  # PPO's ratio of a probability to the previous one
REWARD = re.compile("(?i)^(r|g|rew|ret|adv|gain|delta|td|score|payoff|win)|reward|return|advantage")
COST = re.compile("(?i)cost|loss|length|dist|regret|time|error|penal|tour")


def of_reward(weights: tuple[Value, ...]) -> bool:
    """Tell whether a probability is multiplied by something that should be large, as a policy's is."""
    names = [v.name.split(".")[-1] for weight in weights for v in reach(weight, live=False) if v.name]
    return any(map(REWARD.search, names)) and not any(map(COST.search, names))


def wrong_sign_of_loss(case: Case) -> Iterator[RuleHit]:
    """Report failure 18: an optimizer minimises a likelihood, or the negative of a loss.
    Reports nothing if another term has the right sign or is unknown, with maximize, and if two networks play a game."""
    makers = [e.node for e in case.events_of(Act.OPTIMIZER) if isinstance(e.node, ast.Call)]
    if not case.events_of(Act.STEP) or any(key.arg in {"maximize", None} for node in makers for key in node.keywords):
        return
    for event in case.events_of(Act.BACKWARD):
        found = list(terms(event.value))
        likely = [t for t in found if t.value.op == "log_prob" or t.value.form == "log probabilities"]
        losses = [t for t in found if t.value.op in LOSS_FUNCTIONS]
        rewarded = bool(likely) and all(t.sign > 0 and of_reward(t.weights) for t in likely)
        plain = bool(likely) and likely == found and all(t.sign > 0 and not t.weights for t in likely)
        networks = {v.kind for e in case.events_of(Act.OPTIMIZER) for v in e.value.items or []} == {Kind.MODULE}
        turned = bool(losses) and losses == found and all(t.sign < 0 for t in losses)
        if not (rewarded or plain or (turned and networks and len(makers) == 1)) or "given" in event.detail:
            continue
        place = source_expression(event)
        if place is None:
            continue
        key = "negative_loss" if turned else "likelihood"
        new = f"-{case.text.operand(place)}"
        if isinstance(place, ast.UnaryOp) and isinstance(place.op, ast.USub):
            new = case.text.of(place.operand)
        statement = event.value.statement
        here = statement is not None and is_simple(statement) and inside(statement, place)
        new = new if place is not receiver(event.node) else f"({new})"
        yield case.hit(key, statement if statement is not None and here else event.node, [(place, new)], event)


def source_expression(event: Event) -> ast.expr | None:
    """Return the expression that makes what a pass starts from."""
    made, statement = event.value.node, event.value.statement
    if made is not None and statement is not None and inside(statement, made):
        return made
    return receiver(event.node)


def positive(node: ast.expr) -> bool:
    """Tell whether a factor is written without a sign."""
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or (
        isinstance(node, ast.Constant) and node.value not in (0, None)
    )


RULES = (never_zeroed, wrong_order, gradient_ascent, wrong_sign_of_loss)
