"""Rules about numbers: shapes that broadcast by mistake, logarithms and roots of 0, integers, precision."""

import ast
from collections.abc import Iterator

from lab.failures.analysis.effects import BOUNDED, ELEMENTWISE
from lab.failures.analysis.facts import (
    BROADCASTING_LOSSES,
    CREATORS,
    LAYERS,
    Value,
    column_against_row,
    graph_of,
    is_square,
    reach,
    without,
)
from lab.failures.analysis.kinds import Act, Kind, Tag
from lab.failures.analysis.program import Event
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.rules.cuts import discounted
from lab.failures.analysis.syntax import argument, inside, method, names_in, receiver
from lab.failures.analysis.work import walk


def column_and_row(case: Case) -> Iterator[RuleHit]:
    """Report failure 8: (N, 1) is combined with (N,). Reports nothing if one of the shapes is unknown."""
    for event in case.events_of(Act.LOSS, Act.SUBTRACT):
        if event.other is None or (event.kind == Act.LOSS and event.detail not in BROADCASTING_LOSSES):
            continue
        column = column_against_row(event.value, event.other)
        if column is None:  # broadcasting leaves only the last axis known
            pair = ((event.value, event.other), (event.other, event.value))
            tall = [c for c, row in pair if c.shape is not None and c.shape[1:] == (1,) and Tag.ROW in row.tags]
            column = next((c for c in tall if c.shape != (1, 1) and (event.kind == Act.LOSS or c.op == "gather")), None)
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
        if event.kind == Act.SUBTRACT and each_with_each(event, column, other):
            continue
        if event.detail == "*" and (not is_output(column) or {event.value.graph, event.other.graph} != {True, False}):
            continue
        n = column.shape[0] or "N"
        taken = column.statement.value if isinstance(column.statement, ast.Assign) else None
        place = part
        if taken is not None and column.node is taken and column.op in {"gather", "view"}:
            node = place = taken  # where the program made it a column
        key = "table_of_products" if event.detail == "*" else "table_of_differences"
        yield case.hit(key, node, [(place, f"{case.text.operand(place)}.squeeze(1)")], column=part, row=row, n=n)


def each_with_each(event: Event, column: Value, row: Value) -> bool:
    """Tell whether a difference may have two axes on purpose, to compare each number with each."""
    reshaped_here = column.op in {"view", "index"} and inside(event.node, column.node)  # a[:, None] - b
    views_of_one = without(row, {"view"}) is without(column, {"view"})  # s - s.squeeze(1)
    own_parameter = row.leaf and row.graph  # such as centres that each sample is compared with
    if reshaped_here or views_of_one or own_parameter:
        return True
    sizes_known = None not in {*(column.shape or ()), *(row.shape or (None,))}
    meant = sizes_known or is_output(column) or summed_per_sample(column, row) or same_batch(column, row)
    return not (meant or (column.op == "gather" and discounted(row)))


def same_batch(column: Value, row: Value) -> bool:
    """Tell whether the row is a layer's output for the samples that the column belongs to.
    Those are the samples of one batch of a loader, or those at the same indices."""
    if not is_output(row):
        return False
    if column.op == "part":
        return any(v.op == "part" and v is not column and v.turns == column.turns and v.turns for v in reach(row))
    if column.op != "index" or not isinstance(column.node, ast.Subscript):
        return False
    place = ast.unparse(column.node.slice)
    chosen = [v.node for v in reach(row) if v.op == "index" and v.turns == column.turns]
    return any(isinstance(node, ast.Subscript) and ast.unparse(node.slice) == place for node in chosen)


def summed_per_sample(column: Value, row: Value) -> bool:
    """Tell whether the column sums a network's output per sample with keepdim, and the row is a part of the data."""
    while column.op in {"+", "-"} and column.parents:
        column = max(column.parents, key=lambda part: part.op in {"sum", "mean"})
    layers = any(v.kind == Kind.MODULE and v.op in LAYERS for v in reach(column))
    return column.op in {"sum", "mean"} and layers and row.op in {"index", "part"} and graph_of(row) is False


