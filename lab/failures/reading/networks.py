"""Rules about numbers and networks: shapes, ranges, integers, losses, layers and optimizers."""

import ast
import re
from collections.abc import Iterator

from lab.failures.reading.case import Case, Found, called, own_line, receiver, short
from lab.failures.reading.edits import Edit
from lab.failures.reading.facts import (
    BROADCASTING_LOSSES,
    CREATORS,
    LAYERS,
    NORMS,
    Value,
    column_against_row,
    graph_of,
    has_parameters,
    modules,
    reach,
)
from lab.failures.reading.passes import is_update
from lab.failures.reading.tensors import Event


def column_and_row(case: Case) -> Iterator[Found]:
    """8: (N, 1) against (N,). Silent: where one of the shapes is not known."""
    for event in case.all("loss", "subtract"):
        if event.other is None or (event.kind == "loss" and event.detail not in BROADCASTING_LOSSES):
            continue
        column = column_against_row(event.value, event.other)
        if column is None and event.kind == "loss":  # of a row by way of broadcasting only the last axis is known
            pair = ((event.value, event.other), (event.other, event.value))
            column = next((c for c, row in pair if c.shape == (None, 1) and "row" in row.marks), None)
        if column is None or column.shape is None:
            continue
        node = event.node
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            sides = (node.args[0], node.args[1])
        else:
            continue
        if column.shape[0] is None and event.kind == "subtract" and not predicted(column):
            continue  # two axes made on purpose, so that each meets each
        part = sides[0] if column is event.value else sides[1]
        n = column.shape[0] or "N"
        row = sides[1] if column is event.value else sides[0]
        yield Found(
            8,
            node,
            f"`{short(case.text.of(part))}` has the shape ({n}, 1) and `{short(case.text.of(row))}` "
            f"({n},): together they become a table "
            f"of {n} x {n} differences, most of them of wrong pairs.",
            case.text.replace([(part, f"{case.text.operand(part)}.squeeze(1)")]),
        )


def predicted(value: Value) -> bool:
    """Does a layer's output have this shape as it came?"""
    return value.op in LAYERS or (value.op in {"call", "view"} and any(predicted(p) for p in value.parents[:1]))


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
            f"`{short(case.text.of(parts[0][0]))}` becomes exactly 0 for a confident network: its "
            "logarithm is -inf, and the gradient "
            "nan. Keep it above 0, or use the loss that takes logits.",
            edit,
        )


def both_arms_of_where(case: Case) -> Iterator[Found]:
    """20: an arm of where() that is not finite where it is not chosen. Silent: where its input was made safe before,
    and where nothing shows that a gradient goes through it."""
    wanted = {id(v) for e in case.all("backward", "used") for v in reach(e.value)}
    for event in case.all("where"):
        node = event.node
        inside = any(isinstance(p, ast.FunctionDef) and p.name == "forward" for p in event.places)
        if not inside and id(event.value) not in wanted:
            continue
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
                f"`{short(case.text.of(arm))}` is computed for every element, chosen or not: where it is "
                "not finite its gradient is "
                "0 times infinity, nan. Make its input safe first.",
                case.text.replace([(part, safe)]),
            )
            break


ENDLESS = {"sqrt", "log", "rsqrt", "reciprocal", "log2", "acos", "asin"}  # with a slope that is infinite somewhere


