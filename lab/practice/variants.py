"""Wrong variants of a course's reference, made by rule from its own lines: what a learner's answers are compared with.

A *rule* is a function that sends messages: `self.grad += ...`, `self._receive(...)`, or the tuple that `backward`
returns. Each message has its usual mistakes, for one operand or for several at once. What remains is the reference with
one small thing changed. The mistakes that need a sentence of their own stand with their tasks (practice/).
"""

from __future__ import annotations

import ast
import copy
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from practice.task import Ladder, Mistake, Task

SIGNS = {"__add__": "+", "__mul__": "*", "__pow__": "**", "__matmul__": "@", "__sub__": "-", "__truediv__": "/"}
ORDINALS = ("first", "second", "third")
MAX_SUBSETS = 6  # messages of which every subset is tried; of more, only each one, each rule and all
EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # that people add inside a logarithm; a check does not see less


@dataclass(frozen=True)
class Message:
    """One message of a rule.

    statement   what sends it, in the function; for a tuple that is returned, the `return`
    expression  what is sent
    operand     the name of who receives it
    place       its place in the returned tuple; None for a statement of its own
    """

    statement: ast.stmt
    expression: ast.expr
    operand: str
    place: int | None = None


@dataclass(frozen=True)
class Rule:
    """A function of the reference that sends messages.

    name      what the learner calls the operation: "*", "tanh", "MatMul"
    function  it, or another right way to write it
    place     the function of the reference in whose place a variant of it is put
    """

    name: str
    function: ast.FunctionDef
    messages: tuple[Message, ...]
    place: ast.FunctionDef


def variants(ladder: Ladder, task: Task) -> Iterator[Mistake]:
    """Wrong variants for the lines of a task, the likelier ones first, none of them like the reference."""
    source = _Source(ladder)
    rules = source.rules()
    own = [rule for rule in rules if source.owner(rule.function.lineno) == task.key]
    yield from _overwriting(source, rules[: 1 + rules.index(own[-1])] if own else _before(source, rules, task))
    for rule in (*own, *source.other_ways(task)):
        yield from _mistaken_messages(source, rule)
    for function in source.functions(task.key):
        yield from _other_nodes(source, function)
        yield from _detached(source, function)
        yield from _changed_once(source, function, task.key)


# -- The reference -----------------------------------------------------------------------------------------------------


class _Source:
    """The text of a reference, its functions, and whose task each of its lines is."""

    def __init__(self, ladder: Ladder) -> None:
        self.text = ladder.reference
        self.lines = self.text.splitlines(keepends=True)
        self.tree = ast.parse(self.text)
        self.keys = [task.key for task in ladder.tasks]

    def owner(self, line: int) -> str:
        """The key of the task that a line belongs to; "" before the first."""
        marks = re.findall(r"^[ \t]*# task: ([\w-]+)$", "".join(self.lines[:line]), re.MULTILINE)
        return marks[-1] if marks else ""

    def functions(self, key: str) -> list[tuple[str, ast.FunctionDef]]:
        """The outermost functions with lines of a task, and what the learner calls each."""
        found = []
        for each in self.tree.body:
            inside = each.body if isinstance(each, ast.ClassDef) else [each]
            functions = [one for one in inside if isinstance(one, ast.FunctionDef) and key in self._owners(one)]
            found += [(_called(each, one), one) for one in functions]
        return found

    def _owners(self, function: ast.FunctionDef) -> set[str]:
        return {self.owner(line) for line in range(function.lineno, (function.end_lineno or 0) + 1)}

    def rules(self) -> list[Rule]:
        """All rules, in the order of their tasks."""
        found = []
        for key in self.keys:
            for name, function in self.functions(key):
                if self.owner(function.lineno) == key and (messages := _messages(function)):
                    found.append(Rule(name, function, messages, function))
        return found

    def other_ways(self, task: Task) -> list[Rule]:
        """The other right ways to write rules of a task."""
        found = []
        for text in task.also:
            (function,) = ast.parse(text).body
            assert isinstance(function, ast.FunctionDef)
            name, place = next(each for each in self.functions(task.key) if each[1].name == function.name)
            found.append(Rule(name, function, _messages(function), place))
        return found

    def replaced(self, *changes: tuple[ast.FunctionDef, ast.FunctionDef]) -> str:
        """The reference with other functions in the place of some."""
        lines = [*self.lines]
        for old, new in sorted(changes, key=lambda change: -change[0].lineno):
            text = textwrap.indent(ast.unparse(new), " " * old.col_offset) + "\n"
            lines[old.lineno - 1 : old.end_lineno] = [text]
        return "".join(lines)

    def mistake(self, sentence: str, *changes: tuple[ast.FunctionDef, ast.FunctionDef]) -> Mistake:
        return Mistake("", sentence, ((self.text, self.replaced(*changes)),))


