"""Generates wrong variants of a course's reference from its own lines, to compare a learner's answers with.

A *rule* is a function that sends messages: `self.grad += ...`, `self._receive(...)`, or the tuple that `backward`
returns. Each message gets its usual mistakes, for one operand or for several at once. Mistakes that need their own
sentence are listed with their tasks (practice/).
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.practice.shared_state import shared_by_all, without_rule
from lab.practice.syntax_trees import parsed, path_to, substituted, with_node_at, with_nodes
from lab.text import counted
from practice.task import Course, Mistake, Task

SIGNS = {"__add__": "+", "__mul__": "*", "__pow__": "**", "__matmul__": "@", "__sub__": "-", "__truediv__": "/"}
ORDINALS = ("first", "second", "third")
NO_RULE = "no rule"  # the key of a variant whose exception no other mistake raises
MAX_SUBSETS = 6  # up to this many messages every subset is tried; of more, only each one, each rule's and all


@dataclass(frozen=True)
class SentMessage:
    """One message of a rule.

    statement   the statement that sends it; for a returned tuple, the `return`
    expression  the message
    operand     the name of the receiver
    place       its index in the returned tuple; None for a statement of its own
    """

    statement: ast.stmt
    expression: ast.expr
    operand: str
    place: int | None = None


@dataclass(frozen=True)
class BackwardRule:
    """A function of the reference that sends messages.

    name      the learner's name for the operation: "*", "tanh", "MatMul"
    function  the function, or another right way to write it
    place     the function of the reference that a variant replaces
    """

    name: str
    function: ast.FunctionDef
    messages: tuple[SentMessage, ...]
    place: ast.FunctionDef


def variants(course: Course, task: Task) -> Sequence[Mistake]:
    """Return wrong variants of the lines of a task, the likelier ones first."""
    return _variants(course.reference, tuple(each.key for each in course.tasks), task.key, task.also)


@functools.lru_cache(64)  # more than there are tasks: making variants takes far longer than comparing answers
def _variants(reference: str, keys: Sequence[str], key: str, also: Sequence[str]) -> Sequence[Mistake]:
    return tuple(_generate(_Source(reference, keys), key, also))


def _generate(source: _Source, key: str, also: Sequence[str]) -> Iterator[Mistake]:
    rules = source.rules()
    other_ways = source.other_ways(key, also)
    own = [rule for rule in rules if source.owner(rule.function.lineno) == key]
    yield from _overwriting(source, rules[: 1 + rules.index(own[-1])] if own else _earlier_rules(source, rules, key))
    for rule in (*own, *other_ways):
        yield from _mistaken_messages(source, rule)
    for function in source.functions(key):
        yield from _other_nodes(source, function)
        yield from _detached(source, function)
        yield from _in_place(source, function)
        yield from _misplaced(source, function)
    for rule in own:
        yield from _two_mistakes(source, rule)


# -- The reference -----------------------------------------------------------------------------------------------------


class _Source:
    """The text of a reference, its functions, and the task that each of its lines belongs to."""

    def __init__(self, text: str, keys: Sequence[str]) -> None:
        self.text = text
        self.lines = self.text.splitlines(keepends=True)
        self.tree = ast.parse(self.text)
        self.keys = keys

    def owner(self, line: int) -> str:
        """Return the key of the task that a line belongs to; "" before the first task."""
        marks = re.findall(r"^[ \t]*# task: ([\w-]+)$", "".join(self.lines[:line]), re.MULTILINE)
        return marks[-1] if marks else ""

    def functions(self, key: str) -> list[tuple[str, ast.FunctionDef]]:
        """Return the outermost functions with lines of a task, each with the learner's name for it."""
        found = []
        for each in self.tree.body:
            inside = each.body if isinstance(each, ast.ClassDef) else [each]
            functions = [one for one in inside if isinstance(one, ast.FunctionDef)]
            lines = [range(one.lineno, (one.end_lineno or 0) + 1) for one in functions]
            mine = [one for one, own in zip(functions, lines, strict=True) if key in map(self.owner, own)]
            found += [(_learner_name(each, one), one) for one in mine]
        return found

    def rules(self) -> list[BackwardRule]:
        """Return all rules, in the order of their tasks."""
        found = []
        for key in self.keys:
            for name, function in self.functions(key):
                if self.owner(function.lineno) == key and (messages := _messages(function)):
                    found.append(BackwardRule(name, function, messages, function))
        return found

    def other_ways(self, key: str, also: Sequence[str]) -> list[BackwardRule]:
        """Return the rules of a task in their other right ways of writing."""
        found = []
        for text in also:
            (function,) = ast.parse(text).body
            assert isinstance(function, ast.FunctionDef)
            name, place = next(each for each in self.functions(key) if each[1].name == function.name)
            found.append(BackwardRule(name, function, _messages(function), place))
        return found

    def mistake(self, sentence: str, *changes: tuple[ast.FunctionDef, ast.FunctionDef], key: str = "") -> Mistake:
        """Return the mistake that replaces (old, new) functions of the reference."""
        lines = [*self.lines]
        for old, new in sorted(changes, key=lambda change: -change[0].lineno):
            text = textwrap.indent(ast.unparse(new), " " * old.col_offset) + "\n"
            lines[old.lineno - 1 : old.end_lineno] = [text]
        start = min(old.lineno for old, _ in changes) - 1
        rest = len(self.lines) - max(old.end_lineno or 0 for old, _ in changes)
        before, after = "".join(self.lines[start : len(self.lines) - rest]), "".join(lines[start : len(lines) - rest])
        edit = (before, after) if self.text.count(before) == 1 else (self.text, "".join(lines))
        return Mistake(key, sentence, (edit,))


