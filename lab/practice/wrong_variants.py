"""Generates wrong variants of a course's reference from its own lines, to compare a learner's answers with.

A *rule* is a function that sends messages: `self.grad += ...`, `self._receive(...)`, or the tuple that `backward`
returns. Each message gets its usual mistakes, for one operand or for several at once. Mistakes that need their own
sentence are listed with their tasks (practice/).
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import practice
from lab.practice.syntax_trees import parsed, path_to, substituted, with_node_at, with_nodes
from lab.text import read_rows
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
    """

    name: str
    function: ast.FunctionDef
    messages: tuple[SentMessage, ...]


def variants(course: Course, task: Task) -> Sequence[Mistake]:
    """Return wrong variants of the lines of a task, the likelier ones first."""
    return _variants(course.reference, tuple(each.key for each in course.tasks), task.key)


@functools.lru_cache(64)  # more than there are tasks: making variants takes far longer than comparing answers
def _variants(reference: str, keys: Sequence[str], key: str) -> Sequence[Mistake]:
    return tuple(_generate(_Source(reference, keys), key))


def _generate(source: _Source, key: str) -> Iterator[Mistake]:
    rules = source.rules()
    own = [rule for rule in rules if source.owner(rule.function.lineno) == key]
    yield from _overwriting(source, rules[: 1 + rules.index(own[-1])] if own else _earlier_rules(source, rules, key))
    for rule in own:
        yield from _mistaken_messages(source, rule)
    for function in source.functions(key):
        yield from _other_nodes(source, function)
        yield from _without_rule(source, function)


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
                    found.append(BackwardRule(name, function, messages))
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


def _mistaken_messages(source: _Source, rule: BackwardRule) -> Iterator[Mistake]:
    """Yield every mistake in each single message, then the same mistake in all messages."""
    wrong = [list(_wrong_messages(rule, message)) for message in rule.messages]
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
        yield source.mistake(_sentence(rule, choice), (rule.function, with_nodes(rule.function, *changes)))


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
    if message.place is not None:
        yield _Wrong(LOST, parsed("None"))
        return
    yield _Wrong(LOST, ast.Pass())
    yield _Wrong(REPLACES, _replacing(message))
    if len(rule.messages) > 1:
        same = parsed("self is not other")
        yield _Wrong("is missing where both operands are the same value", ast.If(same, [message.statement], []))


LOST = "is missing: the result also depends on this operand"

USUAL = read_rows(Path(practice.__file__).with_name("usual_mistakes.toml"))


def _wrong_expressions(rule: BackwardRule, message: SentMessage) -> Iterator[tuple[str, ast.expr]]:
    """Yield wrong expressions for a message, each with words for it."""
    sent = message.expression
    arrays = not isinstance(message.statement, ast.AugAssign)
    factors = [*_factors(rule, message)]
    kind = "arrays" if arrays else "numbers"
    rows = [(row["words"], row["part"], row["code"]) for row in USUAL["message"] if row.get("of", kind) == kind]
    rows += [(f"has one factor too many: {words}", "g", f"({{g}} * {code})") for words, code in factors]
    rows += [(f"has the wrong factor: {words}", "p", f"({{g}} * {code})") for words, code in factors]
    rows += [(words, "p", f"({{g}} * ({code}))") for words, code in _local_derivatives(rule, message)]
    for upstream in (node for node in ast.walk(sent) if _is_upstream(node)):
        parts: dict[str, ast.AST] = {"g": upstream, "p": _product_around(sent, upstream), "m": sent}
        texts = {name: ast.unparse(part) for name, part in parts.items()}
        for words, part, code in rows:
            yield words, substituted(sent, parts[part], parsed(code.format(**texts)))
    for node in ast.walk(sent):
        for words, other in _incomplete(node):
            yield words, substituted(sent, node, other)


