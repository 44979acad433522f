"""Rules about the graph: where it is cut, and what lies behind the cut."""

import ast
import copy
import itertools
import re
from collections.abc import Iterator
from typing import TypeGuard

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.effects import CHOICES, ELEMENTWISE, REDUCTIONS
from lab.failures.analysis.facts import (
    ARITHMETIC,
    BROADCASTING_LOSSES,
    CREATORS,
    LAYERS,
    TENSORS,
    Value,
    graph_of,
    has_parameters,
    is_network_output,
    is_unknown_loss,
    modules,
    reach,
    traverse,
)
from lab.failures.analysis.kinds import Act, Cut, Kind, Tag
from lab.failures.analysis.program import Event
from lab.failures.analysis.rules.case import Case, RuleHit, called, own_line, receiver, short

DATA = re.compile(
    r"^(train_|test_|batch_)?(x|y|t|targets?|labels?|gold|truth|masks?|batch|data|weights?)(_?(train|true|batch|b))?$"
)


def no_gradient(case: Case) -> Iterator[RuleHit]:
    """4, 11, 12, 13, 21: backward from what has certainly no graph, and who cut it.
    Silent: where anything on the way is not known."""
    for event in case.all(Act.BACKWARD):
        value = event.value
        remade = (value.cut == Cut.WRAPPED and value.leaf) or only_remade(value)
        cut_off = value.graph is None and only_data(value)
        if value.leaf and value.graph and value.parents:  # asked for a gradient too late
            remade = remade or any(v.cut == Cut.WRAPPED for v in reach(value, live=False))
        number = value.kind == Kind.NUMBER and any(v.op == "item" for v in reach(value, live=False))
        if (
            (value.graph is False and value.kind in TENSORS | {Kind.UNKNOWN, Kind.NUMBER})
            or remade
            or cut_off
            or number
        ):
            yield from culprit(case, event)
            yield from asked_for(case, event)
        elif value.graph is None and value.kind == Kind.TENSOR:
            yield from all_frozen(case, event)
    for event in case.all(Act.USED):
        if event.value.cut == Cut.DERIVATIVE:
            yield from culprit(case, event)
    for event in case.all(Act.DIFFERENTIATE):
        yield from not_asked(case, event)


def all_frozen(case: Case, event: Event) -> Iterator[RuleHit]:
    """4: a pass through layers that all ask for no gradient. Silent: where anything else could be learned."""
    behind = list(reach(event.value))
    layers = [v for v in behind if v.kind == Kind.MODULE and v.op in LAYERS]
    others = [
        v for v in behind if v.kind == Kind.PARAMETER or (v.leaf and v.graph) or v.branches or v.op in {"call", "any"}
    ]
    if not layers or others or any(Tag.FROZEN not in v.tags for v in layers):
        return
    read = [e for e in case.all(Act.READ_GRAD) if e.value.graph is False and any(v is e.value for v in behind)]
    if len({id(e.value) for e in read}) == 1 and isinstance(made := read[0].value.statement, ast.Assign):
        yield RuleHit(
            4,
            made,
            f"{called(read[0].value, 'This')} asks for no gradient and the network's weights are frozen, so "
            f"`backward()` in line {event.statement.lineno} has no graph. Let it ask.",
            case.text.replace([(made.value, f"{case.text.operand(made.value)}.requires_grad_()")]),
        )
        return
    freezing = [e for e in case.all(Act.FROZEN) if any(v is part for part in modules(e.value) for v in layers)]
    places = {id(e.statement): e for e in freezing}
    if len(places) == 1 and own_line(freezing[0].statement):
        yield RuleHit(
            4,
            freezing[0].statement,
            f"This freezes every layer that leads to {called(event.value, 'the loss')}: `backward()` in line "
            f"{event.statement.lineno} has no graph. Leave what should learn.",
            case.text.replace([(freezing[0].statement, "pass")]),
        )


def asked_for(case: Case, event: Event) -> Iterator[RuleHit]:
    """4: the result of a backward pass that is asked for a gradient, where nothing leads to it."""
    ask = next((e for e in case.all(Act.ASK) if e.value is event.value), None)
    if ask is None or not own_line(ask.statement):
        return
    node, source = ask.node, receiver(ask.node)
    alone = isinstance(ask.statement, ast.Expr)
    yield RuleHit(
        4,
        node,
        f"This silences the error of `backward()` in line {event.statement.lineno} and leaves its cause: nothing "
        f"leads from {called(event.value, 'the loss')} to the parameters, and none of them gets a gradient.",
        case.text.replace([(ask.statement, "pass") if source is None or alone else (node, case.text.operand(source))]),
    )


def only_remade(value: Value) -> bool:
    """Does every way lead to new tensors made from numbers, which ask for a gradient where none comes from?"""
    alive = list(reach(value))
    wrapped = [v for v in alive if v.cut == Cut.WRAPPED and v.leaf and v.graph]
    others = [v for v in alive if v not in wrapped]
    learned = any(v.kind in {Kind.MODULE, Kind.PARAMETER, Kind.UNKNOWN} or v.op == "call" or v.branches for v in others)
    return bool(wrapped) and not learned and not any(v.leaf and v.graph for v in others)