def _learner_name(outer: ast.stmt, function: ast.FunctionDef) -> str:
    """Name a function as the learner does: by operator or name, with its class if that is not the engine's main one."""
    if not isinstance(outer, ast.ClassDef):
        return function.name
    if any(isinstance(base, ast.Name) and base.id == "Function" for base in outer.bases):
        return outer.name
    if function.name in SIGNS:
        return SIGNS[function.name]
    if function.name in ("__init__", "__call__"):
        return outer.name
    return function.name if outer.name in ("Value", "Tensor") else f"{outer.name}.{function.name}"


def _messages(function: ast.FunctionDef) -> tuple[SentMessage, ...]:
    found = []
    for each in ast.walk(function):
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Attribute) and each.target.attr == "grad":
            found.append(SentMessage(each, each.value, ast.unparse(each.target.value)))
        elif isinstance(each, ast.Expr) and isinstance(call := each.value, ast.Call) and function.name != "backward":
            if isinstance(call.func, ast.Attribute) and call.func.attr == "_receive":
                found.append(SentMessage(each, call.args[0], ast.unparse(call.func.value)))
        elif isinstance(each, ast.Return) and function.name == "backward" and isinstance(each.value, ast.Tuple):
            sent = [(place, one) for place, one in enumerate(each.value.elts) if not isinstance(one, ast.Constant)]
            found += [SentMessage(each, one, "ab"[place], place) for place, one in sent]
    return tuple(found)


def _earlier_rules(source: _Source, rules: Sequence[BackwardRule], key: str) -> list[BackwardRule]:
    """Return the rules of the tasks before this one."""
    done = source.keys[: source.keys.index(key)]
    return [rule for rule in rules if source.owner(rule.function.lineno) in done]


# -- Messages ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wrong:
    """A wrong message: words that follow "the message" or "the message to the first operand", and the node that
    replaces its statement (in a tuple, its expression)."""

    words: str
    node: ast.AST


NO_UPSTREAM = "lacks the upstream gradient: it is only the local derivative"
NO_LOCAL = "is the unchanged upstream gradient: the local derivative is missing"
LOST = "is missing: the result also depends on this operand"
WRONG_SIGN = "has the wrong sign"
OWN_NUMBER = "is made with the operand's own number: it should be the other operand's"
MISSENT = "goes to the other operand"
PAIRED = (NO_UPSTREAM, NO_LOCAL, LOST, WRONG_SIGN, OWN_NUMBER)  # also tried two at a time, one in each message


