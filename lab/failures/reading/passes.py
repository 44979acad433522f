"""Rules about the passes of a loop: what comes before and after each, and what they leave behind."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lab.failures.reading.case import Case, Found, called, receiver
from lab.failures.reading.edits import Edit
from lab.failures.reading.facts import (
    LOSS_FUNCTIONS,
    SAVING,
    TENSORS,
    Value,
    has_parameters,
    judge,
    modules,
    network_called,
    reach,
)
from lab.failures.reading.shapes import leaves
from lab.failures.reading.tensors import Event, apart


@dataclass(eq=False, slots=True)
class Stepper:
    """An optimizer, or a tensor or module that is updated by hand."""

    value: Value
    text: str
    parts: set[int] | None  # what it moves; None: not known

    def touched(self, backward: Event) -> bool | None:
        """Does a backward pass fill the gradients of what this moves? None: cannot be said."""
        if backward.value.graph is False and backward.value.cut:
            return False
        found = list(reach(backward.value))
        unknown = any(v.maybe or (v.kind == "" and v.graph is not False) or v.op in {"call", "any"} for v in found)
        if self.parts is None:
            return None
        if any(id(v) in self.parts or (v.base and id(v.base) in self.parts) for v in found):
            return True
        return None if unknown else False

    def zeroed(self, zero: Event) -> bool:
        value = zero.value
        if value is self.value or self.parts is None or value.kind == "" or "any" in value.marks:
            return True
        return bool(self.parts & {id(part) for part in modules(value)})


def is_update(event: Event) -> bool:
    """A parameter moved by hand: w.data -= lr * w.grad, or the same under no_grad."""
    gradient = event.other is not None and (event.other.kind == "gradient" or "updated" in event.other.marks)
    return gradient and (event.kind == "update" or (event.kind == "write" and not event.recorded))


def steppers(case: Case) -> list[Stepper]:
    found: dict[int, Stepper] = {}
    for event in case.walk.events:
        if event.kind == "step":
            value = event.value
            name = receiver(event.node)
            call = event.node
            if isinstance(call, ast.Call) and call.args and event.detail != "closure" and value.kind != "scaler":
                name = call.args[0]
            parts = None
            if value.items is not None:
                parts = {
                    id(part) for item in value.items for part in (modules(item) if item.kind == "module" else [item])
                }
            found.setdefault(id(value), Stepper(value, case.text.of(name) if name else "optimizer", parts))
        elif is_update(event):
            value = event.value.base if event.value.kind == "parameter" and event.value.base else event.value
            text = value.name or event.value.name
            found.setdefault(id(value), Stepper(value, text, {id(part) for part in modules(value)} | {id(value)}))
    return list(found.values())


def is_step_of(event: Event, stepper: Stepper) -> bool:
    if event.kind == "step":
        return event.value is stepper.value
    value = event.value.base if event.value.kind == "parameter" and event.value.base else event.value
    return is_update(event) and value is stepper.value


def never_zeroed(case: Case) -> Iterator[Found]:
    """6: backward, step, and backward again with nothing that empties the gradients between.
    Silent: where one zero_grad of anything unknown stands between; where the two are arms of one `if`; for a pass that
    cannot be said to reach what is stepped, unless only one thing is stepped at all."""
    everyone = steppers(case)
    zeroes = re.search(r"zero_grad|\.grad = None|\.zero_\(", case.text.source)
    hits: dict[int, tuple[Event, list[Stepper], Event]] = {}
    for stepper in everyone:
        state = "clean"
        steps: list[Event] = []  # since the gradients were emptied
        waiting: list[tuple[Event, Event]] = []  # what went wrong if a step comes before the next zero
        for event in case.walk.events:
            if event.kind == "backward":
                touched = stepper.touched(event)
                if touched is False or (touched is None and len(everyone) > 1):
                    continue
                before = next((step for step in reversed(steps) if not apart(step, event)), None)
                if before is not None and not (event.again and zeroes):
                    waiting.append((event, before))
                state = "filled"
            elif event.kind == "zero" and stepper.zeroed(event):
                state = "clean"
                steps.clear()
                waiting.clear()
            elif is_step_of(event, stepper) and state == "filled":
                state = "used"
                steps.append(event)
                for backward, step in waiting[:1]:
                    those = hits.setdefault(id(backward.node), (backward, [], step))[1]
                    if stepper not in those:
                        those.append(stepper)
                waiting.clear()
    for event, those, step in hits.values():
        names = []
        for stepper in those:
            plain = stepper.value.kind in TENSORS
            names.append(f"{stepper.text}.grad = None" if plain else f"{stepper.text}.zero_grad()")
        names = list(dict.fromkeys(names))
        who = " and ".join(dict.fromkeys(f"`{stepper.text}`" for stepper in those))
        line = getattr(step.node, "lineno", 0)
        yield Found(
            6,
            event.node,
            f"Nothing empties the gradients of {who} between the step in line {line} and this `backward()` of the next "
            "turn: each pass adds to the last one's, so every step follows the sum of all batches so far.",
            case.text.before(event.statement, *names),
        )


def wrong_order(case: Case) -> Iterator[Found]:
    """18: the gradients are thrown away between backward and step, or the step comes before the backward pass.
    Silent: where the three do not stand in one block."""
    for stepper in steppers(case):
        if stepper.value.kind not in {"optimizer", ""}:
            continue
        last: Event | None = None
        emptied: Event | None = None
        for event in case.walk.events:
            if event.kind == "backward" and stepper.touched(event) is not False:
                last, emptied = event, None
            elif event.kind == "zero" and last is not None and stepper.zeroed(event):
                emptied = event
            elif event.kind == "step" and event.value is stepper.value:
                if last is not None and emptied is not None and not apart(last, event) and not apart(emptied, event):
                    yield from misplaced(case, stepper, last, emptied, event)
                last, emptied = None, None


def misplaced(case: Case, stepper: Stepper, backward: Event, zero: Event, step: Event) -> Iterator[Found]:
    block = list(step.block)
    if not (backward.block is step.block is zero.block):
        return
    at = {name: block.index(e.statement) for name, e in (("backward", backward), ("zero", zero), ("step", step))}
    if at["step"] < at["backward"]:
        part = block[at["step"] : at["backward"] + 1]
        edit = case.text.reorder(part, [*part[1:], part[0]])
        sentence = (
            f"`{stepper.text}` steps before this turn's `backward()` in line {backward.statement.lineno}, "
            "and what the last "
            f"turn's pass left was emptied in line {zero.statement.lineno}: it steps with no gradient at all."
        )
        node = step.node
    elif at["backward"] < at["zero"] < at["step"]:
        part = block[at["backward"] : at["zero"] + 1]
        edit = case.text.reorder(part, [part[-1], *part[:-1]])
        sentence = (
            f"The gradients of `backward()` in line {backward.statement.lineno} are emptied here, before "
            f"`{stepper.text}` steps with them in line {step.statement.lineno}: nothing is learned."
        )
        node = zero.node
    else:
        return
    if edit is not None:
        yield Found(18, node, sentence, edit)


def uphill(case: Case) -> Iterator[Found]:
    """18: a loss made larger, by += with its own gradient. Silent: signs of gradients (attacks climb on purpose), and
    whatever is not called a loss."""
    losses = [
        e for e in case.all("backward") if re.search("loss|error|cost|mse", e.value.name) or e.value.form == "loss"
    ]
    if any(e.value.op == "neg" for e in case.all("backward")):
        return
    for event in case.all("update", "write"):
        new = event.other
        climbs = new is not None and (new.kind == "gradient" or (event.kind == "update" and "up" in new.marks))
        if event.detail != "+" or new is None or not climbs or {"sign", "turned"} & new.marks or not losses:
            continue
        if event.recorded and event.kind == "write":
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
        yield Found(
            18,
            statement,
            f"The gradient points to where the loss grows: adding it to {called(event.value, 'the parameter')} climbs; "
            "the step goes against it.",
            case.text.replace([(statement, line)]),
        )


def positive(node: ast.expr) -> bool:
    """Is a factor written without a sign?"""
    return isinstance(node, ast.Name | ast.Attribute) or (isinstance(node, ast.Constant) and node.value not in (0, None))


def accumulation(case: Case) -> Iterator[Found]:
    """24: a step only in each k-th turn, with a mean loss that nobody divides, or gradients emptied in every turn.
    Silent: where the loss is a sum, is divided or weighted anywhere, or is not known."""
    if re.search(r"\.grad(\.data)?\s*/=|\.grad(\.data)?\.(div|mul)_\(", case.text.source):
        return
    for step in case.all("step"):
        every = next((t for t in step.tests if modulo(t.test) is not None), None)
        if every is None or not step.loops:
            continue
        divisor = modulo(every.test)
        assert divisor is not None
        k = case.text.of(divisor)
        loop = step.loops[-1]
        others = [e for e in case.all("step") if e.loops and e.loops[-1] is loop]
        if any(every not in e.tests for e in others):  # there is a step in each turn as well
            continue
        for event in case.all("backward", "zero"):
            if loop not in event.loops or event.loops[-1] is not loop or every in event.tests:
                continue
            if event.kind == "zero" and event.value is step.value and event.statement in step.loops[-1].body:  # type: ignore[attr-defined]
                edit = moved_after(case, event, step)
                if edit is not None:
                    yield Found(
                        24,
                        event.node,
                        f"The step comes once in {k} turns, but the gradients are emptied in each: only the last batch "
                        "before a step counts.",
                        edit,
                    )
            elif event.kind == "backward":
                yield from undivided(case, event, k)
    for event in case.all("backward"):
        loop = event.loops[-1] if len(event.loops) > 1 else None
        if isinstance(loop, ast.For) and (k := micro_batches(loop, case)):
            after = case.walk.events[case.walk.events.index(event) :]
            if any(e.kind == "step" and e.loops == event.loops[:-1] for e in after):
                yield from undivided(case, event, k)


def undivided(case: Case, backward: Event, k: str) -> Iterator[Found]:
    """24, where the loss of one batch of k is known to be a mean, and nobody divides it by k."""
    target = receiver(backward.node)
    if isinstance(target, ast.Call) and target.args:  # scaler.scale(loss)
        target = target.args[0]
    mean = backward.value.form == "loss" or judge(backward.value)
    if mean and not weighted(backward.value) and target is not None:
        yield Found(
            24,
            backward.node,
            f"Before each step the gradients of {k} batches are added, and each loss is already a mean: "
            f"undivided, the step is {k} times as long as that of one large batch.",
            case.text.replace([(target, f"({case.text.of(target)} / {k})")]),
        )


def micro_batches(loop: ast.For, case: Case) -> str:
    """k, of a loop over range(k) that is called an accumulation; else nothing."""
    over = loop.iter
    if not (isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"):
        return ""
    k = case.text.of(over.args[-1]) if over.args else ""
    return k if re.search("accum|micro", k.lower()) else ""


def moved_after(case: Case, zero: Event, step: Event) -> Edit | None:
    """The statement that empties the gradients, moved to behind the step."""
    line, last = zero.statement.lineno, step.statement.end_lineno or step.statement.lineno
    if line >= step.statement.lineno or case.text.indent(zero.statement).strip():
        return None
    rest = case.text.lines[zero.statement.end_lineno or line : last]
    return Edit(line, last, "\n".join([*rest, case.text.indent(step.statement) + case.text.of(zero.statement)]))


def modulo(test: ast.expr) -> ast.expr | None:
    """k, of a test such as (i + 1) % k == 0."""
    for node in ast.walk(test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return node.right
    return None


def weighted(loss: Value) -> bool:
    stack, seen = [loss], set()
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if value.op in {"/", "*"} or "sum" in value.marks or value.maybe:
            return True
        if value.op not in LOSS_FUNCTIONS and value.op != "mean":
            stack += value.parents
    return False


def used_again(case: Case) -> Iterator[Found]:
    """2 and 11: a backward pass through a graph that an earlier one has let go.
    Silent: with retain_graph, unless a state is carried from turn to turn; in the arms of one `if`; where the shared
    part keeps nothing that a pass needs, or is not known."""
    gone: dict[int, tuple[Value, Event]] = {}
    done: set[int] = set()
    for event in case.all("backward"):
        values = [
            v for v in reach(event.value)
            if (v.graph and not v.leaf and v.kind == "tensor" and saves(v)) or (network_called(v) and not v.cut)
        ]  # fmt: skip
        shared = [(v, gone[id(v)][1]) for v in values if id(v) in gone and not apart(gone[id(v)][1], event)]
        if shared and id(event.node) not in done:
            done.add(id(event.node))
            yield from judged(case, event, shared)
        for value in values:
            gone[id(value)] = (value, event)


def saves(value: Value) -> bool:
    """Does the operation keep tensors for the backward pass? A factor that is a number is no tensor."""
    tensors = [p for p in value.parents if p.kind not in {"number", "flag"}]
    return value.op in SAVING and (value.op not in {"*", "/"} or len(tensors) > 1)


def judged(case: Case, event: Event, shared: list[tuple[Value, Event]]) -> Iterator[Found]:
    value, before = shared[0]
    turns = dict(event.turns)
    carried = any(turns.get(loop, turn) != turn for loop, turn in value.turns) or (
        event.again and not before.again and event.value is not before.value
    )
    if carried and event.value is not before.value:
        state = kept_state(case, event)
        unknown = all(v.op == "call" for v, _ in shared)  # a network that is not here may detach its state itself
        if state is not None and not (unknown and (
            re.search("detach|repackage", case.text.source)
            or not re.search(r"^(self\.)?(h|c|hx|hc|rnn_state|lstm_state)$|hidden", state[0])
        )):  # fmt: skip
            name, statement, edit = state
            yield Found(
                11,
                statement,
                f"`{name}` comes from the last turn with its whole graph: the `backward()` in line "
                f"{event.statement.lineno} runs back through all turns before, whose graphs are gone or only kept by "
                "retain_graph. Detach it first.",
                edit,
            )
        return
    if "retain" in before.detail:
        return
    if event.value is before.value:
        statements = rebuilt(event)
        lines = [case.text.of(s) for s in statements]
        if not lines:
            return
        yield Found(
            2,
            event.node,
            f"The graph of {called(event.value, 'this result')} was let go by `backward()` in line "
            f"{before.statement.lineno}{', in the turn before' if before.node is event.node else ''}; a "
            "second pass needs "
            "a new forward pass.",
            case.text.before(event.statement, *[part for line in lines for part in line.split("\n")]),
        )
        return
    if (gan := undetached(case, event, before, [v for v, _ in shared])) is not None:
        yield gan
        return
    if before.node is event.node and (earlier := made_before(case, event)) is not None:
        yield earlier
        return
    call = before.node
    if isinstance(call, ast.Call) and not call.args and not before.detail:
        yield Found(
            2,
            event.node,
            f"{called(event.value, 'This')} shares a part of its graph with "
            f"{called(before.value, 'the result')}, whose "
            f"`backward()` in line {before.statement.lineno} has let it go: keep it there, or add the two "
            "and run one pass.",
            case.text.replace([(call, case.text.with_keyword(call, "retain_graph", "True"))]),
        )


def rebuilt(event: Event) -> list[ast.stmt]:
    """The statements that computed a result, in order."""
    loop = event.loops[-1] if event.loops else None
    inside = {id(n) for n in ast.walk(loop)} if loop is not None else set()
    statements: dict[int, ast.stmt] = {}
    for value in reach(event.value):
        statement = value.statement
        if (
            (value.kind == "tensor" or value.op == "call")
            and not value.leaf
            and isinstance(statement, ast.Assign)
            and id(statement) not in inside
        ):
            statements[statement.lineno] = statement
    return [statements[line] for line in sorted(statements)]


def kept_state(case: Case, event: Event) -> tuple[str, ast.stmt, Edit] | None:
    """The state that a turn takes over from the last one: what it is called, the statement that makes it, and the
    change that detaches it. It is a name that the loop carries on, or an attribute, which outlives a call."""
    alive = {id(v) for v in reach(event.value)}

    def lives(value: Value) -> bool:
        return id(value) in alive or any(id(v) in alive for v in leaves([value]))

    for loop in reversed(event.loops):
        names = {name: v for name, v in case.walk.carried.get(id(loop), {}).items() if lives(v)}
        made = [
            (node, [ast.unparse(t) for target in node.targets for t in ast.walk(target) if isinstance(t, ast.Name)])
            for node in ast.walk(loop)
            if isinstance(node, ast.Assign)
        ]
        for reads in (True, False):  # best where the state is read and made in one statement
            for node, targets in made:
                read = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
                found = [t for t in dict.fromkeys(targets) if t in names and (t in read or not reads)]
                if found and (not reads or any(isinstance(n, ast.Call) for n in ast.walk(node.value))):
                    cut = [f"{name} = {detached(name, names[name])}" for name in found]
                    return found[0], node, (case.text.before if reads else case.text.after)(node, *cut)
    for kept in reversed(case.all("attribute")):
        node, value = kept.statement, kept.other
        if value is None or not isinstance(node, ast.Assign) or not lives(value) or kept.value.kind == "":
            continue
        name = case.text.of(kept.node)
        read = {ast.unparse(n) for n in ast.walk(node.value) if isinstance(n, ast.Attribute)}
        cut = f"{name} = {detached(name, value)}"
        return name, node, (case.text.before if name in read else case.text.after)(node, cut)
    return None


def detached(name: str, value: Value) -> str:
    return f"tuple(s.detach() for s in {name})" if value.kind == "list" else f"{name}.detach()"


def made_before(case: Case, event: Event) -> Found | None:
    """11: what was computed before a loop, and goes into the pass of each of its turns."""
    if not event.loops:
        return None
    loop = event.loops[-1]
    used = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for value in reach(event.value):
        statement = value.statement
        if (
            value.name in used
            and value.kind == "tensor"
            and value.graph
            and not value.leaf
            and isinstance(statement, ast.Assign)
            and not any(n is statement for n in ast.walk(loop))
        ):
            return Found(
                11,
                statement,
                f"`{value.name}` is computed once, before the loop, and its graph is let go by the first `backward()` in "
                f"line {event.statement.lineno}: the next turn misses it. Detach it, or compute it in each turn.",
                case.text.replace([(statement.value, f"{case.text.operand(statement.value)}.detach()")]),
            )
    return None


def undetached(case: Case, event: Event, before: Event, shared: list[Value]) -> Found | None:
    """11: the first of two networks' passes runs on into the second, whose graph the second pass then misses."""
    events = case.walk.events
    between = [e for e in events[events.index(before) : events.index(event)] if e.kind == "step"]
    if not between:
        return None
    if between[0].value.items is None:  # of the first optimizer only this is known: that there is a second one
        others = [e for e in events[events.index(event) :] if e.kind == "step" and e.value is not between[0].value]
        foreign = [v for v in shared if network_called(v)] if others else []
    else:
        moved = {id(part) for item in between[0].value.items for part in modules(item)}
        parts = [p for v in shared for p in v.parents if p.kind == "module"]
        foreign = [p for p in parts if (has_parameters(p) or "any" in p.marks) and id(p) not in moved]
    named = [v for v in shared if v.name]
    if not foreign or not named:
        return None
    top = named[0].name
    for value in reach(before.value):
        for call in ast.walk(value.statement) if value.statement is not None else []:
            if not isinstance(call, ast.Call) or call.lineno > before.statement.lineno:
                continue
            for use in call.args:
                if isinstance(use, ast.Name) and use.id == top and use.lineno <= before.statement.lineno:
                    return Found(
                        11,
                        call,
                        f"The pass in line {before.statement.lineno} is for "
                        f"{called(between[0].value, 'the optimizer')} alone, "
                        f"but it goes on through `{top}` into the network that made it, and lets its "
                        "graph go: the pass "
                        f"in line {event.statement.lineno} misses it. Give it `{top}.detach()`.",
                        case.text.replace([(use, f"{top}.detach()")]),
                    )
    return None


