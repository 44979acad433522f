"""What is wrong with what a text does. One small rule for each way of failing; a rule without confidence says nothing.

Each takes the walk's events and the text, and yields what it found: the number of the failure, the place, one sentence
with the names of the text, and the changed lines.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lab.failures.reading.edits import Edit, Text
from lab.failures.reading.facts import (
    BROADCASTING_LOSSES,
    CREATORS,
    LAYERS,
    LOSS_FUNCTIONS,
    NORMS,
    SAVING,
    Value,
    column_against_row,
    has_parameters,
    modules,
    reach,
)
from lab.failures.reading.walk import TENSORS, Event, Walk, apart, graph_of


@dataclass(frozen=True, slots=True)
class Found:
    failure: int
    node: ast.AST
    sentence: str
    edit: Edit


@dataclass(slots=True)
class Case:
    """A text and what happens in it."""

    walk: Walk
    text: Text

    def all(self, *kinds: str) -> list[Event]:
        return [event for event in self.walk.events if event.kind in kinds]

    @property
    def torch(self) -> bool:
        return not re.search(r"(?m)^\s*(from|import) model\b", self.text.source)


Rule = Callable[[Case], Iterator[Found]]


def called(value: Value, otherwise: str) -> str:
    """How the text calls a value."""
    return f"`{value.name}`" if value.name else otherwise


def receiver(node: ast.AST) -> ast.expr | None:
    """The expression whose method is called."""
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def short(text: str) -> str:
    """An expression's text as it fits into a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def own_line(statement: ast.stmt | None) -> bool:
    return isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.AnnAssign)


# Who steps, and what its steps need.


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
        state, stepped = "clean", None
        waiting: list[tuple[Event, Event]] = []  # what went wrong if a step comes before the next zero
        for event in case.walk.events:
            if event.kind == "backward":
                touched = stepper.touched(event)
                if touched is False or (touched is None and len(everyone) > 1):
                    continue
                if (
                    state == "used"
                    and stepped is not None
                    and not apart(stepped, event)
                    and not (event.again and zeroes)
                ):
                    waiting.append((event, stepped))
                state = "filled"
            elif event.kind == "zero" and stepper.zeroed(event):
                state = "clean"
                waiting.clear()
            elif is_step_of(event, stepper) and state == "filled":
                state, stepped = "used", event
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
        who = " and ".join(f"`{stepper.text}`" for stepper in those)
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
            f"`{stepper.text}` steps before this turn's `backward()` in line {backward.statement.lineno}, and what the last "
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
        if event.detail != "+" or new is None or new.kind != "gradient" or {"sign", "turned"} & new.marks or not losses:
            continue
        if event.recorded and event.kind == "write":
            continue
        statement = event.statement
        if isinstance(statement, ast.AugAssign):
            line = case.text.of(statement).replace("+=", "-=", 1)
        elif isinstance(event.node, ast.Call) and not event.node.keywords:
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


# Accumulation over batches.


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
            elif event.kind == "backward" and event.value.form == "loss" and not weighted(event.value):
                target = receiver(event.node)
                if isinstance(target, ast.Call) and target.args:
                    target = target.args[0]
                if target is not None:
                    yield Found(
                        24,
                        event.node,
                        f"Before each step the gradients of {k} batches are added, and each loss is already a mean: "
                        f"undivided, the step is {k} times as long as that of one large batch.",
                        case.text.replace([(target, f"({case.text.of(target)} / {k})")]),
                    )


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


# One graph, used twice.


def used_again(case: Case) -> Iterator[Found]:
    """2 and 11: a backward pass through a graph that an earlier one has let go.
    Silent: with retain_graph, unless a state is carried from turn to turn; in the arms of one `if`; where the shared part
    keeps nothing that a pass needs, or is not known."""
    gone: dict[int, tuple[Value, Event]] = {}
    done: set[int] = set()
    for event in case.all("backward"):
        values = [v for v in reach(event.value) if v.graph and not v.leaf and v.kind == "tensor" and saves(v)]
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
        place = event.loops[-1] if event.loops else event.place
        kept = [v.statement for v, _ in shared if isinstance(v.statement, ast.Assign)]
        for loop in (*reversed(event.loops), *([place] if place else []), *kept):
            state = carried_name(loop)
            if state is not None:
                statement, name = state
                last = name.split(".")[-1]
                one = any(v.kind == "list" and v.name == last for v in reach(event.value))
                free = f"tuple(s.detach() for s in {name})" if one else f"{name}.detach()"
                yield Found(
                    11,
                    statement,
                    f"`{name}` comes from the last turn with its whole graph: the `backward()` in line "
                    f"{event.statement.lineno} runs back through all turns before, whose graphs are gone or only kept by "
                    "retain_graph. Detach it first.",
                    case.text.before(statement, f"{name} = {free}"),
                )
                return
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
            f"{before.statement.lineno}{', in the turn before' if before.node is event.node else ''}; a second pass needs "
            "a new forward pass.",
            case.text.before(event.statement, *[part for line in lines for part in line.split("\n")]),
        )
        return
    if (gan := undetached(case, event, before, [v for v, _ in shared])) is not None:
        yield gan
        return
    call = before.node
    if isinstance(call, ast.Call) and not call.args and not before.detail:
        yield Found(
            2,
            event.node,
            f"{called(event.value, 'This')} shares a part of its graph with {called(before.value, 'the result')}, whose "
            f"`backward()` in line {before.statement.lineno} has let it go: keep it there, or add the two and run one pass.",
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
            value.kind == "tensor"
            and not value.leaf
            and isinstance(statement, ast.Assign)
            and id(statement) not in inside
        ):
            statements[statement.lineno] = statement
    return [statements[line] for line in sorted(statements)]