def _mistaken_messages(source: _Source, rule: BackwardRule) -> Iterator[Mistake]:
    """Yield every mistake in each single message, then the same mistake in all messages."""
    wrong = [list(_wrong_messages(rule, message)) for message in rule.messages]
    choices: list[tuple[_Wrong | None, ...]] = []
    for place, wrongs in enumerate(wrong):
        choices += [tuple(each if place == n else None for n in range(len(wrong))) for each in wrongs]
    if len(wrong) > 1:
        alike = (each for each in itertools.product(*wrong) if len({one.words for one in each}) == 1)
        choices += [each for each in alike if each[0].words != MISSENT]  # `_exchanged` covers both
    for choice in choices:
        yield _variant(source, rule, choice)
    yield from _exchanged(source, rule)
    yield from _shortened(source, rule)


def _shortened(source: _Source, rule: BackwardRule) -> Iterator[Mistake]:
    """Yield variants that return too few messages, or a single array in place of the tuple."""
    for each in ast.walk(rule.function):
        if isinstance(each, ast.Return) and rule.messages[0].place is not None and isinstance(each.value, ast.Tuple):
            for length in range(1, len(each.value.elts)):
                less = ast.Return(ast.Tuple(each.value.elts[:length], ast.Load()))
                yield source.mistake(
                    f"In `{rule.name}`, `backward` returns {counted(length, 'message')}. It should return one for each "
                    "input, in the order of the inputs.",
                    (rule.place, with_nodes(rule.function, (each, less))),
                )
            one = ast.Return(rule.messages[0].expression)
            yield source.mistake(
                f"In `{rule.name}`, `backward` returns one array. It should return a tuple, with a message for each "
                "input.",
                (rule.place, with_nodes(rule.function, (each, one))),
            )


def _exchanged(source: _Source, rule: BackwardRule) -> Iterator[Mistake]:
    """Yield the variant in which each of two operands receives the other's message."""
    if len(rule.messages) == 2:
        first, second = (message.expression for message in rule.messages)
        changes = ((first, copy.copy(second)), (second, copy.copy(first)))
        changed = with_nodes(rule.function, *changes)
        yield source.mistake(f"In `{rule.name}`, each operand receives the other one's message.", (rule.place, changed))


def _two_mistakes(source: _Source, rule: BackwardRule) -> Iterator[Mistake]:
    """Yield variants with a different mistake in each of the two messages of a rule."""
    if len(rule.messages) == 2:
        wrong = [[one for one in _wrong_messages(rule, each) if one.words in PAIRED] for each in rule.messages]
        for choice in itertools.product(*wrong):
            if choice[0].words != choice[1].words:
                yield _variant(source, rule, choice)


def _variant(source: _Source, rule: BackwardRule, choice: Sequence[_Wrong | None]) -> Mistake:
    """Return the variant of a rule with these wrong messages; None stands for a right one."""
    changes = []
    for message, each in zip(rule.messages, choice, strict=True):
        if each:
            changes.append((message.statement if message.place is None else message.expression, each.node))
    return source.mistake(_sentence(rule, choice), (rule.place, with_nodes(rule.function, *changes)))


def _sentence(rule: BackwardRule, choice: Sequence[_Wrong | None]) -> str:
    """Say in a sentence what is wrong with the messages of a rule."""
    receivers: dict[str, list[str]] = {}
    for place, each in enumerate(choice):
        if each:
            receivers.setdefault(each.words, []).append(ORDINALS[place])
    if len(choice) == 1:
        return f"In `{rule.name}`, the message {next(iter(receivers))}."
    parts = [
        f"the message to {'each operand' if len(who) > 1 else f'the {who[0]} operand'} {words}"
        for words, who in receivers.items()
    ]
    return f"In `{rule.name}`, {', and '.join(parts)}."


def _wrong_messages(rule: BackwardRule, message: SentMessage) -> Iterator[_Wrong]:
    for words, expression in _wrong_expressions(rule, message):
        if message.place is not None:
            yield _Wrong(words, expression)
            continue
        path = path_to(message.statement, message.expression)
        yield _Wrong(words, with_node_at(message.statement, path, expression))
    if message.place is None:
        for operand in {each.operand for each in rule.messages} - {message.operand}:
            yield _Wrong(MISSENT, _sent_to(message, operand))
        yield _Wrong(LOST, ast.Pass())
        yield _Wrong(REPLACES, _replacing(message))
        if len(rule.messages) > 1:
            same = parsed("self is not other")
            yield _Wrong("is missing where both operands are the same value", ast.If(same, [message.statement], []))
    else:
        yield _Wrong(LOST, parsed("None"))