def is_output(value: Value) -> bool:
    """Tell whether a value has the shape in which a layer returned it."""
    if value.op in {"+", "-"}:
        return any(is_output(p) for p in value.parents)
    passes_on = value.op in {"call", "view"} or value.op in ELEMENTWISE
    return value.op in LAYERS or (passes_on and any(is_output(p) for p in value.parents[:1]))


def log_of_zero(case: Case) -> Iterator[RuleHit]:
    """Report failure 9: the logarithm of what can be exactly 0. Reports nothing with an epsilon or a clamp.
    A logarithm that no gradient goes through does not count either, nor one in where(), see both_arms_of_where."""
    lines: dict[int, list[ast.expr]] = {}
    for event in case.events_of(Act.LOG):
        node = event.node
        part = under_the_root(node)
        risky = event.value.form in {"probabilities", "relu"} and graph_of(event.value) is not False
        if isinstance(node, ast.Call) and part is not None and risky and node not in case.in_where:
            parts = lines.setdefault(node.lineno, [])
            parts += [part] if part not in parts else []
    for parts in lines.values():
        limit = ".clamp(min=1e-8)" if case.torch else ".clip(1e-8, 1.0)"
        yield case.hit("log_of_zero", parts[0], [(part, case.text.operand(part) + limit) for part in parts])


def divided_by_zero(case: Case) -> Iterator[RuleHit]:
    """Report failure 9: a division by a sum, std or norm of relu outputs, or their root: both may be exactly 0."""
    for event in case.events_of(Act.DIVIDE, Act.ROOT):
        node, what = event.node, event.value
        root = event.kind == Act.ROOT
        part = under_the_root(node) if root else node.right if isinstance(node, ast.BinOp) else None
        reduced = what.op in {"sum", "std", "norm", "amax"} or (root and what.op != "relu")
        zero = what.form == "relu" and graph_of(what) is True and reduced and node not in case.in_where
        if zero and part is not None and event.recorded:
            key = "root_of_relu" if root else "divided_by_relu"
            yield case.hit(key, node, [(part, f"({case.text.of(part)} + 1e-8)")], part=part)


def root_of_zero(case: Case) -> Iterator[RuleHit]:
    """Report failure 9: the distance of two outputs of one network, which is 0 for two equal inputs.
    Reports nothing if something is added under the root."""
    for event in case.events_of(Act.ROOT):
        differences = [squared_difference(total) for total in (event.value, *event.value.branches)]
        difference = next((d for d in differences if d.op == "-" and graph_of(d) is True), None)
        if difference is None:
            continue
        one, two = ({v for v in reach(side) if v.kind == Kind.MODULE} for side in difference.parents)
        pairs = base_of_view(difference.parents[0]) is base_of_view(difference.parents[1])
        part = under_the_root(event.node)
        if (one & two or pairs) and part is not None:
            chosen = event.node in case.in_where
            where = "for a point and itself" if pairs else "where the two outputs are equal"
            key = "root_of_difference_in_where" if chosen else "root_of_difference"
            yield case.hit(key, event.node, [(part, f"({case.text.of(part)} + 1e-12)")], part=part, where=where)


def under_the_root(node: ast.AST) -> ast.expr | None:
    """Return the argument of a root or a logarithm: x of x**0.5, x.pow(0.5), torch.pow(x, 0.5), x.sqrt(),
    torch.log(x)."""
    if isinstance(node, ast.BinOp):
        return node.left
    if not isinstance(node, ast.Call):
        return None
    given = node.args[:-1] if ast.unparse(node.func).endswith(".pow") else node.args
    return given[0] if given else receiver(node)


def squared_difference(total: Value) -> Value:
    """Return what is squared in a sum of squares; an empty value for anything else."""
    squares = total.parents[0] if total.op == "sum" and total.parents else Value()
    return squares.parents[0] if squares.parents and is_square(squares) else Value()