def only_data(value: Value) -> bool:
    """Does nothing that could be learned lead to a value, but batches and targets from outside, and cuts behind which
    layers lie?"""
    alive = list(reach(value))
    judges = {id(v.base) for v in alive if is_unknown_loss(v)}
    strangers = [v for v in alive if v.kind == Kind.UNKNOWN and not v.cut and not v.parents and id(v) not in judges]
    learned = any(
        v.kind in {Kind.MODULE, Kind.PARAMETER} or (v.op == "call" and not is_unknown_loss(v)) or v.branches or v.graph
        for v in alive
        if not v.cut
    )
    named = all(v.op == "" and not re.search("loss|log|grad|out|pred", v.name) for v in strangers)
    if learned or not named:
        return False
    behind = [v for c in alive if c.cut for v in reach(c, live=False)]
    if any(v.kind == Kind.MODULE and v.op in LAYERS for v in behind):
        return True
    return any(v.op == "call" for v in behind) and all(
        v.turns or DATA.search(v.name.split(".")[-1].lower()) for v in strangers
    )


def culprit(case: Case, event: Event) -> Iterator[RuleHit]:
    found = list(reach(event.value, live=False))
    cuts = [v for v in found if v.cut and v.cut_by is not None]
    name = called(event.value, "the loss")
    if event.value.kind == Kind.NUMBER and not cuts:  # of a value of which nothing else is known
        number = next((v for v in found if v.op == "item" and isinstance(v.node, ast.Call)), None)
        if number is not None and isinstance(number.node, ast.Call):
            yield from taken_out(case, number.node, number, name, event.statement.lineno)
        return
    for value in sorted(cuts, key=lambda v: v.cut == Cut.WRAPPED):
        behind = list(reach(value, live=False))[1:]
        if value.cut != Cut.NO_GRAD and not any(v.graph or graph_of(v) or v.cut or v.op == "call" for v in behind):
            continue
        node = value.cut_by
        assert node is not None
        line = event.statement.lineno
        if value.cut == Cut.NO_GRAD and isinstance(node, ast.expr):
            off = list(switched_off(case, event, node, found))
            if off:
                yield from off
                return
        if value.cut in {Cut.ITEM, Cut.NUMPY} and isinstance(node, ast.Call):
            wraps = [v.cut_by for v in cuts if v.cut == Cut.WRAPPED and isinstance(v.cut_by, ast.Call)]
            yield from taken_out(case, node, value, name, line, wraps[0] if wraps else None)
            return
        if value.cut == Cut.DETACH and isinstance(node, ast.Attribute) and not case.torch:
            wraps = [v.cut_by for v in cuts if v.cut == Cut.WRAPPED and isinstance(v.cut_by, ast.Call)]
            yield RuleHit(
                13,
                node,
                f"`{short(case.text.of(node))}` is an array of NumPy, which has no graph: through it, `backward()` in "
                f"line {line} cannot reach the parameters behind {name}.",
                case.text.replace(
                    [(w, in_engine(w.args[0])) for w in wraps if w.args] or [(node, case.text.of(node.value))]
                ),
            )
            return
        if value.cut == Cut.DETACH and isinstance(node, ast.expr):
            source = receiver(node) or (node.value if isinstance(node, ast.Attribute) else None)
            if any(v.cut == Cut.NUMPY for v in cuts):
                continue
            if source is not None:
                yield RuleHit(
                    11,
                    node,
                    f"`{short(case.text.of(node))}` cuts the graph: {name} has no way back to the parameters, and "
                    f"`backward()` in line {line} has nothing to do.",
                    case.text.replace([(node, case.text.of(source))]),
                )
                return
        if value.cut == Cut.CHOICE and isinstance(node, ast.expr):
            yield from chosen(case, node, name, line)
            return
        if value.cut == Cut.DERIVATIVE and isinstance(node, ast.Call):
            yield from numbers_only(case, node, event)
            return
        if value.cut == Cut.WRAPPED and isinstance(node, ast.Call) and node.args:
            yield RuleHit(
                4,
                node,
                f"A new tensor made from a number has no graph behind it: `backward()` in line {line} ends here and "
                "no parameter gets a gradient. Use the value itself.",
                case.text.replace([(node, case.text.of(node.args[0]))]),
            )
            return
    yield from nobody_asked(case, event, found)


def numbers_only(case: Case, node: ast.Call, event: Event) -> Iterator[RuleHit]:
    """4: a derivative without a graph, where a loss is made of it, or another derivative."""
    line = event.statement.lineno
    later = (
        f"has no graph, so line {line} cannot differentiate it again."
        if event.kind != Act.BACKWARD
        else f"has no graph, and `backward()` in line {line} refuses it."
        if event.value.graph is False
        else f"is cut from the parameters behind it, which `backward()` in line {line} does not reach."
    )
    yield RuleHit(
        4,
        node,
        f"Without `create_graph=True` a derivative is numbers only: {called(event.value, 'the loss')} {later}",
        case.text.replace([(node, case.text.with_keyword(node, "create_graph", "True"))]),
    )