def carried_name(loop: ast.AST) -> tuple[ast.stmt, str] | None:
    """The statement that makes a state from the last turn's, and the state's name."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and any(isinstance(n, ast.Call) for n in ast.walk(node.value)):
            made = {
                ast.unparse(t)
                for target in node.targets
                for t in ast.walk(target)
                if isinstance(t, ast.Name | ast.Attribute)
            }
            read = [ast.unparse(n) for n in ast.walk(node.value) if isinstance(n, ast.Name | ast.Attribute)]
            for name in read:
                if name in made:
                    return node, name
    return None


def undetached(case: Case, event: Event, before: Event, shared: list[Value]) -> Found | None:
    """11: the first of two networks' passes runs on into the second, whose graph the second pass then misses."""
    events = case.walk.events
    between = [e for e in events[events.index(before) : events.index(event)] if e.kind == "step"]
    if not between or between[0].value.items is None:
        return None
    moved = {id(part) for item in between[0].value.items for part in modules(item)}
    foreign = [p for v in shared for p in v.parents if p.kind == "module" and has_parameters(p) and id(p) not in moved]
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
                        f"The pass in line {before.statement.lineno} is for {called(between[0].value, 'the optimizer')} alone, "
                        f"but it goes on through `{top}` into the network that made it, and lets its graph go: the pass "
                        f"in line {event.statement.lineno} misses it. Give it `{top}.detach()`.",
                        case.text.replace([(use, f"{top}.detach()")]),
                    )
    return None


def many_numbers(case: Case) -> Iterator[Found]:
    """3: backward from more than one number, without a gradient to start from. Silent: where the shape is not known."""
    for event in case.all("backward"):
        value = event.value
        shape = value.shape
        if "given" in event.detail or "functional" in event.detail or not shape or value.kind != "tensor":
            continue
        target = receiver(event.node)
        if (value.form == "losses" or any(n is not None and n > 1 for n in shape)) and target is not None:
            size = " x ".join(str(n) if n is not None else "N" for n in shape)
            yield Found(
                3,
                event.node,
                f"{called(value, 'This')} holds {size} numbers, and a backward pass starts from one: take the mean (or "
                "the sum) first.",
                case.text.replace([(target, f"{case.text.operand(target)}.mean()")]),
            )


# A loss that no gradient can come from.


def no_gradient(case: Case) -> Iterator[Found]:
    """4, 11, 12, 13, 21: backward from what has certainly no graph, and who cut it. Silent: where anything on the way is
    not known."""
    for event in case.all("backward"):
        value = event.value
        remade = value.cut == "wrapped" and value.leaf
        cut_off = value.graph is None and only_data(value)
        if (value.graph is False and value.kind in TENSORS | {"", "number"}) or remade or cut_off:
            yield from culprit(case, event)


def only_data(value: Value) -> bool:
    """Does nothing that could be learned lead to a value, but batches and targets from outside, and cuts behind which
    layers lie?"""
    alive = list(reach(value))
    strangers = [v for v in alive if v.kind == "" and not v.cut and not v.parents]
    learned = any(v.kind in {"module", "parameter"} or v.op == "call" or v.maybe or v.graph for v in alive)
    named = all(v.op == "" and not re.search("loss|log|grad|out|pred", v.name) for v in strangers)
    behind = [v for c in alive if c.cut for v in reach(c, live=False)]
    return not learned and named and any(v.kind == "module" and v.op in LAYERS for v in behind)


def culprit(case: Case, event: Event) -> Iterator[Found]:
    found = list(reach(event.value, live=False))
    cuts = [v for v in found if v.cut and v.cut_by is not None]
    name = called(event.value, "the loss")
    for value in sorted(cuts, key=lambda v: v.cut == "wrapped"):
        behind = list(reach(value, live=False))[1:]
        if value.cut != "no_grad" and not any(v.graph or graph_of(v) or v.cut for v in behind):
            continue
        node = value.cut_by
        assert node is not None
        line = event.statement.lineno
        if value.cut == "no_grad" and isinstance(node, ast.expr):
            edit = switched_on(case, node)
            if edit is not None:
                yield Found(
                    12,
                    node,
                    f"Under this, {name} is computed without a graph: `backward()` in line {line} finds nothing to go back "
                    "through.",
                    edit,
                )
                return
        if value.cut in {"item", "numpy"} and isinstance(node, ast.Call):
            wraps = [v.cut_by for v in cuts if v.cut == "wrapped" and isinstance(v.cut_by, ast.Call)]
            yield from taken_out(case, node, value, name, line, wraps[0] if wraps else None)
            return
        if value.cut == "detach" and isinstance(node, ast.expr):
            source = receiver(node) or (node.value if isinstance(node, ast.Attribute) else None)
            if any(v.cut == "numpy" for v in cuts):
                continue
            if source is not None:
                yield Found(
                    11,
                    node,
                    f"`{short(case.text.of(node))}` cuts the graph: {name} has no way back to the parameters, and `backward()` in "
                    f"line {line} has nothing to do.",
                    case.text.replace([(node, case.text.of(source))]),
                )
                return
        if value.cut == "choice" and isinstance(node, ast.expr):
            yield from chosen(case, node, name, line)
            return
        if value.cut == "wrapped" and isinstance(node, ast.Call) and node.args:
            yield Found(
                4,
                node,
                f"A new tensor made from a number has no graph behind it: `backward()` in line {line} ends here and no "
                "parameter gets a gradient. Use the value itself.",
                case.text.replace([(node, case.text.of(node.args[0]))]),
            )
            return
    yield from nobody_asked(case, event, found)