def _called(outer: ast.stmt, function: ast.FunctionDef) -> str:
    """An operation by its sign or its name, a method of another class with the class, `__init__` by the class alone."""
    if not isinstance(outer, ast.ClassDef):
        return function.name
    if any(isinstance(base, ast.Name) and base.id == "Function" for base in outer.bases):
        return outer.name
    if function.name in SIGNS:
        return SIGNS[function.name]
    if function.name in ("__init__", "__call__"):
        return outer.name
    return function.name if outer.name in ("Value", "Tensor") else f"{outer.name}.{function.name}"


def _messages(function: ast.FunctionDef) -> tuple[Message, ...]:
    found = []
    for each in ast.walk(function):
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Attribute) and each.target.attr == "grad":
            found.append(Message(each, each.value, ast.unparse(each.target.value)))
        elif (
            isinstance(each, ast.Expr)
            and isinstance(each.value, ast.Call)
            and isinstance(each.value.func, ast.Attribute)
            and each.value.func.attr == "_receive"
            and function.name != "backward"
        ):
            found.append(Message(each, each.value.args[0], ast.unparse(each.value.func.value)))
        elif isinstance(each, ast.Return) and function.name == "backward" and isinstance(each.value, ast.Tuple):
            sent = [(place, one) for place, one in enumerate(each.value.elts) if not isinstance(one, ast.Constant)]
            found += [Message(each, one, "ab"[place], place) for place, one in sent]
    return tuple(found)


def _before(source: _Source, rules: Sequence[Rule], task: Task) -> list[Rule]:
    """The rules of the tasks before one that has none of its own."""
    done = source.keys[: source.keys.index(task.key)]
    return [rule for rule in rules if source.owner(rule.function.lineno) in done]


# -- Trees -------------------------------------------------------------------------------------------------------------


def _path(root: ast.AST, node: ast.AST) -> tuple[tuple[str, int | None], ...]:
    """The way from a tree to a node in it. Raises KeyError where it is not in it."""
    for field, value in ast.iter_fields(root):
        places = enumerate(value) if isinstance(value, list) else [(None, value)]
        for place, child in places:
            if child is node:
                return ((field, place),)
            if isinstance(child, ast.AST):
                try:
                    return ((field, place), *_path(child, node))
                except KeyError:
                    continue
    raise KeyError(node)


def _with(root: ast.FunctionDef, *changes: tuple[ast.AST, ast.AST]) -> ast.FunctionDef:
    """A function with other nodes in the place of some; all that is as it was is shared with it."""
    new: ast.AST = root
    for old, node in changes:
        new = _set(new, _path(new, old), node)
    assert isinstance(new, ast.FunctionDef)
    return new


def _swapped(expression: ast.expr, old: ast.AST, new: ast.expr) -> ast.expr:
    """An expression with another node in the place of one."""
    swapped = _set(expression, _path(expression, old), new) if expression is not old else new
    assert isinstance(swapped, ast.expr)
    return swapped


def _set(root: ast.AST, path: tuple[tuple[str, int | None], ...], node: ast.AST) -> ast.AST:
    """A copy of a tree, as deep as the path to a node goes, with another one in its place."""
    if not path:
        return node
    (field, place), *rest = path
    new, value = copy.copy(root), getattr(root, field)
    if place is None:
        setattr(new, field, _set(value, (*rest,), node))
    else:
        setattr(new, field, [*value[:place], _set(value[place], (*rest,), node), *value[place + 1 :]])
    return new