def zero_leaf(case: Case) -> Iterator[RuleHit]:
    """Report failure 9: the root or logarithm of a leaf with an exact 0 in it, or the norm of a leaf of zeros.
    Reports failure 20 before masked_fill, and nothing under where() or for a leaf without requires_grad."""
    for event in case.events_of(Act.ROOT, Act.LOG):
        value, node = event.value, event.node
        squares = value.parents[0] if value.op == "sum" and value.parents else Value()
        if squares.op in {"**", "pow", "square", "*"} and squares.parents[0].op in {"zeros", "zeros_like"}:
            value = squares.parents[0]
        part = under_the_root(node)
        leaf = value.leaf and graph_of(value) is True and holds_zero(value)
        if not leaf or part is None or node in case.in_where:
            continue
        what, mask = "root" if event.kind == Act.ROOT else "logarithm", mask_of(case, node)
        if mask is None:
            key, safe = "zero_in_a_leaf", f"({case.text.of(part)} + 1e-12)"
        else:
            key, safe = "zero_behind_a_mask", f"{case.text.operand(part)}.masked_fill({case.text.of(mask)}, 1.0)"
        yield case.hit(key, node, [(part, safe)], leaf=value, what=what)


def mask_of(case: Case, node: ast.AST) -> ast.expr | None:
    """Return mask of node.masked_fill(mask, number); None if the node is used in another way."""
    for call in case.nodes(ast.Call):
        if receiver(call) is node and call.args:
            return call.args[0] if method(call) == "masked_fill" else None
    return None


def holds_zero(value: Value) -> bool:
    """Tell whether the program writes a 0 into a tensor."""
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
    """Tell whether an index keeps every element and adds an axis."""
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    new = [part for part in parts if isinstance(part, ast.Constant) and part.value is None]
    whole = [p for p in parts if isinstance(p, ast.Slice) and p.lower is p.upper is p.step is None]
    return bool(new) and len(new) + len(whole) == len(parts)


def both_arms_of_where(case: Case) -> Iterator[RuleHit]:
    """Report failure 20: an arm of where() is not finite at elements that it is not chosen for.
    Reports nothing if the arm's input was made safe before, or if no gradient is known to go through it."""
    wanted = case.reached(Act.BACKWARD, Act.USED)
    for event in case.events_of(Act.WHERE):
        node = event.node
        if not event.in_forward and event.value not in wanted:
            continue
        risky = event.detail.split()
        if not isinstance(node, ast.Call) or len(node.args) != 3 or not risky:
            continue
        for first in (True, False):
            *written, arm = arm_of_where(event, first)
            node = arm if written else node
            part = risky_input(arm, risky) or sum_under_root(event, arm, arm_of_where(event, not first))
            if part is None:
                continue
            choice = event.node
            assert isinstance(choice, ast.Call)
            test, x = case.text.of(choice.args[0]), case.text.of(part)
            ones = f"torch.ones_like({x})" if case.torch else "1.0"
            word = case.text.of(choice.func)
            safe = f"{word}({test}, {x}, {ones})" if first else f"{word}({test}, {ones}, {x})"
            yield case.hit("both_arms_of_where", node, [(part, safe)], arm=arm)
            break


STEEP = {"sqrt", "log", "rsqrt", "reciprocal", "log2", "acos", "asin"}  # their slope is infinite somewhere


def risky_input(arm: ast.expr, risky: list[str]) -> ast.expr | None:
    """Return the input of a root, logarithm, division or fractional power that where()'s condition tests.
    A power counts only if its base is known to have a graph: gamma correction of images uses one on data."""
    for node in walk(arm):
        part: ast.expr | None = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            part = node.right
        elif is_fractional_power(node) or method(node) in STEEP:
            part = under_the_root(node)
        times = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult | ast.Sub)
        for name in walk(part) if part is not None and times else [part]:
            if isinstance(name, ast.Name) and (
                name.id in risky or (not is_fractional_power(node) and f"{name.id}?" in risky)
            ):
                return part
    return None


