"""Rules about numbers: shapes that broadcast by mistake, steep functions at 0, integers, precision."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.facts import Value, ancestors, column_against_row, graph_of, is_square, traverse, without
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.registry import BROADCASTING_LOSSES, CREATORS, ELEMENTWISE, LAYERS
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.state import Event
from lab.failures.analysis.syntax import argument, inside, method, receiver
from lab.failures.analysis.work import walk


def column_and_row(case: Case) -> Iterator[RuleHit]:
    """Report failure 8: (N, 1) is combined with (N,). Reports nothing if one of the shapes is unknown."""
    for event in case.events_of(EventKind.LOSS, EventKind.SUBTRACT):
        if event.other is None or (event.kind == EventKind.LOSS and event.detail not in BROADCASTING_LOSSES):
            continue
        column = column_against_row(event.value, event.other)
        if column is None:  # broadcasting leaves only the last axis known
            pair = ((event.value, event.other), (event.other, event.value))
            tall = [c for c, row in pair if c.shape is not None and c.shape[1:] == (1,) and Tag.ROW in row.tags]
            column = next(
                (c for c in tall if c.shape != (1, 1) and (event.kind == EventKind.LOSS or c.op == "gather")), None
            )
        if column is None or column.shape is None:
            continue
        node = event.node
        if isinstance(node, ast.BinOp):
            one, two = node.left, node.right
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            one, two = node.args[:2]
        else:
            continue
        part, row, other = (one, two, event.other) if column is event.value else (two, one, event.value)
        if event.kind == EventKind.SUBTRACT and each_with_each(event, column, other):
            continue
        if event.detail == "*" and (not is_output(column) or {event.value.graph, event.other.graph} != {True, False}):
            continue
        taken = column.statement.value if isinstance(column.statement, ast.Assign) else None
        place = part
        if taken is not None and column.node is taken and column.op in {"gather", "view"}:
            node = place = taken  # where the program made it a column
        change = [(place, f"{case.text.operand(place)}.squeeze(1)")]
        yield case.hit("table_of_pairs", node, change, column=part, row=row, n=column.shape[0] or "N")


def each_with_each(event: Event, column: Value, row: Value) -> bool:
    """Return whether a difference may have two axes on purpose, to compare each number with each."""
    reshaped_here = column.op in {"view", "index"} and inside(event.node, column.node)  # a[:, None] - b
    views_of_one = without(row, {"view"}) is without(column, {"view"})  # s - s.squeeze(1)
    own_parameter = row.leaf and row.graph  # such as centres that each sample is compared with
    if reshaped_here or views_of_one or own_parameter:
        return True
    sizes_known = None not in {*(column.shape or ()), *(row.shape or (None,))}
    meant = sizes_known or is_output(column) or summed_per_sample(column, row) or same_batch(column, row)
    return not (meant or (column.op == "gather" and discounted(row)))


def same_batch(column: Value, row: Value) -> bool:
    """Return whether the row is a layer's output for the samples that the column belongs to.
    Those are the samples of one batch of a loader, or those at the same indices."""
    if not is_output(row):
        return False
    if column.op == "part":
        return any(
            v.op == "part" and v is not column and v.iterations == column.iterations and v.iterations
            for v in ancestors(row)
        )
    if column.op != "index" or not isinstance(column.node, ast.Subscript):
        return False
    place = ast.unparse(column.node.slice)
    chosen = [v.node for v in ancestors(row) if v.op == "index" and v.iterations == column.iterations]
    return any(isinstance(node, ast.Subscript) and ast.unparse(node.slice) == place for node in chosen)


def summed_per_sample(column: Value, row: Value) -> bool:
    """Return whether the column sums a network's output per sample with keepdim, and the row is a part of the data."""
    while column.op in {"+", "-"} and column.parents:
        column = max(column.parents, key=lambda part: part.op in {"sum", "mean"})
    layers = any(v.kind == Kind.MODULE and v.op in LAYERS for v in ancestors(column))
    return column.op in {"sum", "mean"} and layers and row.op in {"index", "part"} and graph_of(row) is False


def is_output(value: Value) -> bool:
    """Return whether a value has the shape in which a layer returned it."""
    if value.op in {"+", "-"}:
        return any(is_output(p) for p in value.parents)
    passes_on = value.op in {"call", "view"} or value.op in ELEMENTWISE
    return value.op in LAYERS or (passes_on and any(is_output(p) for p in value.parents[:1]))


def discounted(value: Value) -> bool:
    """Return whether a value is a sum with a term scaled by a discount factor, like the targets of Q-learning."""
    factors = traverse(value, lambda here: here.parents if here.op in {"+", "*"} else ())
    return value.op == "+" and any(isinstance(v.constant, float) and 0.8 < v.constant < 1 for v in factors)


