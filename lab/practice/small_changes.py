"""Makes wrong copies of a function with one small change: to an operator, number, name, call, condition or step."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeGuard

from lab.practice.syntax_trees import parsed, path_to, substituted, with_node_at, with_nodes

EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # that people add inside a logarithm; a check cannot see smaller ones
AXES = ("0", "1", "-1")
LEAKS = (0.01, 0.1, 0.2, 0.5)  # shares of a gradient that people let through where a mask is False

OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.FloorDiv: "//",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
OTHERS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
NOT_COMMUTATIVE = (ast.Sub, ast.Div, ast.Pow, ast.MatMult)
METHODS = {
    "sum": ("mean",),
    "mean": ("sum",),
    "max": ("min",),
    "maximum": ("minimum",),
    "log": ("exp", "log2", "log10"),
    "exp": ("log",),
    "tanh": ("relu", "sigmoid"),
    "relu": ("tanh", "sigmoid"),
    "sigmoid": ("tanh", "relu"),
}
SIBLINGS = {"data": "grad", "grad": "data"}  # attributes that people confuse


def changed_once(function: ast.FunctionDef, owned: Callable[[ast.AST], bool]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield copies of a function with one small change, each with words that follow "it gives what it would give".

    owned   tells whether a node belongs to the lines that may change

    A `while` never changes, as it might then loop forever.
    """
    fixed = {id(node) for loop in ast.walk(function) if isinstance(loop, ast.While) for node in ast.walk(loop)}
    fixed |= {id(number) for node in ast.walk(function) if (number := _below_minus(node))}  # -1 changes as one number
    mine = [node for node in ast.walk(function) if node is not function and id(node) not in fixed and owned(node)]
    defaults = _defaults(function)
    for node in mine:
        for words, other in _replacements(node, defaults):
            yield words, with_nodes(function, (node, other))
    for name, value in defaults.items():
        always = {f"with `{axis}` where `axis` belongs": axis for axis in AXES} if name == "axis" else {}
        for words, text in {f"if `{name}` were ignored": ast.unparse(value), **always}.items():
            line = ast.Assign([ast.Name(name, ast.Store())], parsed(text), lineno=0)
            yield words, _with_body(function, function, [line, *function.body])
    for node in ast.walk(function):
        if isinstance(node, (ast.FunctionDef, ast.For, ast.If, ast.With)) and all(owned(each) for each in node.body):
            for words, body in _other_orders(node.body):
                yield words, _with_body(function, node, body)
    for words, old, new in _other_names(function, mine):
        yield words, with_nodes(function, (old, new))


def _other_names(function: ast.FunctionDef, mine: Sequence[ast.AST]) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Yield replacements of a variable of the function by another, or of a class by another: words, old, new."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    variables = [node.arg for node in ast.walk(function) if isinstance(node, ast.arg)]
    variables += [node.id for node in names if isinstance(node.ctx, ast.Store)]
    classes = [node.id for node in names if node.id[0].isupper()]
    for node in mine:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != "self":
            for other in dict.fromkeys(variables if node.id in variables else classes if node.id in classes else ()):
                if other != node.id:
                    yield f"with `{other}` where `{node.id}` belongs", node, ast.Name(other, ast.Load())
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "len":
            for other in ("2", *dict.fromkeys(variables)):
                yield f"with `{other}` where `{ast.unparse(node)}` belongs", node, parsed(other)


def _with_body(function: ast.FunctionDef, node: ast.stmt, body: list[ast.stmt]) -> ast.FunctionDef:
    """Copy a function with the body of one of its statements, or its own, replaced."""
    changed = copy.copy(node)
    setattr(changed, "body", body or [ast.Pass()])  # noqa: B010 (a statement in general has no body)
    copied = with_node_at(function, path_to(function, node), changed) if node is not function else changed
    assert isinstance(copied, ast.FunctionDef)
    return copied