def switched_off(case: Case, event: Event, node: ast.expr, found: list[Value]) -> Iterator[RuleHit]:
    """12, or 4: what switches the gradient off for a loss, what stands under it by mistake, or who calls it."""
    name, line, mode = called(event.value, "the loss"), event.statement.lineno, f"`{short(case.text.of(node))}`"
    misused, network = predicting_in_training(case, event, node), inside_of(case, node)
    inside = behind_the_first(case, node, found)
    edit = switched_on(case, node)
    if misused is not None and network is not None:
        yield RuleHit(
            4,
            misused,
            f"`{short(case.text.of(misused.func))}` runs under {mode}, so {name} has no graph and `backward()` in line "
            f"{line} refuses it. Call the network itself here.",
            case.text.replace([(misused.func, case.text.of(network))]),
        )
    elif inside is not None:
        yield RuleHit(
            12,
            inside[0],
            f"{mode} switches gradients off here, so {name} is computed without a graph: `backward()` in line {line} "
            "has nothing to go back through. Move this out of the block.",
            case.text.dedented(*inside),
        )
    elif edit is not None:
        yield RuleHit(
            12,
            node,
            f"This switches gradients off, so {name} is computed without a graph: `backward()` in line {line} has "
            "nothing to go back through.",
            edit,
        )


def switched_on(case: Case, node: ast.expr) -> Edit | None:
    """The gradient on again: without the decorator, or with the statements that stood under `with` outside of it."""
    for around in ast.walk(case.program.tree):
        if isinstance(around, ast.With) and len(around.items) == 1 and around.items[0].context_expr is node:
            return case.text.unindented(around)
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef) and node in around.decorator_list:
            return Edit(node.lineno, node.end_lineno or node.lineno, "")
    written = case.text.of(node)
    new = re.sub(r"\.(no_grad|inference_mode)\b", ".enable_grad", written).replace(
        "set_grad_enabled(False)", "set_grad_enabled(True)"
    )
    return case.text.replace([(node, new)]) if new != written else None


def taken_out(
    case: Case, node: ast.Call, value: Value, name: str, line: int, wrap: ast.AST | None = None
) -> Iterator[RuleHit]:
    """13. The change: the tensor itself instead of its numbers, and torch's functions where numpy's were."""
    source = without_the_graph(node)
    if source is None:
        return
    new = case.text.of(source)
    if of_math(node):
        new = f"torch.{case.text.of(node.func).removeprefix('math.')}({new})"
    pieces: list[tuple[ast.AST, str]] = [(node, new), *numbers_of_math(case, node)]
    if (around := math_around(case, node)) is not None:
        pieces[0] = (around, f"torch.{case.text.of(around.func).removeprefix('math.')}({new})")
    if isinstance(wrap, ast.Call) and wrap.args:
        inside = case.text.of(wrap.args[0])
        if any(part is node for part in ast.walk(wrap)):
            pieces = [(wrap, in_torch(inside.replace(case.text.of(node), new)))]
        else:
            pieces.append((wrap, in_torch(inside)))
            if value.statement is not None and value.statement.lineno < wrap.lineno:
                written = case.text.of(value.statement).replace(case.text.of(node), new)
                pieces[0] = (
                    value.statement,
                    in_torch(re.sub(r"(\w)(?:\.detach\(\))?(?:\.cpu\(\))?\.numpy\(\)", r"\1", written)),
                )
    yield RuleHit(
        13,
        node,
        f"`{short(case.text.of(node))}` turns a tensor into plain numbers, which have no graph: through them, "
        f"`backward()` in line {line} cannot reach the parameters behind {name}.",
        case.text.replace(pieces),
    )