def arm_of_where(event: Event, first: bool) -> list[ast.expr]:
    """Return an arm of where() as it is written, and what made it if it is a name."""
    assert isinstance(event.node, ast.Call)
    written = event.node.args[1 if first else 2]
    made = event.value.parents[0 if first else -1].node if event.value.op == "where" else None
    return [written, made] if isinstance(written, ast.Name) and made is not None else [written]


ROOTS = {"sqrt", "rsqrt", "log", "log2", "log10", "log1p"}  # not finite for any number below some limit


def sum_under_root(event: Event, arm: ast.expr, others: list[ast.expr]) -> ast.expr | None:
    """Return z + c of sqrt(z + c) in an arm for z > 0, if the other arm is computed from z, too: z has both signs.
    Without that the sum is a guard: of a squared distance, which is never below 0."""
    tested = event.other or Value()
    name = compared_with_zero(tested.node)
    number = next((part for part in tested.parents if part.kind != Kind.NUMBER), Value())
    used = any(name in names_in(other) for other in others)
    if not name or name not in event.detail.split() or not used or not both_signs(number):
        return None
    for node in walk(arm):
        part = under_the_root(node) if method(node) in ROOTS or is_fractional_power(node) else None
        if part is not None and is_linear(part, name):
            return part
    return None