def dangerous(arm: ast.expr, risky: set[str]) -> ast.expr | None:
    """The input of a root, a logarithm or a division that the condition speaks of."""
    for node in ast.walk(arm):
        part: ast.expr | None = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            part = node.right
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ENDLESS:
            part = node.args[0] if node.args else node.func.value
        times = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult)
        for name in ast.walk(part) if part is not None and times else [part]:
            if isinstance(name, ast.Name) and name.id in risky:
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
                    f"{called(target, 'The target')} holds the numbers of classes: cross_entropy in line "
                    f"{event.statement.lineno} "
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
            else f"{called(value, 'This')} holds integers, and the layer in line {event.statement.lineno} multiplies "
            "it with floating point weights: PyTorch refuses the two types."
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
                    f"{called(value, 'The input')} is float32: differences of step 1e-6 drown in its "
                    "rounding, and the check in "
                    f"line {event.statement.lineno} fails for a right gradient.",
                    case.text.replace([(value.node, case.text.with_keyword(value.node, "dtype", "torch.float64"))]),
                )


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
                f"The loss in line {line} takes any number as a score; relu makes the negative ones 0, "
                "where no gradient comes "
                "back: a class below 0 is dead.",
                edit,
            )
        else:
            yield Found(
                25,
                node,
                f"The loss in line {line} takes raw scores and applies {value.op} itself; applied twice, "
                "it flattens them, and "
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
        hidden = {id(i.node): i for i in items[:-1] if i.op == "Sigmoid" and isinstance(i.node, ast.Call)}
        count = sum(i.constant for i in hidden.values() if isinstance(i.constant, int))
        if count >= 5:
            places = [i.node for i in hidden.values() if i.node is not None]
            inside = [n for n in places if any(part is n for part in ast.walk(value.node))]
            edit = case.text.replace([(n, case.text.of(n).replace("Sigmoid", "ReLU")) for n in inside or places[-1:]])
            yield Found(
                15,
                value.node if inside else places[-1],
                f"The slope of a sigmoid is at most 1/4: behind {count} of them in a row, the first layer of "
                f"{called(value, 'the network')} gets at most 1/{4**count:,} of a gradient, times the weights.",
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
            made = first.node
            if zero_matrix(first) and first is not second and isinstance(made, ast.Call):
                shape = ", ".join(case.text.of(a) for a in made.args)
                prefix = case.text.of(made.func).rsplit(".", 1)[0]
                if case.torch and first.kind == "tensor":
                    new = f"({prefix}.randn({shape}) * 0.1).requires_grad_()"
                    names = f"{called(first, 'These weights')} and {called(second, 'those')}"
                    yield Found(16, made, f"{names} start at zero: {why}", case.text.replace([(made, new)]))
    yield from every_layer(case, why)
    for event in case.all("zero layer"):
        node = event.node
        if isinstance(node, ast.Call) and event.detail == "MLP":
            yield Found(16, node, f"With init=\"zeros\" {why}",
                        case.text.replace([(node, case.text.with_keyword(node, "init", '"xavier"'))]))  # fmt: skip


def every_layer(case: Case, why: str) -> Iterator[Found]:
    """16: a layer and the one behind it, the weights of each set to one number."""
    filled: dict[int, Event] = {}  # the layers, and where that happens
    for event in case.all("init"):
        layer, node = event.value.base, event.node
        if event.tests or layer is None or not isinstance(node, ast.Call):  # a test may choose the biases alone
            continue
        if event.detail in {"zeros_", "ones_", "constant_"}:
            if event.value.name == "weight" or event.value.op == "parameter":
                filled.update(dict.fromkeys([id(part) for part in modules(layer)], event))
    for first, second in case.walk.behind:
        if first not in filled or second not in filled:
            continue
        node = filled[first].node
        assert isinstance(node, ast.Call)
        new = f"{case.text.of(node.func).rsplit('.', 1)[0]}.xavier_uniform_({case.text.of(node.args[0])})"
        yield Found(16, node, f"`{short(case.text.of(node))}`: {why}", case.text.replace([(node, new)]))


def zero_matrix(value: Value) -> bool:
    wide = value.shape is not None and len(value.shape) == 2
    return value.leaf and value.op == "zeros" and graph_of(value) is True and wide


def rate_too_high(case: Case) -> Iterator[Found]:
    """17: a rate far above what the optimizer's steps bear.
    Silent: with a schedule (it may be a factor), and for methods
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
                f"A rate of {rate:g} makes each step of {value.op} far longer than the loss's valley is "
                "wide: the loss jumps or "
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
                    f"A plain {'list' if value.kind == 'list' else 'dict'} hides its layers: "
                    "`parameters()` does not see "
                    f"`{short(case.text.of(statement.targets[0]))}`, and the optimizer never gets its weights.",
                    case.text.replace([(statement.value, f"{nn}.{box}({case.text.of(statement.value)})")]),
                )
        elif value.kind == "tensor" and value.leaf and value.graph is True and isinstance(statement.value, ast.Call):
            call = statement.value
            if any(k.arg == "requires_grad" for k in call.keywords):
                yield Found(
                    19,
                    statement,
                    f"`{short(case.text.of(statement.targets[0]))}` asks for a gradient but is no "
                    "Parameter: `parameters()` does not "
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
                f"`{name}` was made in line {before[0].statement.lineno}, with the layer that `{target}` "
                "was before: this "
                "new one it does not know.",
                case.text.after(event.statement, f'{name}.add_param_group({{"params": {target}.parameters()}})'),
            )


def left_out(case: Case) -> Iterator[Found]:
    """19: a network that the loss goes through and no optimizer moves.
    Silent: for what is frozen, loaded, evaluated, or
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
                f"The loss goes through `{name}` as well, but no optimizer has its parameters: it stays "
                "as it was drawn.",
                case.text.replace([(given, f"[*{case.text.of(given)}, *{name}.parameters()]")]),
            )


def leaf_left_out(case: Case) -> Iterator[Found]:
    """19: a tensor of the text's own that asks for a gradient, is in the loss, and no optimizer moves.
    Silent: where its gradient is read, or asked for in another way."""
    if not all_known(case) or not case.torch:
        return
    moved = {id(item) for e in case.all("optimizer") for item in e.value.items or []}
    used = {id(v) for e in case.all("read grad", "differentiate", "used") for v in reach(e.value)}
    for event in case.all("backward"):
        step = next((e for e in case.all("step") if e.loops == event.loops), None)
        node = step.value.node if step is not None else None
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.List):
            continue
        given = case.text.of(node.args[0])
        for value in reach(event.value):
            free = value.leaf and value.graph and value.kind == "tensor" and value.name and value.op in CREATORS
            if free and not value.cut and id(value) not in moved | used and value.maybe == ():
                yield Found(
                    19,
                    node,
                    f"The loss is computed from `{value.name}` as well, which asks for a gradient, but the optimizer "
                    "does not have it: it stays as it was made.",
                    case.text.replace([(node.args[0], f"{given[:-1]}, {value.name}]")]),
                )


def touched(optimizer: Value) -> set[int]:
    return {id(part) for item in optimizer.items or [] for part in modules(item)}