def of_math(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith("math.")


def math_around(case: Case, number: ast.Call) -> ast.Call | None:
    """The call math.exp(x.item()) in which a number is taken out."""
    calls = (node for node in ast.walk(case.program.tree) if of_math(node))
    return next((call for call in calls if any(part is number for part in call.args)), None)


def numbers_of_math(case: Case, number: ast.Call) -> list[tuple[ast.AST, str]]:
    """The calls math.log(x), in torch, of the x that gets the number taken out, later in the same function."""
    for place in ast.walk(case.program.tree):
        if not isinstance(place, ast.FunctionDef):
            continue
        made = [s for s in ast.walk(place) if isinstance(s, ast.Assign) and any(n is number for n in ast.walk(s))]
        names = {target.id for s in made for target in s.targets if isinstance(target, ast.Name)}
        calls = [node for node in ast.walk(place) if of_math(node) and len(node.args) == 1]
        uses = [c for c in calls if isinstance(c.args[0], ast.Name) and c.args[0].id in names]
        if uses:
            return [(c.func, f"torch.{case.text.of(c.func).removeprefix('math.')}") for c in uses]
    return []


def without_the_graph(node: ast.Call) -> ast.expr | None:
    """x, of x.item(), float(x) or x.detach().cpu().numpy()."""
    source = (None if of_math(node) else receiver(node)) or (node.args[0] if node.args else None)
    while isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
        if source.func.attr not in {"detach", "cpu"}:
            break
        source = source.func.value
    return source


def in_torch(text: str) -> str:
    """A line of numpy as one of torch, as far as the two agree."""
    text = re.sub(r"\b(?:np|numpy)\.maximum\((.*), 0(?:\.0)?\)", r"torch.relu(\1)", text)
    return re.sub(r"\b(?:np|numpy)\.(?=[a-z])", "torch.", text)


class InEngine(ast.NodeTransformer):
    """Arrays replaced by the tensors that they were taken from, NumPy's functions by methods of theirs."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return node.value if node.attr == "data" else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in NUMPY:
            return ast.Call(ast.Attribute(node.args[0], called.attr), node.args[1:], node.keywords)
        return node


NUMPY = {"np", "numpy"}


def in_engine(node: ast.expr) -> str:
    return ast.unparse(InEngine().visit(copy.deepcopy(node)))


def chosen(case: Case, node: ast.expr, name: str, line: int) -> Iterator[RuleHit]:
    """21. The change: the smooth value of which the choice was made."""
    what = (
        "a comparison"
        if isinstance(node, ast.Compare)
        else f"`{short(case.text.of(node.func))}`"
        if isinstance(node, ast.Call)
        else "it"
    )
    source = chosen_from(node)
    while source is not None and (inner := chosen_from(source)) is not None:  # x of x.argmax(1) == y
        source = inner
    if source is None:
        return
    yield RuleHit(
        21,
        node,
        f"{what.capitalize() if what[0] != '`' else what} has no slope: {name} is made from a choice, and "
        f"`backward()` in line {line} cannot tell the parameters how to change it.",
        case.text.replace([(node, case.text.of(source))]),
    )


def chosen_from(node: ast.expr) -> ast.expr | None:
    """x, of x.argmax(1), torch.argmax(x, 1), x > 0.5 or torch.where(x > 0.5, 1, 0)."""
    if isinstance(node, ast.Compare):
        return node.left
    names = {*CHOICES, "max", "min", "topk", "sort", "where", "long", "int", "bool", "byte"}
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in names:
        return None
    library = isinstance(node.func.value, ast.Name) and node.func.value.id in {"torch", "np", "F", "nn"}
    return node.args[0] if library and node.args else node.func.value


def nobody_asked(case: Case, event: Event, found: list[Value]) -> Iterator[RuleHit]:
    """4: every tensor on the way was made by the text itself, and none asks for a gradient."""
    if any(
        v.kind not in {Kind.TENSOR, Kind.NUMBER, Kind.FLAG, Kind.TEXT, Kind.LIST}
        or v.branches
        or v.cut
        or v.op == "item"
        for v in found
    ):
        return
    made = [v for v in found if v.leaf and isinstance(v.node, ast.Call) and v.op in CREATORS and not v.integer]
    if not made or event.value.kind != Kind.TENSOR:
        return
    read = {id(e.value) for e in case.all(Act.READ_GRAD)}
    value = next((v for v in made if id(v) in read), None) or min(made, key=lambda v: v.node.lineno if v.node else 0)
    node = value.node
    assert isinstance(node, ast.Call)
    yield RuleHit(
        4,
        node,
        f"No tensor on the way to {called(event.value, 'the result')} asks for a gradient, so `backward()` in line "
        f"{event.statement.lineno} has no graph: let {called(value, 'this one')} ask.",
        case.text.replace([(node, case.text.with_keyword(node, "requires_grad", "True"))]),
    )


def chosen_terms(case: Case) -> Iterator[RuleHit]:
    """21: a term of the loss that is made of choices alone, beside one that has a gradient.
    Silent: with a detach in the loss, by which a choice may get the gradient of something smooth."""
    for event in case.all(Act.BACKWARD):
        if graph_of(event.value) is not True:
            continue
        parts = list(traverse(event.value, lambda v: () if v.cut or v.op not in SUMMING else v.parents))
        if any(part.cut not in {Cut.NONE, Cut.CHOICE} for part in parts):
            continue
        for term in parts:
            found = list(reach(term)) if term.kind == Kind.TENSOR and graph_of(term) is False else []
            cuts = [v for v in found if any(graph_of(p) is True for p in v.parents) and v.cut]
            by = cuts[0].cut_by if cuts and all(v.cut == Cut.CHOICE for v in cuts) else None
            if isinstance(by, ast.expr):
                name = f"a term of {called(event.value, 'the loss')}"
                yield from chosen(case, by, name, event.statement.lineno)


SUMMING = {"+", "-", "neg", "mean", "sum"}


def read_but_not_asked(case: Case) -> Iterator[RuleHit]:
    """4: the gradient of what the text made itself, went into a pass, and never asked for one.
    Silent: in this project's engine, whose tensors ask unless they are told not to."""
    passes = {id(v) for e in case.all(Act.BACKWARD) for v in reach(e.value)}
    for event in case.all(Act.READ_GRAD):
        value, node = event.value, event.value.node
        plain = value.leaf and value.graph is False and value.op in CREATORS and not value.integer and not value.cut
        if (
            case.torch
            and plain
            and id(value) in passes
            and isinstance(node, ast.Call)
            and not value.tags & {Tag.FROZEN}
        ):
            yield RuleHit(
                4,
                node,
                f"{called(value, 'This')} asks for no gradient, so its `.grad`, read in line "
                f"{event.statement.lineno}, stays None. Let it ask.",
                case.text.replace([(node, case.text.with_keyword(node, "requires_grad", "True"))]),
            )


def not_asked(case: Case, event: Event) -> Iterator[RuleHit]:
    """4: a derivative with respect to what the text made itself and never asked to be followed."""
    value = event.value
    made = list(reach(value, live=False))
    first = made[-1]
    if (
        value.kind != Kind.TENSOR
        or value.graph is not False
        or any(v.cut or v.branches or v.kind != Kind.TENSOR for v in made)
    ):
        return
    statement = value.statement
    if first.op not in CREATORS or not isinstance(statement, ast.Assign) or value.node is not statement.value:
        return
    yield RuleHit(
        4,
        statement,
        f"{called(value, 'This')} asks for no gradient, so line {event.statement.lineno} cannot differentiate with "
        "respect to it: PyTorch refuses. Let it ask.",
        case.text.replace([(statement.value, f"{case.text.operand(statement.value)}.requires_grad_()")]),
    )


def numbers_in_the_sum(case: Case) -> Iterator[RuleHit]:
    """13: one term of the loss is a bare number. Silent: for numbers that scale, and for what is no loss."""
    for event in case.all(Act.BACKWARD):
        stack, seen = [event.value], set()
        while stack:
            value = stack.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if value.op == "item" and value.form == "loss" and isinstance(value.node, ast.Call):
                if event.value.graph is not False and event.value.kind != Kind.NUMBER:
                    name = called(event.value, "the loss")
                    yield from taken_out(case, value.node, value, name, event.statement.lineno)
            elif value.op in {"+", "-"} or (value.kind == Kind.NUMBER and value.op in {"*", "/"}):  # of a bare number
                stack += value.parents
            elif value.kind == Kind.NUMBER:
                stack += value.branches


def learned_numbers(case: Case) -> Iterator[RuleHit]:
    """13: a number taken out of parameters that are learned, where no other way leads to them.
    Silent: where a pass gets to one of them, and where no optimizer is known to have them."""
    passes = case.all(Act.BACKWARD)
    alive = {id(v) for e in passes for v in reach(e.value)}
    moved = {id(part) for e in case.all(Act.OPTIMIZER) for item in e.value.items or [] for part in modules(item)}
    for event in passes:
        for value in reach(event.value, live=False):
            if value.cut != Cut.ITEM or not isinstance(value.node, ast.Call) or value.kind != Kind.NUMBER:
                continue
            behind = list(reach(value, live=False))[1:]
            learned = [v for v in behind if v.leaf and v.graph]
            plain = all(v.leaf or v.op in ELEMENTWISE | REDUCTIONS | ARITHMETIC for v in behind if v.kind in TENSORS)
            known = all(v.kind in TENSORS | {Kind.NUMBER} for v in behind)
            if learned and plain and known and all(id(v) in moved - alive for v in learned):
                name = called(event.value, "the loss")
                yield from taken_out(case, value.node, value, name, event.statement.lineno)


def layers_behind_numpy(case: Case) -> Iterator[RuleHit]:
    """13: layers that only numpy leads to. Silent: where any other way leads to them."""
    passes = case.all(Act.BACKWARD)
    alive = {id(v) for e in passes for v in reach(e.value)}
    for event in passes:
        for value in reach(event.value):
            if value.cut != Cut.WRAPPED or value is event.value:
                continue
            behind = list(reach(value, live=False))
            lost = [v for v in behind if v.kind == Kind.MODULE and v.op in LAYERS and id(v) not in alive]
            taken = next((v for v in behind if v.cut in {Cut.NUMPY, Cut.ITEM} and isinstance(v.cut_by, ast.Call)), None)
            if lost and taken is not None and isinstance(taken.cut_by, ast.Call):
                name = called(event.value, "the loss")
                yield from taken_out(case, taken.cut_by, taken, name, event.statement.lineno, value.cut_by)


def refused_by_numpy(case: Case) -> Iterator[RuleHit]:
    """13: numbers taken out of what has a graph, which PyTorch refuses. Silent: in this project's engine, and under
    no_grad, where PyTorch gives them."""
    for event in case.all(Act.NUMPY):
        node = event.node
        source = receiver(node)
        if not isinstance(node, ast.Call) or "torch" not in case.names or not event.recorded:
            continue
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "numpy"):
            mine = (a for a in node.args if a is event.value.node or getattr(a, "id", "") == event.value.name != "")
            source = next(mine, None)
        if source is None:
            continue
        new = f"{case.text.operand(source)}.detach()"
        yield RuleHit(
            13,
            node,
            f"{called(event.value, 'This')} has a graph, and NumPy records none: PyTorch refuses to make an array of "
            "it. Detach it first, if no gradient has to come back from here.",
            case.text.replace([(source, new)]),
        )