def steep_at_zero(case: Case) -> Iterator[RuleHit]:
    """Report failure 9: the logarithm or root of what can be exactly 0, or a division by it; in where(), failure 20.
    Reports nothing if something is added before, or if no gradient goes through."""
    for event in case.events_of(EventKind.LOG, EventKind.ROOT, EventKind.DIVIDE):
        node, part = event.node, steep_input(event.node)
        value, where = zero_source(event)
        if part is None or value is None:
            continue
        change = [(part, f"({case.text.of(part)} + 1e-8)")]
        mask = mask_of(case, node)
        if node in case.in_where and value.op == "-":
            yield case.hit("steep_in_where", node, change, part=part, where=where)
        elif node in case.in_where:
            continue
        elif mask is not None and value.leaf:
            safe = f"{case.text.operand(part)}.masked_fill({case.text.of(mask)}, 1.0)"
            yield case.hit("steep_behind_mask", node, [(part, safe)], part=part, where=where)
        else:
            yield case.hit("steep_at_zero", node, change, part=part, where=where)


def zero_source(event: Event) -> tuple[Value | None, str]:
    """Return the value that makes the input of a steep function exactly 0, and where it does; None if nothing does."""
    value = event.value
    if event.kind == EventKind.LOG and value.form in {"probabilities", "relu"}:
        return (None if graph_of(value) is False else value), "for a confident network"
    reduced = value.op in {"sum", "std", "norm", "amax"} or (event.kind == EventKind.ROOT and value.op != "relu")
    if value.form == "relu" and graph_of(value) is True and reduced and event.recorded:
        return value, "where relu gives nothing but 0"
    if event.kind == EventKind.DIVIDE:
        return None, ""
    for total in (value, *value.branches):
        squares = total.parents[0] if total.op == "sum" and total.parents else Value()
        squared = squares.parents[0] if is_square(squares) else Value()
        if squared.op == "-" and graph_of(squared) is True:
            one, two = ({v for v in ancestors(side) if v.kind == Kind.MODULE} for side in squared.parents)
            if one & two or base_of_view(squared.parents[0]) is base_of_view(squared.parents[1]):
                return squared, "where the two sides are equal"
        leaf = squared if squared.leaf else total
        if leaf.leaf and graph_of(leaf) is True and holds_zero(leaf):
            return leaf, "in its first step"
    return None, ""


def steep_input(node: ast.AST) -> ast.expr | None:
    """Return the input of a root, logarithm or division: x of x**0.5, torch.pow(x, 0.5), x.sqrt(), log(x), 1 / x."""
    if isinstance(node, ast.BinOp):
        return node.right if isinstance(node.op, ast.Div) else node.left
    if not isinstance(node, ast.Call):
        return None
    given = node.args[:-1] if method(node) == "pow" else node.args
    return given[0] if given else receiver(node)


def mask_of(case: Case, node: ast.AST) -> ast.expr | None:
    """Return mask of node.masked_fill(mask, number); None if the node is used in another way."""
    calls = (call for call in case.nodes(ast.Call) if receiver(call) is node and method(call) == "masked_fill")
    return next((call.args[0] for call in calls if call.args), None)


def holds_zero(value: Value) -> bool:
    """Return whether the program writes a 0 into a tensor."""
    if Tag.WRITTEN in value.tags:
        return False
    if value.op in {"zeros", "zeros_like"}:
        return True
    if not isinstance(value.node, ast.Call) or value.op not in {"tensor", "Tensor", "FloatTensor"}:
        return False
    written = [node for part in value.node.args[:1] for node in walk(part)]
    return any(isinstance(node, ast.Constant) and node.value == 0 and node.value is not False for node in written)


def base_of_view(value: Value) -> Value:
    """Return the tensor of which a value is a view with all of its numbers: x of x.unsqueeze(0) and x[:, None]."""
    while value.parents and (value.op == "view" or (value.op == "index" and adds_axis(value.node))):
        value = value.parents[0]
    return value


def adds_axis(node: ast.expr | None) -> bool:
    """Return whether an index adds an axis."""
    parts = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else [node]
    parts = [node.slice] if isinstance(node, ast.Subscript) and len(parts) < 2 else parts
    return any(isinstance(part, ast.Constant) and part.value is None for part in parts)