def switched_on(case: Case, node: ast.expr) -> Edit | None:
    written = case.text.of(node)
    new = re.sub(r"\.(no_grad|inference_mode)\b", ".enable_grad", written).replace(
        "set_grad_enabled(False)", "set_grad_enabled(True)"
    )
    return case.text.replace([(node, new)]) if new != written else None


def taken_out(
    case: Case, node: ast.Call, value: Value, name: str, line: int, wrap: ast.AST | None = None
) -> Iterator[Found]:
    """13. The change: the tensor itself instead of its numbers, and torch's functions where numpy's were."""
    source = without_the_graph(node)
    if source is None:
        return
    new = case.text.of(source)
    pieces: list[tuple[ast.AST, str]] = [(node, new)]
    if isinstance(wrap, ast.Call) and wrap.args:
        inside = case.text.of(wrap.args[0])
        if any(part is node for part in ast.walk(wrap)):
            pieces = [(wrap, in_torch(inside.replace(case.text.of(node), new)))]
        else:
            pieces.append((wrap, in_torch(inside)))
            if value.statement is not None and value.statement.lineno < wrap.lineno:
                written = case.text.of(value.statement).replace(case.text.of(node), new)
                pieces[0] = (value.statement, in_torch(re.sub(r"(\w)(?:\.detach\(\))?(?:\.cpu\(\))?\.numpy\(\)", r"\1", written)))
    yield Found(
        13,
        node,
        f"`{short(case.text.of(node))}` takes the numbers out of the graph: what {name} is computed from them has no "
        f"gradient, and `backward()` in line {line} never gets to what made them.",
        case.text.replace(pieces),
    )


def without_the_graph(node: ast.Call) -> ast.expr | None:
    """x, of x.item(), float(x) or x.detach().cpu().numpy()."""
    source = receiver(node) or (node.args[0] if node.args else None)
    while isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
        if source.func.attr not in {"detach", "cpu"}:
            break
        source = source.func.value
    return source


def in_torch(text: str) -> str:
    """A line of numpy as one of torch, as far as the two agree."""
    text = re.sub(r"\b(?:np|numpy)\.maximum\((.*), 0(?:\.0)?\)", r"torch.relu(\1)", text)
    return re.sub(r"\b(?:np|numpy)\.(?=[a-z])", "torch.", text)


def chosen(case: Case, node: ast.expr, name: str, line: int) -> Iterator[Found]:
    """21. The change: the smooth value of which the choice was made."""
    what = (
        "a comparison"
        if isinstance(node, ast.Compare)
        else f"`{short(case.text.of(node.func))}`"
        if isinstance(node, ast.Call)
        else "it"
    )
    source = node.left if isinstance(node, ast.Compare) else receiver(node)
    if source is None and isinstance(node, ast.Call) and node.args:
        source = node.args[0]
    if source is None:
        return
    yield Found(
        21,
        node,
        f"{what.capitalize() if what[0] != '`' else what} has no slope: {name} is made from a choice, and `backward()` in line "
        f"{line} cannot tell the parameters how to change it.",
        case.text.replace([(node, case.text.of(source))]),
    )


def nobody_asked(case: Case, event: Event, found: list[Value]) -> Iterator[Found]:
    """4: every tensor on the way was made by the text itself, and none asks for a gradient."""
    if any(v.kind not in {"tensor", "number", "flag", "text", "list"} or v.maybe or v.cut for v in found):
        return
    made = [v for v in found if v.leaf and isinstance(v.node, ast.Call) and v.op in CREATORS and not v.whole]
    if not made or event.value.kind != "tensor":
        return
    read = {id(e.value) for e in case.all("read grad")}
    value = next((v for v in made if id(v) in read), None) or min(made, key=lambda v: v.node.lineno if v.node else 0)
    node = value.node
    assert isinstance(node, ast.Call)
    yield Found(
        4,
        node,
        f"No tensor on the way to {called(event.value, 'the result')} asks for a gradient, so `backward()` in line "
        f"{event.statement.lineno} has no graph: let {called(value, 'this one')} ask.",
        case.text.replace([(node, case.text.with_keyword(node, "requires_grad", "True"))]),
    )


def numbers_in_the_sum(case: Case) -> Iterator[Found]:
    """13: one term of the loss is a bare number. Silent: for numbers that scale, and for what is no loss."""
    for event in case.all("backward"):
        stack, seen = [event.value], set()
        while stack:
            value = stack.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if (
                value.cut == "item"
                and value.form == "loss"
                and isinstance(value.cut_by, ast.Call)
                and event.value.kind != "number"
            ):
                if event.value.graph is not False:
                    yield from taken_out(
                        case, value.cut_by, value, called(event.value, "the loss"), event.statement.lineno
                    )
            elif value.op in {"+", "-"}:
                stack += value.parents