def behind_a_cut(case: Case) -> Iterator[RuleHit]:
    """11, 12, 21: a network that its own optimizer moves, and that a cut keeps from every pass.
    Silent: where a pass gets to it on another way, or may, by something unknown that is called."""
    passes = case.all(Act.BACKWARD)
    alive = {id(v) for e in passes for v in reach(e.value)}
    for step in case.all(Act.STEP):
        for item in (part for whole in step.value.items or [] for part in (whole, *trained_parts(whole))):
            parts = {id(part) for part in modules(item)}
            if item.kind != Kind.MODULE or item.tags & {Tag.FROZEN, Tag.EVAL} or parts & alive:
                continue
            for event in passes:
                live = list(reach(event.value))
                if event.loops != step.loops or any(v.op == "call" and not v.cut and not known(v) for v in live):
                    continue
                kinds = {Cut.DETACH, Cut.NO_GRAD, Cut.CHOICE, Cut.DERIVATIVE}
                cuts = [v for v in live if v.cut in kinds and isinstance(v.cut_by, ast.expr)]
                cuts = [v for v in cuts if any(id(p) in parts for p in reach(v, live=False))]
                if cuts and cuts[0].cut == Cut.DERIVATIVE and isinstance(cuts[0].cut_by, ast.Call):
                    yield from numbers_only(case, cuts[0].cut_by, event)
                elif cuts and cuts[0].cut == Cut.CHOICE and isinstance(cuts[0].cut_by, ast.expr):
                    yield from chosen(case, cuts[0].cut_by, called(event.value, "the loss"), event.statement.lineno)
                elif cuts:
                    names = called(item, "a network"), called(step.value, "its optimizer")
                    yield from uncut(case, cuts[0], *names, event)