def _other_orders(body: list[ast.stmt]) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield bodies with two steps swapped, a step moved into or out of a loop or closure, or a `return` in the loop."""
    for place, (one, next_one) in enumerate(itertools.pairwise(body)):
        if not isinstance(one, ast.FunctionDef):
            swapped = [*body[:place], next_one, one, *body[place + 2 :]]
            yield "if two of its steps came in the other order", swapped
    for place, inner in enumerate(body):
        if not isinstance(inner, ast.FunctionDef):
            continue
        for at, step in enumerate(inner.body):
            if isinstance(step, ast.Assign):
                later = copy.copy(inner)
                later.body = [*inner.body[:at], *inner.body[at + 1 :]]
                words = f"if `{ast.unparse(step)}` came once, on the way forward"
                yield words, [*body[:place], step, later, *body[place + 1 :]]
    for place, loop in enumerate(body):
        if not isinstance(loop, ast.For):
            continue
        before, after = body[:place], body[place + 1 :]
        for at, step in enumerate(loop.body):
            rest = _loop(loop, [*loop.body[:at], *loop.body[at + 1 :]])
            yield "if a step of its loop came once, before the loop", [*before, step, rest, *after]
            yield "if a step of its loop came once, after the loop", [*before, rest, step, *after]
        for at, step in enumerate(before):
            if isinstance(step, (ast.Assign, ast.AugAssign)):
                words = f"if `{ast.unparse(step)}` came in each iteration of its loop"
                for turn in ([step, *loop.body], _inside_condition(step, loop.body)):
                    yield words, [*before[:at], *before[at + 1 :], _loop(loop, turn), *after]
        if after and isinstance(after[0], ast.Return):
            yield (
                "if it returned in the first iteration of its loop",
                [*before, _loop(loop, [*loop.body, after[0]]), *after],
            )


def _inside_condition(step: ast.stmt, body: list[ast.stmt]) -> list[ast.stmt]:
    """Put a step first inside the condition that makes up the body of a loop, or else last in the body."""
    if len(body) == 1 and isinstance(body[0], ast.If):
        return [ast.If(body[0].test, [step, *body[0].body], body[0].orelse)]
    return [*body, step]


def _loop(loop: ast.For, body: list[ast.stmt]) -> ast.For:
    return ast.For(loop.target, loop.iter, body or [ast.Pass()], [], lineno=0)


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return the default of each argument that has one."""
    arguments = function.args
    with_default = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    return {one.arg: default for one, default in zip(with_default, arguments.defaults, strict=True)}


def _replacements(node: ast.AST, defaults: dict[str, ast.expr]) -> Iterator[tuple[str, ast.AST]]:
    """Yield wrong replacements of a node, each with the words for it."""
    if isinstance(node, ast.BinOp):
        yield from _without_parentheses(node)
        yield from _other_operations(node)
    elif isinstance(node, ast.Compare):
        yield from _other_comparisons(node)
    elif isinstance(node, ast.BoolOp):
        for test in node.values:
            yield "with one of two conditions alone", test
    elif isinstance(node, ast.For):
        yield from _shorter_loops(node)
    elif isinstance(node, ast.ListComp):
        again = ast.ListComp(ast.Constant(0), node.generators)
        repeated = ast.BinOp(ast.List([node.elt], ast.Load()), ast.Mult(), parsed(f"len({ast.unparse(again)})"))
        yield "if all items of a list were one and the same", repeated
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            rest = [each for each in node.ifs if each is not test]
            yield "if a condition in it were always true", ast.comprehension(node.target, node.iter, rest, 0)
    elif isinstance(node, ast.AugAssign):
        yield (
            "if a step in it went the other way: its sign is wrong",
            ast.AugAssign(node.target, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.value),
        )
        yield "with `=` where `+=` or `-=` belongs", ast.Assign([node.target], node.value, lineno=0)
    elif number := _below_minus(node):
        yield from _other_constants(-number.value)
    elif isinstance(node, ast.UnaryOp):
        words = "without a minus sign" if isinstance(node.op, ast.USub) else "if a condition in it were reversed"
        yield words, node.operand
    elif isinstance(node, ast.IfExp):
        yield "if a condition in it were reversed", ast.IfExp(node.test, node.orelse, node.body)
        yield "if a condition in it were always true", node.body
        yield "if a condition in it were always false", node.orelse
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node.value)
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)
    elif isinstance(node, ast.Name) and node.id in defaults and isinstance(node.ctx, ast.Load):
        yield f"if `{node.id}` were ignored", defaults[node.id]
    elif isinstance(node, ast.Starred):
        yield "without a `*`", node.value
    elif isinstance(node, ast.Return) and node.value is not None:
        yield "without `return`: it ends with None", ast.Expr(node.value)
        if isinstance(node.value, ast.Name):
            for which, place in (("first", "0"), ("last", "-1")):
                part = parsed(f"{node.value.id}[{place}]")
                yield f"if it returned the {which} item alone", ast.Return(part)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        yield from _other_indices(node, node.slice.elts)
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "if a matrix in it were not transposed", node.value
    elif isinstance(node, ast.Attribute) and node.attr in SIBLINGS and isinstance(node.ctx, ast.Load):
        other = SIBLINGS[node.attr]
        yield f"with `{other}` where `{node.attr}` belongs", ast.Attribute(node.value, other, ast.Load())
    elif isinstance(node, ast.Assign) and ast.unparse(node.value).endswith(".data"):
        for epsilon in EPSILONS:
            moved = ast.BinOp(node.value, ast.Add(), ast.Constant(epsilon))
            yield f"with {epsilon:g} added to its input", ast.Assign(node.targets, moved, lineno=0)
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.If)):
        yield "if one of its steps were missing", ast.Pass()
    if isinstance(node, ast.If):
        yield "if a condition in it were always true", ast.If(ast.Constant(True), node.body, node.orelse)