def many_numbers(case: Case) -> Iterator[Found]:
    """3: backward from more than one number, without a gradient to start from. Silent: where the shape is not known."""
    for event in case.all("backward"):
        value = event.value
        shape = value.shape or ()
        if "given" in event.detail or "functional" in event.detail or value.kind != "tensor" or value.shape == ():
            continue
        target = receiver(event.node)
        if (value.form == "losses" or any(n is not None and n > 1 for n in shape)) and target is not None:
            size = " x ".join(str(n) if n is not None else "N" for n in shape) or "several"
            yield Found(
                3,
                event.node,
                f"{called(value, 'This')} holds {size} numbers, and a backward pass starts from one: take the mean (or "
                "the sum) first.",
                case.text.replace([(target, f"{case.text.operand(target)}.mean()")]),
            )


def summands(value: Value) -> Iterator[Value]:
    """A value and what it was computed from by arithmetic."""
    seen, stack = set(), [value]
    while stack:
        here = stack.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        if here.op in {"+", "-", "*", "/", "neg", "view", "mean", "sum"} and not here.cut:
            stack += here.parents


def let_go(case: Case, event: Event, value: Value) -> bool:
    """Is it a part of a loss whose pass came before in this turn, so that its graph is of no more use?"""
    if value.form != "loss" or value.kind != "tensor" or not (value.graph or value.shape == ()):
        return False
    events = case.walk.events
    for before in events[: events.index(event)]:
        if before.kind == "backward" and before.turns == event.turns and not apart(before, event):
            if any(v is value for v in summands(before.value)):
                return True
    return False