def _expr(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


# -- Messages ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wrong:
    """A message gone wrong: what is said of it, after "the message to the first operand" or "the message", and what
    stands in place of its statement (or of its expression, in a tuple)."""

    words: str
    node: ast.AST


NO_UPSTREAM = "lacks the upstream gradient: it is the local derivative alone"
NO_LOCAL = "is the upstream gradient as it came: the local derivative is missing"


def _mistaken_messages(source: _Source, rule: Rule) -> Iterator[Mistake]:
    """Every mistake for each message alone, then the same one in all messages."""
    wrong = [list(_wrongs(rule, message)) for message in rule.messages]
    choices: list[tuple[_Wrong | None, ...]] = []
    for place, wrongs in enumerate(wrong):
        choices += [tuple(each if place == n else None for n in range(len(wrong))) for each in wrongs]
    if len(wrong) > 1:
        choices += [each for each in itertools.product(*wrong) if len({one.words for one in each}) == 1]
    for choice in choices:
        changes = []
        for message, each in zip(rule.messages, choice, strict=True):
            if each:
                changes.append((message.statement if message.place is None else message.expression, each.node))
        yield source.mistake(_sentence(rule, choice), (rule.place, _with(rule.function, *changes)))


def _sentence(rule: Rule, choice: Sequence[_Wrong | None]) -> str:
    """What went wrong with the messages of a rule, in words."""
    said: dict[str, list[str]] = {}
    for place, each in enumerate(choice):
        if each:
            said.setdefault(each.words, []).append(ORDINALS[place])
    if len(choice) == 1:
        return f"In `{rule.name}`, the message {next(iter(said))}."
    parts = [
        f"the message to {'each operand' if len(who) > 1 else f'the {who[0]} operand'} {words}"
        for words, who in said.items()
    ]
    return f"In `{rule.name}`, {', and '.join(parts)}."


def _wrongs(rule: Rule, message: Message) -> Iterator[_Wrong]:
    for words, expression in _wrong_expressions(rule, message):
        if message.place is not None:
            yield _Wrong(words, expression)
            continue
        path = _path(message.statement, message.expression)
        yield _Wrong(words, _set(message.statement, path, expression))
    lost = "is missing: the result depends on this operand, too"
    if message.place is None:
        yield _Wrong(lost, ast.Pass())
        yield _Wrong(REPLACES, _replacing(message))
    else:
        yield _Wrong(lost, _expr("None"))


def _wrong_expressions(rule: Rule, message: Message) -> Iterator[tuple[str, ast.expr]]:
    """What may be sent in place of a message, each with what is said of it."""
    sent = message.expression
    arrays = not isinstance(message.statement, ast.AugAssign)
    for upstream in (node for node in ast.walk(sent) if _is_upstream(node)):
        assert isinstance(upstream, ast.expr)
        ones = f"np.ones_like({ast.unparse(upstream)})" if arrays else "1.0"
        yield NO_UPSTREAM, _swapped(sent, upstream, _expr(ones))
        if message.place is None:
            yield "has the result's `data` where its `grad` belongs", _swapped(sent, upstream, _expr("out.data"))
        for words, factor in _values(rule, message):
            product = ast.BinOp(upstream, ast.Mult(), factor)
            yield f"has one factor too many: {words}", _swapped(sent, upstream, product)
            if (whole := _product_around(sent, upstream)) is not upstream:
                yield f"has the wrong factor: {words}", _swapped(sent, whole, product)
        if (whole := _product_around(sent, upstream)) is not upstream:
            yield NO_LOCAL, _swapped(sent, whole, upstream)
        halved = ast.BinOp(upstream, ast.Div(), ast.Constant(2))
        yield (
            "is half of what it should be: a gradient is not an amount to be shared out",
            _swapped(sent, upstream, halved),
        )
    yield "has the wrong sign", ast.UnaryOp(ast.USub(), sent)
    yield from _lacking(sent)
    if len(rule.messages) > 1 and (own := _other_operand(sent)) is not None:
        yield "is made with the operand's own number: it should be that of the other one", own
    for node in ast.walk(sent):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "unbroadcast":
            yield "keeps the result's shape: where the operand was copied, its copies add up", node.args[0]
        elif isinstance(node, ast.Attribute) and node.attr == "data" and not arrays:
            grad = ast.Attribute(node.value, "grad", ast.Load())
            yield "has a `grad` where the number of the forward pass belongs, its `data`", _swapped(sent, node, grad)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            turned = ast.BinOp(node.right, ast.MatMult(), node.left)
            yield "has its two factors in the wrong order", _swapped(sent, node, turned)
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            yield "has a factor that should be transposed", _swapped(sent, node, node.value)


def _is_upstream(node: ast.AST) -> bool:
    return ast.unparse(node) in ("out.grad", "grad") and isinstance(node, (ast.Attribute, ast.Name))


def _values(rule: Rule, message: Message) -> Iterator[tuple[str, ast.expr]]:
    """The operands' numbers, as a rule might read them by mistake."""
    operands = [each.operand for each in rule.messages]
    if message.place is None:
        yield "the value of the result", _expr("out.data")
    for operand in operands:
        if len(operands) == 1:
            words = "the value of the input itself"
        else:
            words = "the operand's own number" if operand == message.operand else "the number of the other operand"
        if message.place is None:
            yield words, _expr(f"{operand}.data")
        else:
            place = operands.index(operand)
            yield words, _expr(f"getattr(ctx.inputs[{place}], 'data', ctx.inputs[{place}])")


def _product_around(sent: ast.expr, upstream: ast.expr) -> ast.expr:
    """The largest product, quotient or sum that an upstream gradient stands in."""
    whole = upstream
    for node in ast.walk(sent):
        if isinstance(node, ast.BinOp) and any(inner is upstream for inner in ast.walk(node)):
            return node  # the outermost comes first
    return whole


def _lacking(sent: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """One factor or one exponent left out."""
    for node in ast.walk(sent):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.Pow)):
            for kept, dropped in ((node.left, node.right), (node.right, node.left)):
                if kept is node.right and not isinstance(node.op, ast.Mult):
                    if isinstance(node.op, ast.Div) and _is_upstream(dropped):
                        yield NO_UPSTREAM, _swapped(sent, node, ast.BinOp(ast.Constant(1.0), ast.Div(), kept))
                    continue
                words = NO_UPSTREAM if _is_upstream(dropped) else "lacks a factor of the local derivative"
                if isinstance(node.op, ast.Pow):
                    words = "lacks an exponent"
                yield words, _swapped(sent, node, kept)