def parameter_behind_a_cut(case: Case) -> Iterator[RuleHit]:
    """12: a parameter that a network's class makes, its optimizer has, and every pass gets to without gradients only.
    Silent: where anything writes to it, where its name says that it is no weight, and where a pass may get to it."""
    passes = case.all(Act.BACKWARD)
    behind = [(e, list(reach(e.value))) for e in passes]
    if any(v.branches or (v.op == "call" and not v.cut and not known(v)) for _, live in behind for v in live):
        return
    alive = {id(v) for _, live in behind for v in live}
    written = {id(e.value) for e in case.all(Act.WRITE, Act.UPDATE)}
    for step in case.all(Act.STEP):
        for name, value in own_parameters(step.value):
            if id(value) in alive | written:
                continue
            for event, live in behind:
                cuts = [v for v in live if v.cut == Cut.NO_GRAD and any(p is value for p in reach(v, live=False))]
                if cuts and event.loops == step.loops:
                    yield from uncut(case, cuts[0], f"`{name}`", called(step.value, "its optimizer"), event)


def own_parameters(optimizer: Value) -> Iterator[tuple[str, Value]]:
    """Yield the parameters that are attributes of the networks that an optimizer moves, by name."""
    for part in (inner for item in optimizer.items or [] for inner in modules(item)):
        if part.op == "module" and not part.tags & {Tag.FROZEN, Tag.EVAL}:
            for name, value in part.attributes.items():
                frozen = Tag.FROZEN in value.tags or PREPARED.search(name)
                if value.kind == Kind.PARAMETER and value.base is None and not frozen:
                    yield name, value


def decorated_by(case: Case, mode: ast.expr) -> ast.FunctionDef | None:
    functions = (node for node in ast.walk(case.program.tree) if isinstance(node, ast.FunctionDef))
    return next((place for place in functions if any(mode is part for part in place.decorator_list)), None)


def predicting_in_training(case: Case, event: Event, mode: ast.expr) -> ast.Call | None:
    """The call, in the function of a pass, of one that a decorator keeps from gradients and that others call, too."""
    function, place = decorated_by(case, mode), event.function
    if function is None or place is None or place is function:
        return None
    tree = case.program.tree
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func).endswith(function.name)]
    here = [call for call in calls if any(call is part for part in ast.walk(place))]
    return here[0] if len(here) == 1 and len(calls) > 1 and inside_of(case, mode) is not None else None


def inside_of(case: Case, mode: ast.expr) -> ast.expr | None:
    """self.net, of a decorated function that does nothing but to return self.net(x)."""
    function = decorated_by(case, mode)
    body = function.body if function is not None else []
    given = body[-1].value if body and isinstance(body[-1], ast.Return) else None
    return given.func if isinstance(given, ast.Call) else None


def trained(value: Value) -> bool:
    """Is it a network that neither was frozen nor only evaluates?"""
    return value.kind == Kind.MODULE and not value.tags & {Tag.FROZEN, Tag.EVAL}