def both_arms_of_where(case: Case) -> Iterator[RuleHit]:
    """Report failure 20: an arm of where() is not finite at elements that it is not chosen for.
    Reports nothing if the arm's input was made safe before, or if no gradient is known to go through it."""
    wanted = case.reached(EventKind.BACKWARD, EventKind.USED)
    for event in case.events_of(EventKind.WHERE):
        node, risky = event.node, event.detail.split()
        if not event.in_forward and event.value not in wanted:
            continue
        if not isinstance(node, ast.Call) or len(node.args) != 3 or not risky:
            continue
        for first in (True, False):
            *written, arm = arm_of_where(event, first)
            part = risky_input(arm, risky)
            if part is None:
                continue
            test, x = case.text.of(node.args[0]), case.text.of(part)
            ones = f"torch.ones_like({x})" if case.torch else "1.0"
            arms = f"{x}, {ones}" if first else f"{ones}, {x}"
            change = [(part, f"{case.text.of(node.func)}({test}, {arms})")]
            yield case.hit("both_arms_of_where", arm if written else node, change, arm=arm)
            break


STEEP = {"sqrt", "log", "rsqrt", "reciprocal", "log2", "acos", "asin"}  # their slope is infinite somewhere


def risky_input(arm: ast.expr, risky: list[str]) -> ast.expr | None:
    """Return the input of a root, logarithm, division or fractional power that where()'s condition tests.
    A power counts only if its base is known to have a graph: gamma correction of images uses one on data."""
    for node in walk(arm):
        divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        power = is_fractional_power(node)
        part = steep_input(node) if divides or power or method(node) in STEEP else None
        times = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult | ast.Sub)
        for name in walk(part) if part is not None and times else [part]:
            if isinstance(name, ast.Name) and (name.id in risky or (not power and f"{name.id}?" in risky)):
                return part
    return None


def arm_of_where(event: Event, first: bool) -> list[ast.expr]:
    """Return an arm of where() as it is written, and what made it if it is a name."""
    assert isinstance(event.node, ast.Call)
    written = event.node.args[1 if first else 2]
    made = event.value.parents[0 if first else -1].node if event.value.op == "where" else None
    return [written, made] if isinstance(written, ast.Name) and made is not None else [written]


def is_fractional_power(node: ast.AST) -> bool:
    """Return whether an exponent is written as a non-integer or as 1 over a number, so that it needs a base above 0."""
    match node:
        case ast.BinOp(op=ast.Pow(), right=ast.BinOp(op=ast.Div(), left=ast.Constant(value=1))):
            return True
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=float(power))):
            return not power.is_integer()
    return False


def integers(case: Case) -> Iterator[RuleHit]:
    """Report failure 22: integers with requires_grad or as inputs of a Linear, and float classes in cross_entropy."""
    for event in case.events_of(EventKind.INTEGER_LEAF, EventKind.INTEGER_INPUT):
        value = without(event.value, {"part", "index", "view", "clone"})
        if isinstance(node := value.node, ast.Call) and value.op in CREATORS and case.torch:
            key = "integer_leaf" if event.kind == EventKind.INTEGER_LEAF else "integer_input"
            yield case.hit(key, node, case.text.with_keyword(node, "dtype", "torch.float32"), event, value=value)
    for event in case.events_of(EventKind.LOSS):
        target = event.other
        if event.detail == "cross_entropy" and target and target.op == "float" and len(target.shape or ()) == 1:
            source = receiver(target.node)
            if source is not None and target.node is not None and case.torch:
                yield case.hit("float_classes", target.node, case.text.of(source), event, value=target)


def coarse_difference(case: Case) -> Iterator[RuleHit]:
    """Report failure 23: a finite difference written by hand, with a step that float32 cannot resolve."""
    for event in case.events_of(EventKind.DIFFERENCE) if "set_default_dtype" not in case.names else ():
        step = event.other.constant if event.other is not None else None
        single = any(v.leaf and v.op in CREATORS and v.double is False for v in ancestors(event.value, live=False))
        if isinstance(step, float) and 0 < abs(step) < MIN_STEP and single:
            yield case.hit("coarse_difference", event.node, None, step=step)


MIN_STEP = 1e-4  # the best step for float32 is about 1e-2 (central) or 3e-4 (one-sided)


def coarse_gradcheck(case: Case) -> Iterator[RuleHit]:
    """Report failure 23: a gradient check with float32 inputs. Reports nothing if float32 resolves its step."""
    for event in case.events_of(EventKind.GRADCHECK) if "set_default_dtype" not in case.names else ():
        given = argument(event.node, "eps")
        step = case.text.of(given) if given is not None else "1e-6"
        if isinstance(given, ast.Constant) and isinstance(given.value, float) and given.value >= MIN_STEP:
            continue
        for value in event.value.items if event.value.items is not None else [event.value]:
            leaf, made = value.kind == Kind.TENSOR and value.leaf and value.graph, value.node
            if leaf and value.double is False and isinstance(made, ast.Call):
                new = case.text.with_keyword(made, "dtype", "torch.float64")
                yield case.hit("coarse_gradcheck", made, new, event, value=value, step=step)


RULES = (column_and_row, steep_at_zero, both_arms_of_where, integers, coarse_difference, coarse_gradcheck)