PARTNERS = {"self": "other", "other": "self", "a": "b", "b": "a"}


def _other_operand(sent: ast.expr) -> ast.expr | None:
    """The same expression with the operands' names exchanged, except where a shape is asked for; None without any."""
    shapes = {id(node.value) for node in ast.walk(sent) if isinstance(node, ast.Attribute) and node.attr == "shape"}
    new = sent
    for node in ast.walk(sent):
        if isinstance(node, ast.Name) and node.id in PARTNERS and id(node) not in shapes:
            new = _swapped(sent, node, ast.Name(PARTNERS[node.id], ast.Load()))
    return None if new is sent else new


# -- Messages that replace what had arrived ----------------------------------------------------------------------------

REPLACES = "replaces what had arrived before: add it, or of a value that is used twice only the last message is left"


def _replacing(message: Message) -> ast.stmt:
    return ast.Assign([_expr(f"{message.operand}.grad")], message.expression, lineno=0)


def _overwriting(source: _Source, rules: Sequence[Rule]) -> Iterator[Mistake]:
    """`=` for `+=`: in every rule, in some, for one operand."""
    places = [(rule, message) for rule in rules for message in rule.messages if message.place is None]
    if len(places) <= MAX_SUBSETS:
        chosen = [part for size in range(1, len(places) + 1) for part in itertools.combinations(places, size)]
    else:
        chosen = [(place,) for place in places]
        chosen += [tuple(place for place in places if place[0] is rule) for rule in rules]
        chosen.append(tuple(places))
    for part in chosen:
        changes = []
        for rule in dict.fromkeys(rule for rule, _ in part):
            swaps = [(message.statement, _replacing(message)) for each, message in part if each is rule]
            changes.append((rule.function, _with(rule.function, *swaps)))
        yield source.mistake(_overwritten(places, part), *changes)