def layers_behind_numpy(case: Case) -> Iterator[Found]:
    """13: layers that only numpy leads to. Silent: where any other way leads to them."""
    passes = case.all("backward")
    alive = {id(v) for e in passes for v in reach(e.value)}
    for event in passes:
        for value in reach(event.value):
            if value.cut != "wrapped" or value is event.value:
                continue
            behind = list(reach(value, live=False))
            lost = [v for v in behind if v.kind == "module" and v.op in LAYERS and id(v) not in alive]
            taken = next((v for v in behind if v.cut == "numpy" and isinstance(v.cut_by, ast.Call)), None)
            if lost and taken is not None and isinstance(taken.cut_by, ast.Call):
                name = called(event.value, "the loss")
                yield from taken_out(case, taken.cut_by, taken, name, event.statement.lineno, value.cut_by)


# Leaves and what is written into them.


def gradient_of_the_middle(case: Case) -> Iterator[Found]:
    """5: .grad of what is no leaf. Silent: where retain_grad was called, and for this project's engine, which keeps it."""
    if not case.torch:
        return
    for event in case.all("read grad"):
        value = event.value
        if value.kind != "tensor" or value.leaf or value.graph is not True or "retained" in value.marks:
            continue
        statement = value.statement
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        name = statement.targets[0].id
        if "updated" in value.marks:
            change = updated_in_place(statement, case)
            if change is None:
                continue
            yield Found(
                5,
                statement,
                f"`{name}` becomes a new tensor, computed from the old one: in the next turn it is no leaf, and its `.grad` "
                "is None. Update it in place, under no_grad.",
                change,
            )
            continue
        yield Found(
            5,
            statement,
            f"`{name}` is computed from others, so it is no leaf, and its `.grad`, read in line {event.statement.lineno}, is "
            "None.",
            made_a_leaf(case, statement) or case.text.after(statement, f"{name}.retain_grad()"),
        )


def updated_in_place(statement: ast.Assign, case: Case) -> Edit | None:
    value = statement.value
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Sub) or case.text.indent(statement).strip():
        return None
    name, indent = case.text.of(statement.targets[0]), case.text.indent(statement)
    new = f"with torch.no_grad():\n{indent}    {name} -= {case.text.of(value.right)}\n{indent}{name}.grad = None"
    return case.text.replace([(statement, new)])


def made_a_leaf(case: Case, statement: ast.Assign) -> Edit | None:
    """The same numbers, asked for a gradient when all is done to them; None where no leaf is made in the statement."""
    asks = [
        n
        for n in ast.walk(statement.value)
        if isinstance(n, ast.Call) and any(k.arg == "requires_grad" for k in n.keywords) and n is not statement.value
    ]
    if len(asks) != 1:
        return None
    whole = case.text.of(statement.value).replace(
        case.text.of(asks[0]), case.text.without_keyword(asks[0], "requires_grad")
    )
    brackets = whole if isinstance(statement.value, ast.Call) else f"({whole})"
    return case.text.replace([(statement.value, f"{brackets}.requires_grad_()")])


def no_leaf_to_optimize(case: Case) -> Iterator[Found]:
    """19: an optimizer over what is no leaf."""
    for event in case.all("optimizer"):
        for value in event.value.items or []:
            statement = value.statement
            if (
                value.kind == "tensor"
                and not value.leaf
                and value.graph is True
                and isinstance(statement, ast.Assign)
                and case.torch
            ):
                edit = made_a_leaf(case, statement)
                if edit is not None:
                    yield Found(
                        19,
                        statement,
                        f"{called(value, 'This')} is computed from another tensor, so it is no leaf: the optimizer in line "
                        f"{event.statement.lineno} refuses it.",
                        edit,
                    )


def leaf_written(case: Case) -> Iterator[Found]:
    """7: a leaf that asks for a gradient, written in place where operations are recorded."""
    if not case.torch:
        return
    for event in case.all("write"):
        value, statement = event.value, event.statement
        if not (value.leaf and graph_of(value) is True and event.recorded and own_line(statement)):
            continue
        indent = case.text.indent(statement)
        if indent.strip():
            continue
        inner = "\n    ".join(case.text.of(statement).split("\n"))
        yield Found(
            7,
            statement,
            f"{called(value, 'This')} is a leaf that asks for a gradient: PyTorch refuses to write into it while operations "
            "are recorded.",
            case.text.replace([(statement, f"with torch.no_grad():\n{indent}    {inner}")]),
        )


def overwritten(case: Case) -> Iterator[Found]:
    """1: numbers that the backward pass needs, overwritten. Silent: for what no operation is known to keep."""
    for event in case.all("write"):
        value, statement = event.value, event.statement
        if "saved" not in event.detail or value.leaf or not event.recorded or not own_line(statement):
            continue
        name = value.name
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(statement.op))
            if sign is None:
                continue
            target, right = statement.target.id, case.text.of(statement.value)
            right = f"({right})" if isinstance(statement.value, ast.BinOp) else right
            name = target
            edit = case.text.replace([(statement, f"{target} = {target} {sign} {right}")])
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            base = statement.targets[0].value
            if not isinstance(base, ast.Name):
                continue
            name = base.id
            reads = [
                n
                for n in ast.walk(statement.value)
                if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == name
            ]
            if reads:
                edit = case.text.replace([(n, f"{case.text.of(n)}.clone()") for n in reads])
            else:
                edit = case.text.before(statement, f"{name} = {name}.clone()")
        elif isinstance(event.node, ast.Call) and isinstance(receiver(event.node), ast.Name):
            name = case.text.of(receiver(event.node) or event.node)
            edit = case.text.before(statement, f"{name} = {name}.clone()")
        else:
            continue
        yield Found(
            1,
            statement,
            f"The backward pass still needs the numbers that `{name}` had before this line: written in place, they are gone.",
            edit,
        )