def _sent_to(message: SentMessage, operand: str) -> ast.AST:
    """Return the statement that sends a message, with another operand as receiver."""
    receiver = next(
        node.value
        for node in ast.walk(message.statement)
        if isinstance(node, ast.Attribute) and node.attr in ("grad", "_receive")
        if ast.unparse(node.value) == message.operand
    )
    return with_node_at(message.statement, path_to(message.statement, receiver), parsed(operand))


def _wrong_expressions(rule: BackwardRule, message: SentMessage) -> Iterator[tuple[str, ast.expr]]:
    """Yield wrong expressions for a message, each with words for it."""
    sent = message.expression
    arrays = not isinstance(message.statement, ast.AugAssign)
    for upstream in (node for node in ast.walk(sent) if _is_upstream(node)):
        assert isinstance(upstream, ast.expr)
        ones = f"np.ones_like({ast.unparse(upstream)})" if arrays else "1.0"
        yield NO_UPSTREAM, substituted(sent, upstream, parsed(ones))
        if message.place is None:
            yield "has the result's `data` where its `grad` belongs", substituted(sent, upstream, parsed("out.data"))
        for words, factor in _values(rule, message):
            product = ast.BinOp(upstream, ast.Mult(), factor)
            yield f"has one factor too many: {words}", substituted(sent, upstream, product)
            if (whole := _product_around(sent, upstream)) is not upstream:
                yield f"has the wrong factor: {words}", substituted(sent, whole, product)
        if (whole := _product_around(sent, upstream)) is not upstream:
            yield NO_LOCAL, substituted(sent, whole, upstream)
        squared = ast.BinOp(upstream, ast.Mult(), upstream)
        yield "has the upstream gradient twice", substituted(sent, upstream, squared)
        halved = ast.BinOp(upstream, ast.Div(), ast.Constant(2))
        words = "is half of what it should be: a gradient is not divided among the operands"
        yield words, substituted(sent, upstream, halved)
        if arrays:
            for words, text in (("the sum", "np.sum"), ("the mean", "np.mean")):
                total = parsed(f"{text}({ast.unparse(upstream)})")
                yield f"is made with {words} of the upstream gradient", substituted(sent, upstream, total)
    yield WRONG_SIGN, ast.UnaryOp(ast.USub(), sent)
    if arrays:
        yield "is the transpose of what it should be", ast.Attribute(sent, "T", ast.Load())
    yield "lacks its sign: it is an absolute value", ast.Call(ast.Name("abs", ast.Load()), [sent], [])
    yield from _incomplete(sent)
    for node in ast.walk(sent):
        data = isinstance(node, ast.Attribute) and node.attr == "data"
        if isinstance(node, ast.expr) and (data or (isinstance(node, ast.Name) and node.id in "abxs")):
            bare = ast.Call(ast.Name("abs", ast.Load()), [node], [])
            yield "lacks the sign of the number that it is made from", substituted(sent, node, bare)
    if len(rule.messages) > 1 and (own := _other_operand(sent)) is not None:
        yield OWN_NUMBER, own
    for node in ast.walk(sent):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "unbroadcast":
            yield "keeps the result's shape: add up the copies where the operand was copied", node.args[0]
            yield from _summed_otherwise(sent, node)
        elif isinstance(node, ast.Attribute) and node.attr == "data" and not arrays:
            grad = ast.Attribute(node.value, "grad", ast.Load())
            yield "has a `grad` where the number of the forward pass belongs, its `data`", substituted(sent, node, grad)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            turned = ast.BinOp(node.right, ast.MatMult(), node.left)
            yield "has its two factors in the wrong order", substituted(sent, node, turned)
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            yield "has a factor that should be transposed", substituted(sent, node, node.value)
    for upstream in (node for node in ast.walk(sent) if _is_upstream(node)):
        assert isinstance(upstream, ast.expr)
        if len(rule.messages) > 1 and message.place is None:
            whole, ratio = _product_around(sent, upstream), parsed(f"out.data / {message.operand}.data")
            words = "divides the result's number by the operand's own, which may be 0"
            yield words, substituted(sent, whole, ast.BinOp(upstream, ast.Mult(), ratio))
        whole = _product_around(sent, upstream)
        for words, local in _formulas(rule, message):
            yield words, substituted(sent, whole, ast.BinOp(upstream, ast.Mult(), local))
        for words, local in _formulas(rule, message, alone=True):
            yield f"lacks the upstream gradient, and {words}", substituted(sent, whole, local)
    for node in ast.walk(sent):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield from _other_products(sent, node)