def _overwritten(places: Sequence[tuple[Rule, Message]], part: Sequence[tuple[Rule, Message]]) -> str:
    """Which messages replace what had arrived, in words."""
    if len(part) == len(places) > 2:
        where = "In every rule"
    else:
        named = []
        for rule in dict.fromkeys(rule for rule, _ in part):
            wrong = [rule.messages.index(message) for each, message in part if each is rule]
            who = "" if len(wrong) == len(rule.messages) else f" (for the {ORDINALS[wrong[0]]} operand)"
            named.append(f"`{rule.name}`{who}")
        where = f"In {' and in '.join(named)}"
    return (
        f"{where}, a message replaces what had arrived before, with `=` or in another way. Add it with `+=`: of a "
        "value that is used twice, only the last message is left."
    )


# -- The node that an operation makes ----------------------------------------------------------------------------------


def _other_nodes(source: _Source, called: tuple[str, ast.FunctionDef]) -> Iterator[Mistake]:
    """Children of a result in another order, as something else than a tuple, or not all of them."""
    name, function = called
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or len(call.args) < 2 or not isinstance(call.args[1], ast.Tuple):
            continue
        children = call.args[1]
        others: list[tuple[str, ast.expr]] = [("none of the operands", _expr("()"))]
        if len(children.elts) > 1:
            others += [
                ("the operands in the wrong order", ast.Tuple(children.elts[::-1], ast.Load())),
                *((f"only the {ORDINALS[place]} operand", ast.Tuple([one], ast.Load()))
                  for place, one in enumerate(children.elts)),
            ]  # fmt: skip
        for words, other in others:
            yield source.mistake(
                f"In `{name}`, `_children` of the result holds {words}. It should hold every operand, in order.",
                (function, _with(function, (children, other))),
            )


def _detached(source: _Source, called: tuple[str, ast.FunctionDef]) -> Iterator[Mistake]:
    """An operation that is made of others, with one operand as a bare number: nothing leads back to it."""
    name, function = called
    if len(function.body) != 1 or not isinstance(function.body[0], ast.Return) or not function.name.startswith("__"):
        return
    for node in ast.walk(function.body[0]):
        if isinstance(node, ast.Name) and node.id in ("self", "other"):
            bare = _expr(f"type(self)(getattr({node.id}, 'data', {node.id}))")
            which = "first" if node.id == "self" else "second"
            yield source.mistake(
                f"In `{name}`, the {which} operand is used as a bare number: nothing leads back to it. Compute with "
                "the value itself.",
                (function, _with(function, (node, bare))),
            )


# -- One small thing changed -------------------------------------------------------------------------------------------

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@",
    ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
OTHERS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.MatMult: (ast.Mult,), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt,),
    ast.Lt: (ast.LtE, ast.Gt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
}  # fmt: skip
TURNED = (ast.Sub, ast.Div, ast.Pow, ast.MatMult)
METHODS = {"sum": "mean", "mean": "sum", "max": "min", "log": "exp", "exp": "log", "maximum": "minimum"}


def _changed_once(source: _Source, called: tuple[str, ast.FunctionDef], key: str) -> Iterator[Mistake]:
    """A function of the reference with one operator, number, name, call or line changed; none that loops for ever."""
    name, function = called
    if any(isinstance(node, ast.While) for node in ast.walk(function)):
        return
    defaults = _defaults(function)
    for node in ast.walk(function):
        if node is function or source.owner(getattr(node, "lineno", 0)) != key:
            continue
        for words, other in _others(node, defaults):
            yield source.mistake(
                f"`{name}` gives what it would give {words}.", (function, _with(function, (node, other)))
            )


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """What an argument is if nothing is said: argument -> its default."""
    arguments = function.args
    with_default = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    return {one.arg: default for one, default in zip(with_default, arguments.defaults, strict=True)}