def _incomplete(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield what stands in place of a part of a message if a factor, a sum, a transpose or the order is forgotten."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "unbroadcast":
        yield "keeps the result's shape: add up the copies where the operand was copied", node.args[0]
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "has a factor that should be transposed", node.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield "has its two factors in the wrong order", ast.BinOp(node.right, ast.MatMult(), node.left)
        for factor in (node.left, node.right):
            if not any(map(_is_upstream, ast.walk(factor))):
                yield "is the other operand alone: the product with the upstream gradient is missing", factor
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Pow)):
        words = "lacks an exponent" if isinstance(node.op, ast.Pow) else "lacks a factor of the local derivative"
        yield words, node.left
        if isinstance(node.op, ast.Mult):
            yield words, node.right


def _is_upstream(node: ast.AST) -> bool:
    return ast.unparse(node) in ("out.grad", "grad") and isinstance(node, (ast.Attribute, ast.Name))


def _product_around(sent: ast.expr, upstream: ast.AST) -> ast.AST:
    """Return the largest product, quotient or sum that contains an upstream gradient."""
    products = (node for node in ast.walk(sent) if isinstance(node, ast.BinOp))  # the outermost comes first
    return next((node for node in products if any(inner is upstream for inner in ast.walk(node))), upstream)


def _factors(rule: BackwardRule, message: SentMessage) -> Iterator[tuple[str, str]]:
    """Yield the forward values that a rule might use by mistake: words and code."""
    operands = [each.operand for each in rule.messages]
    if message.place is None:
        yield "the value of the result", "out.data"
    for place, operand in enumerate(operands):
        words = "the operand's own number" if operand == message.operand else "the number of the other operand"
        if len(operands) == 1:
            words = "the value of the input itself"
        inputs = f"getattr(ctx.inputs[{place}], 'data', ctx.inputs[{place}])"
        yield words, f"{operand}.data" if message.place is None else inputs


PLAIN_NAMES = {"a": "the first operand", "b": "the second operand", "y": "the result"}


def _local_derivatives(rule: BackwardRule, message: SentMessage) -> Iterator[tuple[str, str]]:
    """Yield local derivatives that people write, each with words and code."""
    values = _forward_values(rule, message)
    called = dict(PLAIN_NAMES if "b" in values else PLAIN_NAMES | {"a": "the input"})
    library = "np" if message.place is not None or not isinstance(message.statement, ast.AugAssign) else "math"
    for formula in USUAL["local_derivatives"]:
        names = re.findall(r"[a-z]+", formula)
        if "b" in names and "b" not in values:
            continue
        where = " and ".join(f"{name} is {called[name]}" for name in sorted({*names} & called.keys()))
        code = re.sub(
            r"[a-z]+",
            lambda name: values.get(name[0], name[0] if name[0] == "abs" else f"{library}.{name[0]}"),
            formula,
        )
        yield f"has the local derivative {formula.replace('**', '^')}, where {where}", code


def _forward_values(rule: BackwardRule, message: SentMessage) -> dict[str, str]:
    """Return code for the forward values in a rule: the operand a, the second operand or exponent b, the result y."""
    arguments = [each.arg for each in rule.function.args.args]
    if message.place is None:
        second = {"b": "other.data"} if "other" in arguments else {"b": "n"} if "n" in arguments else {}
        return {"a": "self.data", "y": "out.data", **second}
    inputs = "[getattr(each, 'data', each) for each in ctx.inputs]"
    values = {"a": f"{inputs}[0]", "y": f"ctx.function.forward(Context(None, ()), *{inputs})"}
    return values | ({"b": f"{inputs}[1]"} if len(rule.messages) > 1 or rule.name == "Pow" else {})


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


def _without_rule(source: _Source, called: tuple[str, ast.FunctionDef]) -> Iterator[Mistake]:
    """Yield the variant whose result is not given its rule."""
    name, function = called
    for step in function.body:
        if isinstance(step, ast.Assign) and ast.unparse(step.targets[0]) == "out._backward":
            yield source.mistake(
                f"The result of `{name}` has no rule under the name `_backward`: store it there, "
                "`out._backward = ...`.",
                (function, with_nodes(function, (step, ast.Pass()))),
                key=NO_RULE,
            )