def compared_with_zero(test: ast.expr | None) -> str:
    """Return z of z > 0 or 0 >= z; empty for any other expression."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE):
        return ""
    sides = [test.left, *test.comparators]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    zeros = [side for side in sides if isinstance(side, ast.Constant) and side.value == 0]
    return names[0] if len(sides) == 2 and names and zeros else ""


def is_linear(node: ast.expr, name: str) -> bool:
    """Tell whether an expression is a name, with a sign, multiplied by something else, or added to it."""
    if isinstance(node, ast.UnaryOp):
        return is_linear(node.operand, name)
    if not isinstance(node, ast.BinOp):
        return isinstance(node, ast.Name) and node.id == name
    inside = [any(getattr(n, "id", "") == name for n in walk(side)) for side in (node.left, node.right)]
    known = isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
    return known and sum(inside) == 1 and is_linear(node.left if inside[0] else node.right, name)


ONE_SIGN = {"**", "pow", "square", "abs", "norm", "vector_norm", "cdist", "pairwise_distance", "var", "std", "exp"}
WITHIN_ONE = {"tanh", "sin", "cos", "sigmoid", "softmax", "erf", "hardtanh", "normalize", "cosine_similarity"}


def both_signs(value: Value) -> bool:
    """Tell whether a value may be any number, as far as its operation shows; a sum of squares is not below 0."""
    value = without(value, {"sum", "mean", "view", "index", "clone"})
    squared = value.op == "*" and value.parents[0] is value.parents[-1]
    if value.op == "+":
        return any(both_signs(part) for part in value.parents if part.kind != Kind.NUMBER)
    limited = value.op in ONE_SIGN | WITHIN_ONE | BOUNDED or value.form in {"relu", "probabilities"}
    return not (squared or limited)


def is_fractional_power(node: ast.AST) -> bool:
    """Tell whether an exponent is written as a non-integer or as 1 over a number, so that it needs a base above 0."""
    match node:
        case ast.BinOp(op=ast.Pow(), right=ast.BinOp(op=ast.Div(), left=over)):
            return isinstance(over, ast.Constant) and over.value == 1
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=float(power))):
            return not power.is_integer()
    return False


def float_classes(case: Case) -> Iterator[RuleHit]:
    """Report failure 22: class labels made floats for cross_entropy."""
    for event in case.events_of(Act.LOSS):
        target = event.other
        if event.detail != "cross_entropy" or target is None or target.op != "float" or len(target.shape or ()) != 1:
            continue
        if (source := receiver(target.node)) is not None and target.node is not None and case.torch:
            yield case.hit("float_classes", target.node, case.text.of(source), event, value=target)


def integers(case: Case) -> Iterator[RuleHit]:
    """Report failure 22: integers with requires_grad, or integers as inputs of a Linear."""
    for event in case.events_of(Act.INTEGER_LEAF, Act.INTEGER_INPUT):
        value = without(event.value, {"part", "index", "view", "clone"})
        if isinstance(node := value.node, ast.Call) and value.op in CREATORS and case.torch:
            key = "integer_leaf" if event.kind == Act.INTEGER_LEAF else "integer_input"
            yield case.hit(key, node, case.text.with_keyword(node, "dtype", "torch.float32"), event, value=value)


def coarse_difference(case: Case) -> Iterator[RuleHit]:
    """Report failure 23: a finite difference written by hand, with a step that float32 cannot resolve."""
    if "set_default_dtype" in case.names:
        return
    for event in case.events_of(Act.DIFFERENCE):
        step = event.other.constant if event.other is not None else None
        if not isinstance(step, float) or not 0 < abs(step) < MIN_STEP or not isinstance(event.node, ast.BinOp):
            continue
        behind = [v for v in reach(event.value, live=False) if v.leaf]
        calls = [v.node for v in behind if isinstance(v.node, ast.Call)]
        chosen = next((place for call in calls if (place := chosen_precision(call, case)) is not None), None)
        made = next((v.node for v in behind if v.op in CREATORS and v.double is False and v.node in calls), None)
        written = written_step(event.node.right, step, case)
        if chosen is not None:
            double = case.text.of(chosen).replace("float32", "float64")
            yield case.hit("coarse_difference_of_dtype", chosen, double, event, step=step)
        elif written is not None and made is not None:
            yield case.hit("coarse_step", written, "1e-3", event, step=step)
        elif isinstance(made, ast.Call):
            change = [(made, case.text.with_keyword(made, "dtype", "torch.float64"))]
            yield case.hit("coarse_difference", event.node, change, step=step)


def chosen_precision(made: ast.Call, case: Case) -> ast.expr | None:
    """Return where float32 is written for a tensor: its dtype argument, or the value or default of the name there."""
    given = argument(made, "dtype")
    if isinstance(given, ast.Name):
        given = next(iter(case.values_of(given)), None)
    return given if given is not None and ast.unparse(given).endswith("float32") else None


def written_step(divisor: ast.expr, step: float, case: Case) -> ast.expr | None:
    """Return where the number of a step, or of half of it, is written: as a default, or as the value of a name."""
    names = [node for node in walk(divisor) if isinstance(node, ast.Name)]
    numbers = [number for name in names for number in case.values_of(name) if isinstance(number, ast.Constant)]
    return next((number for number in numbers if number.value in (step, step / 2)), None)


MIN_STEP = 1e-4  # the best step for float32 is about 1e-2 (central) or 3e-4 (one-sided)


def coarse_gradcheck(case: Case) -> Iterator[RuleHit]:
    """Report failure 23: a gradient check with float32 inputs. Reports nothing if float32 resolves its step."""
    if "set_default_dtype" in case.names:
        return
    for event in case.events_of(Act.GRADCHECK):
        given = argument(event.node, "eps")
        step = case.text.of(given) if given is not None else "1e-6"
        if isinstance(given, ast.Constant) and isinstance(given.value, float) and given.value >= MIN_STEP:
            continue
        for value in event.value.items if event.value.items is not None else [event.value]:
            leaf, made = value.kind == Kind.TENSOR and value.leaf and value.graph, value.node
            if leaf and value.double is False and isinstance(made, ast.Call):
                place = chosen_precision(made, case)
                double = case.text.of(place).replace("float32", "float64") if place is not None else ""
                new = double or case.text.with_keyword(made, "dtype", "torch.float64")
                yield case.hit("coarse_gradcheck", place or made, new, event, value=value, step=step)


RULES = (
    column_and_row,
    log_of_zero,
    root_of_zero,
    divided_by_zero,
    zero_leaf,
    both_arms_of_where,
    integers,
    float_classes,
    coarse_difference,
    coarse_gradcheck,
)