def _others(node: ast.AST, defaults: dict[str, ast.expr]) -> Iterator[tuple[str, ast.AST]]:
    """What might stand in the place of a node, each with what is said of it."""
    if isinstance(node, ast.BinOp):
        yield from _other_operations(node)
        for side in (node.left, node.right):
            if (
                isinstance(side, ast.Name) and side.id == "n"
            ):  # the exponent, the only plain number that a rule is given
                less = ast.BinOp(side, ast.Sub(), ast.Constant(1))
                yield "with `n - 1` where `n` belongs", _swapped(node, side, less)
    elif isinstance(node, ast.Compare):
        for other in OTHERS.get(type(node.ops[0]), ()):
            words = f"with `{OPERATORS[other]}` where `{OPERATORS[type(node.ops[0])]}` belongs"
            if issubclass(other, ast.cmpop):
                yield words, ast.Compare(node.left, [other()], node.comparators)
    elif isinstance(node, ast.AugAssign):
        yield (
            "if a step in it went the other way: its sign is wrong",
            ast.AugAssign(node.target, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.value),
        )
        yield "with `=` where `+=` or `-=` belongs", ast.Assign([node.target], node.value, lineno=0)
    elif isinstance(node, ast.UnaryOp):
        words = "without a minus sign" if isinstance(node.op, ast.USub) else "if a condition in it were turned round"
        yield words, node.operand
    elif isinstance(node, ast.IfExp):
        yield "if a condition in it were turned round", ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)
    elif isinstance(node, ast.Name) and node.id in defaults and isinstance(node.ctx, ast.Load):
        yield f"if `{node.id}` were ignored", defaults[node.id]
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "if a matrix in it were not transposed", node.value
    elif isinstance(node, ast.Assign) and ast.unparse(node.value).endswith(".data"):
        for epsilon in EPSILONS:
            moved = ast.BinOp(node.value, ast.Add(), ast.Constant(epsilon))
            yield f"with {epsilon:g} added to its input", ast.Assign(node.targets, moved, lineno=0)
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.If)):
        yield "if one of its steps were missing", ast.Pass()


def _other_operations(node: ast.BinOp) -> Iterator[tuple[str, ast.expr]]:
    sign = OPERATORS[type(node.op)]
    for other in OTHERS.get(type(node.op), ()):
        if issubclass(other, ast.operator):
            yield f"with `{OPERATORS[other]}` where `{sign}` belongs", ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, TURNED):
        yield f"if the two sides of `{sign}` were exchanged", ast.BinOp(node.right, node.op, node.left)
    what = {ast.Mult: "a factor", ast.Add: "a term", ast.Sub: "a term", ast.Pow: "an exponent"}.get(type(node.op), "")
    if what:
        yield f"without {what}: one side of `{sign}` is missing", node.left
    if isinstance(node.op, (ast.Mult, ast.Add)):
        yield f"without {what}: one side of `{sign}` is missing", node.right
    if isinstance(node.op, ast.Div):
        yield "without a division", node.left


def _other_constants(node: ast.Constant) -> Iterator[tuple[str, ast.expr]]:
    number = node.value
    if isinstance(number, bool):
        yield f"with `{not number}` where `{number}` belongs", ast.Constant(not number)
    elif isinstance(number, (int, float)):
        for other in {number + 1, number - 1, -number, 0, 1, 2} - {number}:
            yield f"with {other:g} where {number:g} belongs", ast.Constant(type(number)(other))


def _other_calls(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    if isinstance(node.func, ast.Attribute) and name in METHODS:
        other = ast.Attribute(node.func.value, METHODS[name], ast.Load())
        yield f"with `{METHODS[name]}` where `{name}` belongs", ast.Call(other, node.args, node.keywords)
    if name == "log" and node.args:
        for epsilon in EPSILONS:
            moved = ast.BinOp(node.args[0], ast.Add(), ast.Constant(epsilon))
            yield f"with {epsilon:g} added inside the logarithm", ast.Call(node.func, [moved], [])
    if len(node.args) == 1 and not node.keywords:
        yield f"without `{name}`", node.args[0]
    elif isinstance(node.func, ast.Attribute) and not node.args:
        yield f"without `{name}`", node.func.value
    for keyword in node.keywords:
        kept = [each for each in node.keywords if each is not keyword]
        if keyword.arg is not None:
            yield f"without `{keyword.arg}=` in a call", ast.Call(node.func, node.args, kept)