def _other_comparisons(node: ast.Compare) -> Iterator[tuple[str, ast.expr]]:
    for other in OTHERS.get(type(node.ops[0]), ()):
        if issubclass(other, ast.cmpop):
            words = f"with `{OPERATORS[other]}` where `{OPERATORS[type(node.ops[0])]}` belongs"
            yield words, ast.Compare(node.left, [other()], node.comparators)
    if isinstance(node.ops[0], ast.IsNot):
        yield "if 0 and an empty tuple counted as None", node.left
    for constant in (True, False):
        yield f"if a condition in it were always {str(constant).lower()}", ast.Constant(constant)
    if isinstance(node.ops[0], ast.Gt):  # a mask
        yield from _leaks(node)


def _leaks(node: ast.Compare) -> Iterator[tuple[str, ast.expr]]:
    """Yield masks with something other than 0 where the comparison is False."""
    for leak in LEAKS:
        mask = ast.BinOp(ast.BinOp(ast.Constant(1 - leak), ast.Mult(), node), ast.Add(), ast.Constant(leak))
        yield f"if it let {leak:g} of the gradient through where nothing should pass", mask
    yield "if it changed the sign where nothing should pass", parsed(f"2 * ({ast.unparse(node)}) - 1")


def _other_indices(node: ast.Subscript, indices: list[ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    """Yield an indexing with the indices in another order, one left out, or one replaced by `:`."""
    others = [("in another order", indices[::-1])]
    for place in range(len(indices)):
        before, after = indices[:place], indices[place + 1 :]
        others += [("with one left out", [*before, *after]), ("with `:` for one", [*before, ast.Slice(), *after])]
    for words, rest in others:
        index = ast.Tuple(rest, ast.Load()) if len(rest) > 1 else rest[0]
        yield f"if the indices of an array came {words}", ast.Subscript(node.value, index, node.ctx)


def _shorter_loops(node: ast.For) -> Iterator[tuple[str, ast.stmt]]:
    used = {each.id for step in node.body for each in ast.walk(step) if isinstance(each, ast.Name)}
    counts = not used & {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}  # any one may lack
    turns = {"without the first iteration of a loop": "1:", "without the last iteration of a loop": ":-1"}
    if counts:
        turns = {"with one iteration of a loop too few": "1:"}
    for words, part in (*turns.items(), ("with the first iteration of a loop alone", ":1")):
        shorter = parsed(f"list({ast.unparse(node.iter)})[{part}]")
        yield words, ast.For(node.target, shorter, node.body, [], lineno=0)
    if len(node.body) == 1 and isinstance(condition := node.body[0], ast.If):
        stop = ast.If(ast.UnaryOp(ast.Not(), condition.test), [ast.Break()], [])
        yield (
            f"if its loop ended where `{ast.unparse(condition.test)}` does not hold",
            _loop(node, [stop, *condition.body]),
        )


def _without_parentheses(node: ast.BinOp) -> Iterator[tuple[str, ast.expr]]:
    """Yield expressions without a pair of parentheses, as `a - b * c` for `(a - b) * c`, also with swapped factors."""
    words = "without a pair of parentheses"
    left, right = (side if _is_sum(side) else None for side in (node.left, node.right))
    if left and isinstance(node.op, (ast.Mult, ast.Div)):
        yield words, ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, node.right))
        if isinstance(node.op, ast.Mult):
            yield words, ast.BinOp(ast.BinOp(node.right, node.op, left.left), left.op, left.right)
    if right and isinstance(node.op, (ast.Mult, ast.Div, ast.Pow)):
        yield words, ast.BinOp(ast.BinOp(node.left, node.op, right.left), right.op, right.right)
        if isinstance(node.op, ast.Mult):
            yield words, ast.BinOp(right.left, right.op, ast.BinOp(right.right, node.op, node.left))