def _other_products(sent: ast.expr, product: ast.BinOp) -> Iterator[tuple[str, ast.expr]]:
    """Yield matrix products in another order, with other factors transposed, or with one factor missing."""
    left, right = ((side, _transposed(side)) for side in (product.left, product.right))
    for swapped, one, other in itertools.product((False, True), left, right):
        words = ["has its two factors in the wrong order"] if swapped else []
        for factor, (should, _) in ((one, left), (other, right)):
            if factor is not should:
                which = "the upstream gradient" if any(map(_is_upstream, ast.walk(factor))) else "the operand"
                words.append(f"has {which} wrongly transposed or not transposed")
        if len(words) > 1:  # each of these mistakes has already been tried alone
            pair = (other, one) if swapped else (one, other)
            yield ", and ".join(words), substituted(sent, product, ast.BinOp(pair[0], ast.MatMult(), pair[1]))
    for side in (*left, *right):
        if not any(map(_is_upstream, ast.walk(side))):
            yield "is the other operand alone: the product with the upstream gradient is missing", side


def _transposed(matrix: ast.expr) -> ast.expr:
    """Transpose a matrix; `a.T` becomes `a`."""
    if isinstance(matrix, ast.Attribute) and matrix.attr == "T":
        return matrix.value
    return ast.Attribute(matrix, "T", ast.Load())


# Local derivatives that people write, from the operands a and b (a alone if there is one) and the result y. `exp` and
# the like stand for those of `math` or NumPy.
FORMULAS = (
    "1 - y", "1 - y**2", "1 - abs(y)", "y * (1 - y)", "1 + y", "y**2", "1 / y", "-y", "(1 - y)**2", "exp(y)", "log(y)",
    "1 - a", "1 - a**2", "1 - abs(a)", "a * (1 - a)", "1 + a", "a**2", "1 / a", "-a", "exp(a)", "exp(-a)", "cos(a)",
    "1 / a**2", "-1 / a**2", "-1 / a", "abs(a)", "2 * a", "a**3", "a + b", "a - b", "b - a", "a * b", "a / b", "b / a",
    "1 / b", "-1 / b", "1 / b**2", "-1 / b**2", "b**2", "-a / b", "a / b**2", "a**b", "b * a", "b * a**2", "b * y",
    "y / a", "y / b", "b * y / a", "1 - tanh(y)**2", "1 / (1 + exp(-y)) * (1 - 1 / (1 + exp(-y)))", "cos(y)",
    "b - 1", "(b - 1) * a", "a**(b - 1)", "(b - 1) * a**(b - 1)", "(b - 1) * a**b", "(b + 1) * a**b",
    "a**(b - 1) / b",
    "a**(b + 1) / (b + 1)", "b * a**b - 1", "b * y**(b - 1)",
    "b * a**(b - 1)", "-b * a**(b - 1)", "b * abs(a)**(b - 1)", "y * log(abs(a))", "y * log(a)",
)  # read by rows  # fmt: skip
PLAIN_NAMES = {"a": "the first operand", "b": "the second operand", "y": "the result"}


def _formulas(rule: BackwardRule, message: SentMessage, alone: bool = False) -> Iterator[tuple[str, ast.expr]]:
    """Yield local derivatives that people write, each with its formula. alone: also the bare numbers."""
    names = _forward_values(rule, message)
    called = dict(PLAIN_NAMES if "b" in names else PLAIN_NAMES | {"a": "the input"})
    library = "np" if message.place is not None or not isinstance(message.statement, ast.AugAssign) else "math"
    for formula in (*("aby" if alone else ""), *FORMULAS):
        tree = parsed(formula)
        used = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        if "b" not in names and any(node.id == "b" for node in used):
            continue
        for node in used:
            value = names.get(node.id)
            if value is None and node.id != "abs":
                value = parsed(f"{library}.{node.id}")
            tree = substituted(tree, node, value) if value is not None else tree
        where = " and ".join(f"{name} is {called[name]}" for name in sorted({node.id for node in used} & called.keys()))
        yield f"has the local derivative {formula.replace('**', '^')}, where {where}", tree