# Shapes, ranges and integers.


def column_and_row(case: Case) -> Iterator[Found]:
    """8: (N, 1) against (N,). Silent: where one of the shapes is not known."""
    for event in case.all("loss", "subtract"):
        if event.other is None or (event.kind == "loss" and event.detail not in BROADCASTING_LOSSES):
            continue
        column = column_against_row(event.value, event.other)
        if column is None or column.shape is None:
            continue
        node = event.node
        if isinstance(node, ast.BinOp):
            pair = (node.left, node.right)
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            pair = (node.args[0], node.args[1])
        else:
            continue
        part = pair[0] if column is event.value else pair[1]
        n = column.shape[0]
        row = pair[1] if column is event.value else pair[0]
        yield Found(
            8,
            node,
            f"`{short(case.text.of(part))}` has the shape ({n}, 1) and `{short(case.text.of(row))}` ({n},): together they become a table "
            f"of {n} x {n} differences, most of them of wrong pairs.",
            case.text.replace([(part, f"{case.text.operand(part)}.squeeze(1)")]),
        )


def log_of_zero(case: Case) -> Iterator[Found]:
    """9: the logarithm of what can be exactly 0. Silent: with an epsilon, a clamp, or no gradient wanted."""
    lines: dict[int, list[tuple[ast.expr, Value]]] = {}
    for event in case.all("log"):
        node = event.node
        if (
            event.value.form not in {"probabilities", "relu"}
            or graph_of(event.value) is False
            or not isinstance(node, ast.Call)
        ):
            continue
        part = node.args[0] if node.args else receiver(node)
        if part is not None and all(part is not p for p, _ in lines.get(node.lineno, [])):
            lines.setdefault(node.lineno, []).append((part, event.value))
    for parts in lines.values():
        limit = ".clamp(min=1e-8)" if case.torch else ".clip(1e-8, 1.0)"
        edit = case.text.replace([(part, case.text.operand(part) + limit) for part, _ in parts])
        yield Found(
            9,
            parts[0][0],
            f"`{short(case.text.of(parts[0][0]))}` becomes exactly 0 for a confident network: its logarithm is -inf, and the gradient "
            "nan. Keep it above 0, or use the loss that takes logits.",
            edit,
        )


def both_arms_of_where(case: Case) -> Iterator[Found]:
    """20: an arm of where() that is not finite where it is not chosen. Silent: where its input was made safe before."""
    learns = re.search(r"requires_grad|backward\(|\bModule\b|grad\(", case.text.source)
    for event in case.all("where"):
        node = event.node
        if not learns:
            return
        risky = set(event.detail.split())
        if not isinstance(node, ast.Call) or len(node.args) != 3 or not risky:
            continue
        for arm, other in ((node.args[1], True), (node.args[2], False)):
            part = dangerous(arm, risky)
            if part is None:
                continue
            test, x = case.text.of(node.args[0]), case.text.of(part)
            ones = f"torch.ones_like({x})" if case.torch else "1.0"
            word = case.text.of(node.func)
            safe = f"{word}({test}, {x}, {ones})" if other else f"{word}({test}, {ones}, {x})"
            yield Found(
                20,
                node,
                f"`{short(case.text.of(arm))}` is computed for every element, chosen or not: where it is not finite its gradient is "
                "0 times infinity, nan. Make its input safe first.",
                case.text.replace([(part, safe)]),
            )
            break


def dangerous(arm: ast.expr, risky: set[str]) -> ast.expr | None:
    """The input of a root, a logarithm or a division that the condition speaks of."""
    for node in ast.walk(arm):
        part: ast.expr | None = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            part = node.right
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in {"sqrt", "log", "rsqrt", "reciprocal", "log2", "acos", "asin"}:
                part = node.args[0] if node.args else node.func.value
        if isinstance(part, ast.Name) and part.id in risky:
            return part
    return None


def integers(case: Case) -> Iterator[Found]:
    """22: integers that should have a gradient, go into a Linear, or class numbers made into floats."""
    if not case.torch:
        return
    for event in case.all("whole leaf", "whole input", "loss"):
        value = event.value
        if event.kind == "loss":
            target = event.other
            if (
                event.detail != "cross_entropy"
                or target is None
                or target.op != "float"
                or not target.shape
                or len(target.shape) != 1
            ):
                continue
            source = receiver(target.node) if target.node is not None else None
            if source is not None and target.node is not None:
                yield Found(
                    22,
                    target.node,
                    f"{called(target, 'The target')} holds the numbers of classes: cross_entropy in line {event.statement.lineno} "
                    "wants them as integers, and refuses floats.",
                    case.text.replace([(target.node, case.text.of(source))]),
                )
            continue
        node = value.node
        if not isinstance(node, ast.Call) or value.op not in CREATORS:
            continue
        sentence = (
            f"{called(value, 'This')} holds integers, and only floating point numbers have gradients."
            if event.kind == "whole leaf"
            else f"{called(value, 'This')} holds integers, and the layer in line {event.statement.lineno} multiplies it with "
            "floating point weights: PyTorch refuses the two types."
        )
        yield Found(
            22, node, sentence, case.text.replace([(node, case.text.with_keyword(node, "dtype", "torch.float32"))])
        )