def behind_the_first(case: Case, mode: ast.expr, found: list[Value]) -> tuple[ast.stmt, ast.With] | None:
    """The first statement of a block without gradients that calls what should learn, where calls of what should not
    stand before it; and the block."""
    called = [(v.statement, p) for v in found for p in (v.base, *v.parents) if p is not None and p.kind == Kind.MODULE]
    for around in ast.walk(case.program.tree):
        if isinstance(around, ast.With) and len(around.items) == 1 and around.items[0].context_expr is mode:
            here = [any(s is one and trained(part) for one, part in called) for s in around.body]
            needed = [any(s is one and not trained(part) for one, part in called) for s in around.body]
            first = here.index(True) if True in here else 0
            return (around.body[first], around) if any(needed[:first]) else None
    return None


PREPARED = re.compile(
    r"(?i)backbone|teacher|pretrain|frozen|target|ema|momentum|bert|resnet|vgg|clip|old|key|reference"
)


def trained_parts(network: Value) -> list[Value]:
    """The layers that a class of the text gives its network, without those whose names say that they are loaded."""
    if network.op != "module" or network.tags & {Tag.FROZEN, Tag.EVAL}:
        return []
    named = [(name, part) for name, part in network.attributes.items() if part.kind == Kind.MODULE]
    return [part for name, part in named if has_parameters(part) and not PREPARED.search(name)]


def known(value: Value) -> bool:
    """Is it known what was called: a network, a function of torch, or something that is called a loss?"""
    return is_unknown_loss(value) or (value.base is not None and value.base.kind in {Kind.MODULE, Kind.LIBRARY})


def uncut(case: Case, value: Value, network: str, optimizer: str, event: Event) -> Iterator[RuleHit]:
    node = value.cut_by
    assert isinstance(node, ast.expr)
    if predicting_in_training(case, event, node) is not None:  # another rule speaks of it
        return
    inside = behind_the_first(case, node, list(reach(event.value, live=False)))
    if inside is not None:
        yield RuleHit(
            12,
            inside[0],
            f"This stands under `{short(case.text.of(node))}`, which keeps every gradient from {network}: {optimizer} "
            "steps, but never moves it. Move it out of the block.",
            case.text.dedented(*inside),
        )
        return
    source = node.value if isinstance(node, ast.Attribute) else receiver(node)
    if value.cut == Cut.DETACH and source is not None:
        edit: Edit | None = case.text.replace([(node, case.text.of(source))])
    else:
        edit = switched_on(case, node)
    if edit is not None:
        yield RuleHit(
            11 if value.cut == Cut.DETACH else 12,
            node,
            f"`{short(case.text.of(node))}` keeps every gradient from {network}: {optimizer} steps, but never moves "
            "it.",
            edit,
        )


def validation_recorded(case: Case) -> Iterator[RuleHit]:
    """12: a loop over data for validation whose passes are recorded, and gone back through by nobody.
    Silent: where anything in the same function asks for a gradient."""
    if not case.torch:
        return
    asking = case.all(Act.BACKWARD, Act.USED, Act.DIFFERENTIATE, Act.READ_GRAD)
    wanted = {id(v) for e in asking for v in reach(e.value, live=False)}
    modes = case.all(Act.EVAL, Act.TRAIN)
    done: set[int] = set()
    for event in case.all(Act.FORWARD):
        loop, network = (event.loops[-1] if event.loops else None), event.other
        if not isinstance(loop, ast.For) or id(loop) in done or network is None or not event.recorded:
            continue
        given = {n.id for n in ast.walk(event.node) if isinstance(n, ast.Name)}
        over = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        asked = any(e.loops[-1:] == (loop,) or (event.functions and e.functions == event.functions) for e in asking)
        if not given & over or asked or id(event.value) in wanted or Tag.FROZEN in network.tags:
            continue
        earlier = [
            e
            for e in modes
            if e.value is network and case.order[e] < case.order[event] and e.functions == event.functions
        ]
        judged = bool(earlier) and earlier[-1].detail == "eval"
        numbers = any(isinstance(n, ast.AugAssign) or getattr(n, "attr", "") in READ for n in ast.walk(loop))
        if not numbers or not (judged or VALIDATION.search(ast.unparse(loop.iter))):
            continue
        done.add(id(loop))
        yield RuleHit(
            12,
            event.node,
            f"Each pass through {called(network, 'the network')} here records a graph, and nothing goes back through "
            "it: validation takes the memory and the time of training. Put the loop under `torch.no_grad()`.",
            case.text.under(loop, "with torch.no_grad():"),
        )