def _is_sum(node: ast.expr) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))


def _other_operations(node: ast.BinOp) -> Iterator[tuple[str, ast.expr]]:
    sign = OPERATORS[type(node.op)]
    for side in (node.left, node.right):
        if isinstance(side, ast.Name) and side.id == "n":  # the exponent, a rule's only argument that is a number
            less = ast.BinOp(side, ast.Sub(), ast.Constant(1))
            yield "with `n - 1` where `n` belongs", substituted(node, side, less)
    for other in OTHERS.get(type(node.op), ()):
        if issubclass(other, ast.operator):
            yield f"with `{OPERATORS[other]}` where `{sign}` belongs", ast.BinOp(node.left, other(), node.right)
            if issubclass(other, ast.Sub):
                yield f"with `-` where `{sign}` belongs", ast.BinOp(node.right, other(), node.left)
    if isinstance(node.op, NOT_COMMUTATIVE):
        yield f"if the two sides of `{sign}` were exchanged", ast.BinOp(node.right, node.op, node.left)
    what = {ast.Mult: "a factor", ast.Add: "a term", ast.Sub: "a term", ast.Pow: "an exponent"}.get(type(node.op), "")
    if what:
        yield f"without {what}: one side of `{sign}` is missing", node.left
    if isinstance(node.op, (ast.Mult, ast.Add, ast.Sub)):
        yield f"without {what}: one side of `{sign}` is missing", node.right
    if isinstance(node.op, ast.Div):
        yield "without a division", node.left


def _below_minus(node: ast.AST) -> Any:
    """Return the constant in a node such as -1, None in any other node."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return node.operand
    return None


def _other_constants(number: Any) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(number, bool):
        yield f"with `{not number}` where `{number}` belongs", ast.Constant(not number)
    elif isinstance(number, (int, float)):
        tenths = {number * 10, number / 10} if isinstance(number, float) else set()
        if isinstance(number, float):
            yield f"with {int(number)} where {number} belongs", ast.Constant(int(number))
        for other in {number + 1, number - 1, -number, 0, 1, 2, *tenths} - {number}:
            yield f"with {other:g} where {number:g} belongs", ast.Constant(type(number)(other))


def _other_calls(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    if isinstance(node.func, ast.Attribute):
        for method in METHODS.get(name, ()):
            other = ast.Attribute(node.func.value, method, ast.Load())
            yield f"with `{method}` where `{name}` belongs", ast.Call(other, node.args, node.keywords)
    if name == "log" and node.args:
        for epsilon in EPSILONS:
            moved = ast.BinOp(node.args[0], ast.Add(), ast.Constant(epsilon))
            yield f"with {epsilon:g} added inside the logarithm", ast.Call(node.func, [moved], [])
    if len(node.args) == 1 and not node.keywords:
        yield f"without `{name}`", node.args[0]
    elif isinstance(node.func, ast.Attribute) and not node.args:
        yield f"without `{name}`", node.func.value
        if isinstance(infix := node.func.value, ast.BinOp):
            early = ast.Call(ast.Attribute(infix.left, name, ast.Load()), [], [])
            yield f"with `{name}` before `{OPERATORS[type(infix.op)]}`", ast.BinOp(early, infix.op, infix.right)
    elif len(node.args) > 1:
        for given in node.args:
            yield f"without `{ast.unparse(node.func)}`", given
    if len(node.args) and isinstance(inner := node.args[0], ast.Call) and inner.args:
        nested = ast.Call(node.func, [inner.args[0], *node.args[1:]], node.keywords)
        yield (
            "if two of its operations came in the other order",
            ast.Call(inner.func, [nested, *inner.args[1:]], inner.keywords),
        )
    if [keyword.arg for keyword in node.keywords] == ["axis"]:
        keeping = ast.keyword("keepdims", ast.Constant(True))
        yield "with `keepdims=True` in a call", ast.Call(node.func, node.args, [*node.keywords, keeping])
    for given in (*node.args, *(keyword.value for keyword in node.keywords)):
        if isinstance(given, ast.Name) and given.id == "axis":
            for axis in AXES:
                yield f"with `{axis}` where `axis` belongs", substituted(node, given, parsed(axis))
    for keyword in node.keywords:
        others = [each for each in node.keywords if each is not keyword]
        if keyword.arg is not None:
            yield f"without `{keyword.arg}=` in a call", ast.Call(node.func, node.args, others)