def coarse_gradcheck(case: Case) -> Iterator[Found]:
    """23: a gradient check with float32 inputs."""
    if "set_default_dtype" in case.text.source:
        return
    for event in case.all("gradcheck"):
        given = event.value.items if event.value.items is not None else [event.value]
        for value in given:
            if (
                value.kind == "tensor"
                and value.leaf
                and value.graph
                and value.double is False
                and isinstance(value.node, ast.Call)
            ):
                yield Found(
                    23,
                    value.node,
                    f"{called(value, 'The input')} is float32: differences of step 1e-6 drown in its rounding, and the check in "
                    f"line {event.statement.lineno} fails for a right gradient.",
                    case.text.replace([(value.node, case.text.with_keyword(value.node, "dtype", "torch.float64"))]),
                )


# Networks, losses and optimizers.


def last_activation(case: Case) -> Iterator[Found]:
    """25: softmax or sigmoid before a loss that has it inside. 14: relu on the way into such a loss."""
    for event in case.all("loss"):
        value = event.value
        if event.detail not in {"cross_entropy", "binary_cross_entropy_with_logits"}:
            continue
        while value.op == "view" and value.parents:
            value = value.parents[0]
        node = value.node
        if value.op not in {"softmax", "sigmoid", "relu"} or node is None or not isinstance(node, ast.Call):
            continue
        edit = unwrapped(case, node)
        if edit is None:
            continue
        line = event.statement.lineno
        if value.op == "relu":
            yield Found(
                14,
                node,
                f"The loss in line {line} takes any number as a score; relu makes the negative ones 0, where no gradient comes "
                "back: a class below 0 is dead.",
                edit,
            )
        else:
            yield Found(
                25,
                node,
                f"The loss in line {line} takes raw scores and applies {value.op} itself; applied twice, it flattens them, and "
                "the gradients with them.",
                edit,
            )


def unwrapped(case: Case, node: ast.Call) -> Edit | None:
    """A call replaced by what it is called with; a layer in a list by one that does nothing."""
    last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if last in {"Softmax", "Sigmoid", "ReLU"}:
        prefix = case.text.of(node.func)[: -len(last)]
        return case.text.replace([(node, f"{prefix}Identity()")]) if prefix else None
    if node.args:
        return case.text.replace([(node, case.text.of(node.args[0]))])
    source = receiver(node)
    return case.text.replace([(node, case.text.of(source))]) if source is not None else None


def many_sigmoids(case: Case) -> Iterator[Found]:
    """15: five and more sigmoids in a row. Silent: with any normalisation between."""
    for value in case.walk.everything:
        items = value.items or []
        if value.op != "Sequential" or any(i.op in NORMS for i in items) or value.node is None:
            continue
        hidden = [i for i in items[:-1] if i.op == "Sigmoid" and isinstance(i.node, ast.Call)]
        if len(hidden) >= 5 and len({id(i.node) for i in hidden}) == len(hidden):
            pieces = [(i.node, case.text.of(i.node).replace("Sigmoid", "ReLU")) for i in hidden if i.node is not None]
            edit = case.text.replace(pieces)
            yield Found(
                15,
                value.node,
                f"The slope of a sigmoid is at most 1/4: through {len(hidden)} of them {called(value, 'the network')} passes at "
                f"most 1/{4 ** len(hidden)} of a gradient per unit weight to its first layer.",
                edit,
            )


def all_the_same(case: Case) -> Iterator[Found]:
    """16: weights of a hidden layer that start at zero. Silent: for biases, and for one layer alone."""
    why = "all units of a layer start the same and get the same gradient: they stay one unit."
    for event in case.all("init", "write"):
        value, node = event.value, event.node
        if (
            not event.tests
            or not event.arms
            or event.arms[-1] != (id(event.tests[-1]), 0)
            or not isinstance(node, ast.Call)
        ):
            continue
        test = ast.unparse(event.tests[-1].test)
        if "isinstance" not in test or not re.search(r"\b(Linear|Conv\dd)\b", test):
            continue
        if event.kind == "init":
            zero = event.detail == "zeros_" or (
                event.detail == "constant_" and event.other and event.other.constant in (0, 0.0)
            )
            if value.name != "weight" or not zero:
                continue
            new = f"{case.text.of(node.func).rsplit('.', 1)[0]}.xavier_uniform_({case.text.of(node.args[0])})"
        else:
            attr = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            weight = (
                value
                if value.kind == "parameter"
                else value.parents[0]
                if value.op == "detach" and value.parents
                else value
            )
            zero = attr == "zero_" or (attr == "fill_" and event.other is not None and event.other.constant in (0, 0.0))
            source = receiver(node)
            if weight.name != "weight" or not zero or source is None:
                continue
            new = f"{case.text.of(source)}.normal_(0, 0.1)"
        yield Found(16, node, f"`{short(case.text.of(node))}`: {why}", case.text.replace([(node, new)]))
    for event in case.all("matmul"):
        second = event.other
        if second is None or not zero_matrix(second):
            continue
        for first in reach(event.value):
            node = first.node
            if zero_matrix(first) and first is not second and isinstance(node, ast.Call):
                shape = ", ".join(case.text.of(a) for a in node.args)
                prefix = case.text.of(node.func).rsplit(".", 1)[0]
                if case.torch and first.kind == "tensor":
                    new = f"({prefix}.randn({shape}) * 0.1).requires_grad_()"
                    yield Found(16, node, f"{called(first, 'These weights')} and {called(second, 'those')} start at zero: {why}",
                                case.text.replace([(node, new)]))  # fmt: skip
    for event in case.all("zero layer"):
        node = event.node
        if isinstance(node, ast.Call) and event.detail == "MLP":
            yield Found(16, node, f"With init=\"zeros\" {why}",
                        case.text.replace([(node, case.text.with_keyword(node, "init", '"xavier"'))]))  # fmt: skip