def judged_on_record(case: Case) -> Iterator[RuleHit]:
    """12: held-out data that goes through an evaluating network in each turn of a training loop, and is recorded.
    Silent: outside of such a loop, and where anything asks for a gradient of what comes out."""
    asking = case.all(Act.BACKWARD, Act.USED, Act.DIFFERENTIATE, Act.READ_GRAD)
    wanted = {id(v) for e in asking for v in reach(e.value, live=False)}
    for event in case.all(Act.FORWARD):
        network, statement = event.other, event.statement
        modes = [e for e in case.all(Act.EVAL, Act.TRAIN) if e.value is network and e.functions == event.functions]
        before = [e for e in modes if case.order[e] < case.order[event]]
        judged = bool(before) and before[-1].detail == "eval" and bool(event.loops)
        trained = any(e.loops[:1] == event.loops[:1] for e in case.all(Act.BACKWARD))
        given = " ".join(n.id for n in ast.walk(event.node) if isinstance(n, ast.Name))
        recorded = event.recorded and network is not None and event.value.graph is True and case.torch
        alone = own_line(statement) and not case.text.indent(statement).strip()
        unwanted = id(event.value) not in wanted and bool(VALIDATION.search(given))
        if judged and trained and recorded and alone and unwanted:
            yield RuleHit(
                12,
                event.node,
                f"This pass through {called(network or Value(), 'the network')} records a graph, and nothing goes "
                "back through it: it costs memory and time in each turn. Put it under `torch.no_grad()`.",
                case.text.under(statement, "with torch.no_grad():"),
            )


def averaged_with_graph(case: Case) -> Iterator[RuleHit]:
    """12: a running average of parameters, kept from step to step and computed where operations are recorded.
    Silent: in a forward pass, and for an average that a pass goes back through."""
    wanted = {id(v) for e in case.all(Act.BACKWARD, Act.USED) for v in reach(e.value, live=False)}
    steps = [e for e in case.all(Act.STEP) if e.loops]
    for event in case.all(Act.ATTRIBUTE, Act.GATHER):
        value, statement = event.other, event.statement
        if value is None or not isinstance(statement, ast.Assign) or not event.recorded or id(value) in wanted:
            continue
        target = statement.targets[0]
        stepped = any(e.loops[0] in event.loops for e in steps) or (event.second_call and bool(case.all(Act.STEP)))
        kept = any(ast.unparse(part) == ast.unparse(target) for part in ast.walk(statement.value))
        passed = any(isinstance(place, ast.FunctionDef) and place.name == "forward" for place in event.functions)
        if kept and stepped and not passed and value.graph is True and averages(value):
            name = case.text.of(target)
            yield RuleHit(
                12,
                statement,
                f"This average of parameters is recorded: `{name}` carries the graph of all steps before, which grows "
                "with every step. Average under no_grad.",
                case.text.under(statement, "with torch.no_grad():"),
            )


def averages(value: Value) -> bool:
    """Is it a parameter and something else, each times a number, or a step from the one towards the other?"""
    if isinstance(value.node, ast.Call) and value.op == "+":  # lerp
        return any(part.kind == Kind.PARAMETER for part in value.parents)
    scaled = [part for part in value.parents if part.op == "*" and len(part.parents) == 2]
    if value.op != "+" or len(scaled) != 2:
        return False
    numbers = all(any(graph_of(p) is not True and p.kind not in TENSORS for p in part.parents) for part in scaled)
    return numbers and any(p.kind == Kind.PARAMETER for part in scaled for p in part.parents)


READ = {"item", "argmax", "append"}  # by which a loop reads what the network gave
VALIDATION = re.compile(
    r"(?i)(^|[^a-z])([xy]?va|val|x?val|valid|validation|test|dev|eval|held_?out)([^a-z]|$)"
)  # of a loader's name


def discounted(value: Value) -> bool:
    """Is it a sum with a term that a discount factor scales, as the targets of Q-learning are?"""
    if value.op != "+":
        return False
    factors = traverse(value, lambda here: here.parents if here.op in {"+", "*"} and not here.cut else ())
    return any(
        re.search("gamma|discount", v.name.lower()) or (isinstance(v.constant, float) and 0.8 < v.constant < 1)
        for v in factors
        if not v.parents
    )


def moving_target(case: Case) -> Iterator[RuleHit]:
    """11: a target that is computed by the network itself and pulled along with it. Silent: for what is not called a
    target, and is no discounted output of the network either."""
    pairs = [(e.value, e.other) for e in case.all(Act.LOSS) if e.other and e.detail in BROADCASTING_LOSSES]
    for top in {id(v): v for e in case.all(Act.BACKWARD) for v in reach(e.value) if v.op == "-"}.values():
        pairs += [(one, two) for one, two in itertools.permutations(top.parents, 2) if discounted(two)]
    for prediction, target in pairs:
        if not re.search("target|expected", target.name) and not discounted(target):
            continue
        statement = target.statement
        alive = list(reach(prediction))
        shared = {id(v) for v in alive if v.kind == Kind.MODULE and v.op in LAYERS}
        shared |= {id(v.base) for v in alive if is_network_output(v)}
        if not isinstance(statement, ast.Assign | ast.Return) or not any(id(v) in shared for v in reach(target)):
            continue
        made = target.node if isinstance(target.node, ast.BinOp) else statement.value
        assert made is not None
        yield RuleHit(
            11,
            statement,
            f"{called(target, 'The target')} is computed by the network that it is the target of: the gradient also "
            "pulls the target towards the prediction. Detach it.",
            case.text.replace([(made, f"({case.text.of(made)}).detach()")]),
        )