def kept_graphs(case: Case) -> Iterator[Found]:
    """10: losses gathered with their graphs. Silent: where the sum itself is what a backward pass starts from, or is
    handed on with nothing known of its use."""
    passes = case.all("backward", "used")
    starts = {id(e.value) for e in case.all("backward")}
    wanted = {id(v) for e in passes for v in reach(e.value, live=False)}
    evaluated = {e.place for e in case.all("eval") if e.place is not None}
    busy = {place for e in passes for place in e.places}
    for event in case.all("gather", "append"):
        lasts = isinstance(event.statement, ast.Assign | ast.AugAssign) and isinstance(
            event.statement.target if isinstance(event.statement, ast.AugAssign) else event.statement.targets[0],
            ast.Attribute,
        )  # a total that outlives the call is as good as a loop
        if not (event.loops or (event.again and lasts)) or not event.recorded:
            continue
        held = event.other
        if held is None:
            continue
        looks = any(p in evaluated and p not in busy for p in event.places)
        computed = held.graph is not False and ((held.form == "loss" and held.kind == "tensor") or judge(held))
        if event.kind == "append":
            parts = [v for v in leaves([held]) if v.kind != "number"]
            parts = [v for v in parts if id(v) in starts or let_go(case, event, v)]
            known = bool(parts) or (looks and computed)
            names = {v.name for v in parts}
        else:
            if id(event.value) in wanted:
                continue
            inside = [
                v for v in summands(held) if v.kind != "number" and (id(v) in starts or let_go(case, event, v))
            ]
            known = bool(inside) and event.value.kind != "number"
            names = {v.name for v in inside}
            known = known or (looks and computed)
        statement = event.statement
        if not known:
            continue
        if isinstance(statement, ast.AugAssign | ast.Assign):
            target = case.text.of(statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0])
            value = statement.value
        elif isinstance(event.node, ast.Call) and event.node.args:
            target, value = case.text.of(receiver(event.node) or event.node), event.node.args[0]
        else:
            continue
        uses = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in names]
        pieces: list[tuple[ast.AST, str]] = [(n, f"{n.id}.item()") for n in uses]
        pieces = pieces or [(value, f"{case.text.operand(value)}.item()")]
        yield Found(
            10,
            statement,
            f"`{target}` holds on to the whole graph of each turn's loss as long as it lives: memory "
            "grows with every batch. "
            "Keep the number only.",
            case.text.replace(pieces),
        )