def zero_matrix(value: Value) -> bool:
    wide = value.shape is not None and len(value.shape) == 2
    return value.leaf and value.op == "zeros" and graph_of(value) is True and wide


def rate_too_high(case: Case) -> Iterator[Found]:
    """17: a rate far above what the optimizer's steps bear. Silent: with a schedule (it may be a factor), and for methods
    whose rate is meant to be near 1."""
    limits = {
        "SGD": (5.0, "0.1"),
        "Adam": (0.5, "1e-3"),
        "AdamW": (0.5, "1e-3"),
        "NAdam": (0.5, "1e-3"),
        "RMSprop": (0.5, "1e-3"),
    }
    if case.all("scheduler") or "lr_scheduler" in case.text.source:
        return
    for event in case.all("optimizer"):
        value = event.value
        rate = value.attributes["lr"].constant
        limit, usual = limits.get(value.op, (None, ""))
        node = event.node
        if limit is None or not isinstance(rate, int | float) or rate < limit or not isinstance(node, ast.Call):
            continue
        if value.op != "SGD" and not any(v.kind == "module" for v in value.items or []):
            continue
        keyword = next((k.value for k in node.keywords if k.arg == "lr"), node.args[1] if len(node.args) > 1 else None)
        if keyword is not None:
            yield Found(
                17,
                node,
                f"A rate of {rate:g} makes each step of {value.op} far longer than the loss's valley is wide: the loss jumps or "
                f"becomes nan. Start at {usual}.",
                case.text.replace([(keyword, usual)]),
            )


def unregistered(case: Case) -> Iterator[Found]:
    """19: layers in a plain list or dict of a module; a weight that is no Parameter. Silent: for lists whose layers are
    registered elsewhere, too."""
    nn = (
        "nn"
        if re.search(r"(?m)^\s*(import torch\.nn as nn|from torch import .*\bnn\b)", case.text.source)
        else "torch.nn"
    )
    for event in case.all("attribute"):
        owner, value, statement = event.value, event.other, event.statement
        if owner.kind != "module" or owner.op != "module" or value is None or not isinstance(statement, ast.Assign):
            continue
        if value.kind in {"list", "dict"}:
            layers = [v for v in value.items or [] if v.kind == "module" and has_parameters(v)]
            if layers and not any("registered" in v.marks or "exposed" in v.marks for v in layers):
                box = "ModuleList" if value.kind == "list" else "ModuleDict"
                yield Found(
                    19,
                    statement,
                    f"A plain {'list' if value.kind == 'list' else 'dict'} hides its layers: `parameters()` does not see "
                    f"`{short(case.text.of(statement.targets[0]))}`, and the optimizer never gets its weights.",
                    case.text.replace([(statement.value, f"{nn}.{box}({case.text.of(statement.value)})")]),
                )
        elif value.kind == "tensor" and value.leaf and value.graph is True and isinstance(statement.value, ast.Call):
            call = statement.value
            if any(k.arg == "requires_grad" for k in call.keywords):
                yield Found(
                    19,
                    statement,
                    f"`{short(case.text.of(statement.targets[0]))}` asks for a gradient but is no Parameter: `parameters()` does not "
                    "see it, and the optimizer never moves it.",
                    case.text.replace([(call, f"{nn}.Parameter({case.text.without_keyword(call, 'requires_grad')})")]),
                )


def all_known(case: Case) -> bool:
    """Is it known of each optimizer what it moves, and does nothing else move anything?"""
    optimizers = case.all("optimizer")
    stepped = [e.value for e in case.all("step")]
    return (
        bool(optimizers)
        and all(e.value.items is not None for e in optimizers)
        and all(v.kind == "optimizer" for v in stepped)
        and not any(is_update(e) for e in case.walk.events)
    )


def replaced_layer(case: Case) -> Iterator[Found]:
    """19: a layer put into a network after the optimizer was made. Silent: where another optimizer comes later."""
    if not all_known(case) or "add_param_group" in case.text.source:
        return
    events, optimizers = case.walk.events, case.all("optimizer")
    for event in case.all("attribute"):
        owner, value = event.value, event.other
        if value is None or value.kind != "module" or not has_parameters(value) or not own_line(event.statement):
            continue
        now = events.index(event)
        before = [e for e in optimizers if events.index(e) < now and owner in (e.value.items or [])]
        after = any(events.index(e) > now for e in optimizers)
        if before and not after and before[0].place is event.place is None:
            target, name = case.text.of(event.node), before[0].value.name
            yield Found(
                19,
                event.statement,
                f"`{name}` was made in line {before[0].statement.lineno}, with the layer that `{target}` was before: this "
                "new one it does not know.",
                case.text.after(event.statement, f'{name}.add_param_group({{"params": {target}.parameters()}})'),
            )