def _forward_values(rule: BackwardRule, message: SentMessage) -> dict[str, ast.expr]:
    """Return code for the forward values in a rule: the operand a, the second operand or exponent b, the result y."""
    arguments = [each.arg for each in rule.function.args.args]
    if message.place is None:
        values = {"a": "self.data", "y": "out.data"}
        if "other" in arguments:
            values["b"] = "other.data"
        elif "n" in arguments:
            values["b"] = "n"
    else:
        inputs = "[getattr(each, 'data', each) for each in ctx.inputs]"
        values = {"a": f"{inputs}[0]", "y": f"ctx.function.forward(Context(None, ()), *{inputs})"}
        if len(rule.messages) > 1 or rule.name == "Pow":
            values["b"] = f"{inputs}[1]"
    return {name: parsed(text) for name, text in values.items()}


def _summed_otherwise(sent: ast.expr, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield messages summed over an operand's copies too early, or averaged."""
    product, shape = call.args
    if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        early = ast.BinOp(ast.Call(call.func, [product.left, shape], []), ast.Mult(), product.right)
        yield "is summed over the copies before the product: multiply first", substituted(sent, call, early)
    copies = parsed(f"np.size({ast.unparse(product)}) / np.size(np.empty({ast.unparse(shape)}))")
    averaged = ast.BinOp(call, ast.Div(), copies)
    yield "is averaged over the copies of the operand: sum over them", substituted(sent, call, averaged)


def _is_upstream(node: ast.AST) -> bool:
    return ast.unparse(node) in ("out.grad", "grad") and isinstance(node, (ast.Attribute, ast.Name))


def _values(rule: BackwardRule, message: SentMessage) -> Iterator[tuple[str, ast.expr]]:
    """Yield the forward values that a rule might use by mistake."""
    operands = [each.operand for each in rule.messages]
    if message.place is None:
        yield "the value of the result", parsed("out.data")
    for operand in operands:
        if len(operands) == 1:
            words = "the value of the input itself"
        else:
            words = "the operand's own number" if operand == message.operand else "the number of the other operand"
        if message.place is None:
            yield words, parsed(f"{operand}.data")
        else:
            place = operands.index(operand)
            yield words, parsed(f"getattr(ctx.inputs[{place}], 'data', ctx.inputs[{place}])")


def _product_around(sent: ast.expr, upstream: ast.expr) -> ast.expr:
    """Return the largest product, quotient or sum that contains an upstream gradient."""
    products = (node for node in ast.walk(sent) if isinstance(node, ast.BinOp))  # the outermost comes first
    return next((node for node in products if any(inner is upstream for inner in ast.walk(node))), upstream)


def _incomplete(sent: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield messages with one factor or one exponent left out."""
    for node in ast.walk(sent):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.Pow)):
            for left, dropped in ((node.left, node.right), (node.right, node.left)):
                if left is node.right and not isinstance(node.op, ast.Mult):
                    if isinstance(node.op, ast.Div) and _is_upstream(dropped):
                        yield NO_UPSTREAM, substituted(sent, node, ast.BinOp(ast.Constant(1.0), ast.Div(), left))
                    continue
                words = NO_UPSTREAM if _is_upstream(dropped) else "lacks a factor of the local derivative"
                if isinstance(node.op, ast.Pow):
                    words = "lacks an exponent"
                yield words, substituted(sent, node, left)


PARTNERS = {"self": "other", "other": "self", "a": "b", "b": "a"}


def _other_operand(sent: ast.expr) -> ast.expr | None:
    """Swap the operands' names in an expression, except where their shape is read; None if it names none."""
    shapes = {id(node.value) for node in ast.walk(sent) if isinstance(node, ast.Attribute) and node.attr == "shape"}
    new = sent
    for node in ast.walk(sent):
        if isinstance(node, ast.Name) and node.id in PARTNERS and id(node) not in shapes:
            new = substituted(sent, node, ast.Name(PARTNERS[node.id], ast.Load()))
    return None if new is sent else new


# -- Messages that overwrite the gradient ------------------------------------------------------------------------------

REPLACES = "overwrites the messages before it: add it, or a value that is used twice keeps only its last message"


def _replacing(message: SentMessage) -> ast.stmt:
    return ast.Assign([parsed(f"{message.operand}.grad")], message.expression, lineno=0)


def _overwriting(source: _Source, rules: Sequence[BackwardRule]) -> Iterator[Mistake]:
    """Yield variants with `=` for `+=`: in every rule, in some, or for one operand."""
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
            changes.append((rule.function, with_nodes(rule.function, *swaps)))
        yield source.mistake(_overwritten(places, part), *changes)


def _overwritten(
    places: Sequence[tuple[BackwardRule, SentMessage]], part: Sequence[tuple[BackwardRule, SentMessage]]
) -> str:
    """Say in a sentence which messages overwrite the gradient."""
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
        f"{where}, a message overwrites the messages before it, with `=` or in another way. Add it with `+=`, or a "
        "value that is used twice keeps only its last message."
    )


# -- The node that an operation makes ----------------------------------------------------------------------------------


def _other_nodes(source: _Source, called: tuple[str, ast.FunctionDef]) -> Iterator[Mistake]:
    """Yield variants whose result has its children in another order, incomplete, or without repeats."""
    name, function = called
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or len(call.args) < 2 or not isinstance(call.args[1], ast.Tuple):
            continue
        children = call.args[1]
        others: list[tuple[str, ast.expr]] = [("none of the operands", parsed("()"))]
        if len(children.elts) > 1:
            others += [
                ("the operands in the wrong order", ast.Tuple(children.elts[::-1], ast.Load())),
                *(
                    (f"only the {ORDINALS[place]} operand", ast.Tuple([one], ast.Load()))
                    for place, one in enumerate(children.elts)
                ),
                (
                    "a value only once if it is both operands, as a set does",
                    parsed(f"tuple(dict.fromkeys({ast.unparse(children)}))"),
                ),
            ]
        for words, other in others:
            yield source.mistake(
                f"In `{name}`, `_children` of the result holds {words}. It should hold every operand, in order.",
                (function, with_nodes(function, (children, other))),
            )


def _detached(source: _Source, called: tuple[str, ast.FunctionDef]) -> Iterator[Mistake]:
    """Yield variants of a composed operation that use one operand as a bare number, detached from the graph."""
    name, function = called
    if len(function.body) != 1 or not isinstance(function.body[0], ast.Return) or not function.name.startswith("__"):
        return
    for node in ast.walk(function.body[0]):
        if isinstance(node, ast.Name) and node.id in ("self", "other"):
            bare = parsed(f"type(self)(getattr({node.id}, 'data', {node.id}))")
            which = "first" if node.id == "self" else "second"
            yield source.mistake(
                f"In `{name}`, the {which} operand is used as a bare number, so no gradient reaches it. Compute with "
                "the value itself.",
                (function, with_nodes(function, (node, bare))),
            )


def _in_place(source: _Source, called: tuple[str, ast.FunctionDef]) -> Iterator[Mistake]:
    """Yield variants that write the result into the first operand, and return that operand or the result."""
    name, function = called
    last = function.body[-1]
    if "self" not in [each.arg for each in function.args.args] or not isinstance(last, ast.Return) or not last.value:
        return
    result = ast.Assign([ast.Name("result", ast.Store())], last.value, lineno=0)
    (written,) = ast.parse("self.data = result.data").body
    for back in ("self", "result"):
        changed = copy.copy(function)
        changed.body = [*function.body[:-1], result, written, ast.Return(parsed(back))]
        yield source.mistake(
            f"`{name}` changes its first operand: the operand's `data` is another number afterwards. Return the "
            "result in a new value.",
            (function, changed),
        )


def _misplaced(source: _Source, called: tuple[str, ast.FunctionDef]) -> Iterator[Mistake]:
    """Yield variants that do not store the rule, or that keep what it needs in one place for all results."""
    name, function = called
    for changed in without_rule(function):
        yield source.mistake(
            f"The result of `{name}` has no rule under the name `_backward`: store it there, `out._backward = ...`.",
            (function, changed),
            key=NO_RULE,
        )
    for changed in shared_by_all(function):
        yield source.mistake(
            f"`{name}` keeps what its rule needs in one place for all results, such as the class or a global "
            f"variable. The next `{name}` overwrites it. Keep it in a local variable.",
            (function, changed),
        )