def left_out(case: Case) -> Iterator[Found]:
    """19: a network that the loss goes through and no optimizer moves. Silent: for what is frozen, loaded, evaluated, or
    whose parameters are asked for elsewhere."""
    if not all_known(case):
        return
    moved = {id(part) for e in case.all("optimizer") for item in e.value.items or [] for part in modules(item)}
    passes = [(e, {id(v) for v in reach(e.value)}) for e in case.all("backward")]
    names = {id(v): v.name for v in case.walk.everything}
    hidden: set[int] = set()
    for event in case.all("attribute"):
        if event.other is None:
            continue
        if event.value.kind == "instance":  # self.head of a trainer
            names[id(event.other)] = case.text.of(event.node)
        elif event.other.kind in {"list", "dict"}:
            hidden |= {id(v) for v in event.other.items or []}
        else:
            hidden.add(id(event.other))
    for box in case.walk.everything:
        inner = list(modules(box))
        parts = {id(part) for part in inner}
        asleep = any(part.marks & {"eval", "frozen", "exposed", "copied", "registered"} for part in [box, *inner[:1]])
        frozen = any(part.marks & {"eval", "frozen"} for part in inner)
        if box.kind != "module" or id(box) in hidden or not names[id(box)] or asleep or frozen or parts & moved:
            continue
        layers = {id(part) for part in inner if part.op in LAYERS}
        through = [(e, alive) for e, alive in passes if alive & layers]
        user = next((e for e in case.all("step") if any(alive & touched(e.value) for _, alive in through)), None)
        node = user.value.node if user is not None else None
        if not isinstance(node, ast.Call):
            continue
        given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "params"), None)
        if given is not None:
            name = names[id(box)]
            yield Found(
                19,
                node,
                f"The loss goes through `{name}` as well, but no optimizer has its parameters: it stays as it was drawn.",
                case.text.replace([(given, f"[*{case.text.of(given)}, *{name}.parameters()]")]),
            )


def touched(optimizer: Value) -> set[int]:
    return {id(part) for item in optimizer.items or [] for part in modules(item)}


def moving_target(case: Case) -> Iterator[Found]:
    """11: a target that is computed by the network itself and pulled along with it. Silent: for what is not called a
    target."""
    for event in case.all("loss"):
        prediction, target = event.value, event.other
        if target is None or event.detail not in BROADCASTING_LOSSES or not re.search("target|expected", target.name):
            continue
        statement = target.statement
        shared = {id(v) for v in reach(prediction) if v.kind == "module" and v.op in LAYERS}
        if not isinstance(statement, ast.Assign) or not any(id(v) in shared for v in reach(target)):
            continue
        yield Found(
            11,
            statement,
            f"`{target.name}` is computed by the network that it is the target of: the gradient also pulls the target towards "
            "the prediction. Detach it.",
            case.text.replace([(statement.value, f"({case.text.of(statement.value)}).detach()")]),
        )


# Graphs kept for a sum or a list.


def kept_graphs(case: Case) -> Iterator[Found]:
    """10: losses gathered with their graphs. Silent: where the sum itself is what a backward pass starts from, or is
    handed on with nothing known of its use."""
    passes = case.all("backward", "used")
    starts = {id(e.value) for e in case.all("backward")}
    wanted = {id(v) for e in passes for v in reach(e.value, live=False)}
    evaluated = {e.place for e in case.all("eval") if e.place is not None}
    busy = {e.place for e in passes}
    for event in case.all("gather", "append"):
        if not event.loops or not event.recorded:
            continue
        held = event.other
        if held is None:
            continue
        if event.kind == "append":
            known = id(held) in starts and held.kind not in {"number"}
            names = {held.name}
        else:
            if id(event.value) in wanted:
                continue
            inside = [v for v in reach(held) if id(v) in starts and v.kind != "number"]
            known = bool(inside) and event.value.kind != "number"
            names = {v.name for v in inside}
            if not known and event.place in evaluated and event.place not in busy and held.form == "loss":
                known = held.kind == "tensor"
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
        pieces = [(n, f"{n.id}.item()") for n in uses] or [(value, f"{case.text.operand(value)}.item()")]
        yield Found(
            10,
            statement,
            f"`{target}` holds on to the whole graph of each turn's loss as long as it lives: memory grows with every batch. "
            "Keep the number only.",
            case.text.replace(pieces),
        )


RULES: tuple[Rule, ...] = (
    never_zeroed,
    wrong_order,
    uphill,
    accumulation,
    used_again,
    many_numbers,
    no_gradient,
    numbers_in_the_sum,
    layers_behind_numpy,
    gradient_of_the_middle,
    no_leaf_to_optimize,
    leaf_written,
    overwritten,
    column_and_row,
    log_of_zero,
    both_arms_of_where,
    integers,
    coarse_gradcheck,
    last_activation,
    many_sigmoids,
    all_the_same,
    rate_too_high,
    unregistered,
    replaced_layer,
    left_out,
    moving_target,
    kept_graphs,
)


def judge(walk: Walk, source: str) -> Iterable[Found]:
    """What the rules find, each failure once a line, in the order of the lines."""
    case = Case(walk, Text(source))
    found: dict[tuple[int, int], Found] = {}
    for rule in RULES:
        for hit in rule(case):
            line = getattr(hit.node, "lineno", 0)
            found.setdefault((line, hit.failure), hit)
    return [found[key] for key in sorted(found)]
