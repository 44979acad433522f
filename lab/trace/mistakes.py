"""Computes the wrong gradients that known mistakes give, from the events of a pass that the engine ran.

A mistake is reported as a condition: "this is what you get if you overwrite instead of adding". That is true whatever
the learner did; if two mistakes give the same numbers, both are named. One that gives the right numbers is left out.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from lab.operation_table import Derivative
from lab.text import with_minus
from lab.trace.derivation import derive, rule_of
from lab.trace.recording import Trace
from lab.trace.schema import Accumulate, Message, Node, SentTerm

# The names of the mistakes: each follows "this is what you get if".
OVERWRITTEN = "you overwrite instead of adding"
FORGOTTEN = "you forget a message"
UPSTREAM = "the upstream factor is missing"
LOCAL = "the local factor is missing"
OUTPUT = "you use the output, not the input"
INPUT = "you use the input, not the output"
OWN = "you use the operand itself, not the other one"
UNSUMMED = "a broadcast axis is not summed"
AVERAGED = "you average instead of adding"
SIGN = "the sign is wrong"
VALUE = "you give the value, not the gradient"
NOT_SPREAD = "the gradient is not copied to every cell that was summed"
TRANSPOSED = "a matrix is transposed, or one that should be is not"
EXPONENT = "the exponent is wrong"
FACTOR = "a factor of the local derivative is missing"
INVERTED = "a fraction is upside down, or its square is missing"
GATE = "the gradient goes to the wrong operand, or passes where it is stopped"


@dataclass(frozen=True)
class WrongNumbers:
    """One mistake and the wrong numbers that it gives.

    name   one of the names above
    where  the details, or ""
    wrong  the numbers
    """

    name: str
    where: str
    wrong: np.ndarray

    @property
    def condition(self) -> str:
        """The mistake in words, to follow "this is what you get if"."""
        return f"{self.name} ({self.where})" if self.where else self.name


@dataclass(frozen=True)
class _Arrived:
    """A message, the accumulation that added it to the receiver's gradient, and how it is derived."""

    sent: Message
    arrived: Accumulate
    term: SentTerm


def same(a: Any, b: Any) -> bool:
    """Return whether two arrays have one shape and, but for rounding, the same finite numbers. It is fast."""
    return np.shape(a) == np.shape(b) and bool((np.abs(np.subtract(a, b)) <= 1e-9 + 1e-9 * np.abs(b)).all())


def diagnosis(mistakes: Sequence[WrongNumbers], answer: Any) -> str:
    """Return a sentence that names every mistake which gives the answer; "" if none does."""
    conditions = dict.fromkeys(mistake.condition for mistake in mistakes if same(mistake.wrong, answer))
    return f"This is what you get if {', or if '.join(conditions)}." if conditions else ""


class Mistakes:
    """The wrong numbers that known mistakes give in one pass."""

    def __init__(self, trace: Trace) -> None:
        derived = derive(trace)
        self.trace, self.names = trace, [node["name"] for node in derived]
        self._messages = [  # by receiver; an accumulation directly follows its message
            [
                _Arrived(cast(Message, trace.events[at]), cast(Accumulate, trace.events[at + 1]), cast(SentTerm, term))
                for term in node["terms"]
                if (at := term["event"]) is not None
            ]
            for node in derived
        ]

    def of_accumulation(self, index: int) -> list[WrongNumbers]:
        """List the mistakes in a node's gradient after the accumulation at this event index: in the message, and in
        adding it to the gradient before."""
        number = cast(Accumulate, self.trace.events[index])["node"]
        messages = self._messages[number]
        at = next(i for i, message in enumerate(messages) if message.arrived is self.trace.events[index])
        value = np.asarray(self.trace.nodes[number]["value"], float)
        return self._of_sum(messages[: at + 1], messages[at : at + 1], value)

    def wrong_gradients_by_event(self, most: int) -> dict[int, list[dict[str, Any]]]:
        """List, for each accumulation with at most `most` numbers, all finite: the wrong gradients that known mistakes
        give, each with its diagnosis. Keys are event indices."""
        found = {}
        for index, event in enumerate(self.trace.events):
            if event["kind"] != "accumulate" or np.size(event["after"]) > most:
                continue
            if np.isfinite(np.asarray(event["after"], float)).all():
                mistakes = self.of_accumulation(index)
                wrong = {repr(mistake.wrong.tolist()): mistake.wrong for mistake in mistakes}
                found[index] = [{"wrong": one.tolist(), "said": diagnosis(mistakes, one)} for one in wrong.values()]
        return found

    def _of_sum(
        self, messages: Sequence[_Arrived], changed: Sequence[_Arrived], value: np.ndarray
    ) -> list[WrongNumbers]:
        """List the mistakes in the sum of messages to a node of this value: in each `changed` one, and in the sum."""
        names = self.names
        shape, right = value.shape, np.asarray(messages[-1].arrived["after"], float)
        found = [WrongNumbers(SIGN, "", -right), WrongNumbers(VALUE, "", value)]
        adds = not messages[-1].arrived["first"]
        if adds:
            last, left = messages[-1], np.asarray(messages[-1].arrived["message"], float)
            found.append(WrongNumbers(OVERWRITTEN, f"only the message from {names[last.sent['node']]} is left", left))
            found.append(WrongNumbers(AVERAGED, f"over the {len(messages)} messages", right / len(messages)))
        with np.errstate(all="ignore"):
            for message in changed:
                sender, own = names[message.sent["node"]], np.asarray(message.arrived["message"], float)
                rest = right - own
                if adds:
                    found.append(WrongNumbers(FORGOTTEN, f"the one from {sender}", rest))
                    found.append(WrongNumbers(SIGN, f"in the message from {sender}", rest - own))
                for name, where, contribution in self._wrong_contributions(message):
                    one = _summed_to(contribution, shape)
                    found += _if_computable(name, f"in the message from {sender}{where}", np.add, rest, one)
                sent = np.asarray(message.sent["contribution"], float)
                if sent.shape != shape and sent.size > own.size:
                    detail = f"the message from {sender} keeps the shape {sent.shape}"
                    found.append(WrongNumbers(UNSUMMED, detail, rest + sent))
                    copies = sent.size // own.size
                    found.append(WrongNumbers(AVERAGED, f"over the {copies} copies of a cell", rest + own / copies))
        if len(shape) == 2:
            found.append(WrongNumbers(TRANSPOSED, "the gradient is", right.T))
        return _wrong(found, right)

    def _wrong_contributions(self, message: _Arrived) -> Iterator[tuple[str, str, np.ndarray]]:
        """Yield the mistakes in a closure's message: name, details, and the wrong message before it is unbroadcast."""
        sent, names = message.sent, self.names
        node, operand = self.trace.nodes[sent["node"]], sent["operand"]
        upstream, right = np.asarray(sent["upstream"], float), np.asarray(sent["contribution"], float)
        linear = self._linear(message)
        if linear is not None:
            yield UPSTREAM, "", linear(np.ones(upstream.shape))
        operands = self._operands(node)
        if node.get("kind") == "elementwise":
            yield LOCAL, f": {names[node['id']]} passes its own gradient on unchanged", _broadcast(upstream, right)
            right_rule = rule_of(self.trace, node, operand)[0]
            called = {key: names[number] for key, number in message.term["used"].items()}
            for name, wrong, due in _wrong_locals(right_rule.formula, len(operands) > 1) if right_rule.formula else ():
                local = Derivative("", "", wrong).value
                assert local is not None
                details = re.sub(
                    r"\b[aby]\b", lambda letter: called[letter[0]], with_minus(f"{wrong} in place of {due}")
                )
                yield (
                    name,
                    f": {details}",
                    _broadcast(upstream * local(*operands, np.asarray(node["value"], float)), right),
                )
        elif node["op"] == "sum":
            if upstream.shape != right.shape:
                yield NOT_SPREAD, "", upstream
            share = upstream.size / right.size
            yield AVERAGED, f": {names[node['id']]} gives each cell only a share of the gradient", right * share
        elif node["op"] == "@":
            # The rule is upstream @ right.T and left.T @ upstream.
            other = operands[1 - operand]
            factors = (upstream, other) if operand == 0 else (other, upstream)
            for product in _if_computable(TRANSPOSED, f": {names[node['children'][1 - operand]]}", np.matmul, *factors):
                yield product.name, product.where, product.wrong

    def _linear(self, message: _Arrived) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return the linear function from an upstream gradient to the message that a closure sends; None if the trace
        does not have it."""
        sent, local = message.sent, message.term["local"]
        if local is not None:
            factor = np.asarray(local, float)
            return lambda upstream: _broadcast(upstream * factor, np.asarray(sent["contribution"]))
        node, operand = self.trace.nodes[sent["node"]], sent["operand"]
        paths = (node.get("paths") or [None] * (operand + 1))[operand]
        if paths is None:
            return None
        shape = np.shape(sent["contribution"])
        return lambda upstream: np.array(
            [sum(slope * np.ravel(upstream)[cell] for cell, slope in path) for path in paths], float
        ).reshape(shape)

    def _operands(self, node: Node) -> list[np.ndarray]:
        return [np.asarray(self.trace.nodes[child]["value"], float) for child in node["children"]]


# ---------------------------------------------------------------- wrong local derivatives

GATES = ("step", "sign", "larger")  # functions of lab/operation_table.py that let a gradient pass or not


@cache
def _wrong_locals(formula: str, has_b: bool) -> tuple[tuple[str, str, str], ...]:
    """List the known mistakes in a local derivative of lab/operation_table.py: name, the wrong formula, the right one.

    has_b  the operation has two operands
    """
    rule = ast.parse(formula, mode="eval").body
    if isinstance(rule, ast.Call) and ast.unparse(rule.func) == "zero_where":  # a convention, which nobody forgets
        rule = rule.args[1]
    right = ast.unparse(rule)
    used = set(re.findall(r"\b[aby]\b", right))
    found = [(OUTPUT, "y")] * bool(used) + [(name, ast.unparse(wrong)) for name, wrong in _slips(rule)]
    if any(gate in right for gate in GATES):
        found += [(GATE, "1"), (GATE, "0"), (GATE, ast.unparse(ast.BinOp(ast.Constant(1), ast.Sub(), rule)))]
        used.clear()
    for name in sorted(used):
        for other in "aby" if has_b else "ay":
            mistake = OUTPUT if other == "y" else INPUT if name == "y" else OWN
            found.append((mistake, re.sub(rf"\b{name}\b", other, right)))
    return tuple((name, wrong, right) for name, wrong in dict.fromkeys(found) if wrong != right)


def _slips(rule: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield each slip in a formula and the formula with it: at its top, then within each of its parts."""
    match rule:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield FACTOR, left
            yield FACTOR, right
        case ast.BinOp(left=ast.Constant(), op=ast.Div(), right=right):
            yield INVERTED, right
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield INVERTED, ast.BinOp(right, ast.Div(), left)
            yield INVERTED, left
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            yield EXPONENT, ast.BinOp(left, ast.Pow(), right.left) if isinstance(right, ast.BinOp) else left
    for field, part in ast.iter_fields(rule):
        if isinstance(part, ast.expr):
            yield from ((slip, type(rule)(**{**vars(rule), field: wrong})) for slip, wrong in _slips(part))


# ---------------------------------------------------------------- helpers


def _broadcast(contribution: Any, like: np.ndarray) -> np.ndarray:
    return np.broadcast_to(contribution, np.broadcast_shapes(np.shape(contribution), like.shape))


def _summed_to(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum an array over the copies that broadcasting made of a tensor of this shape. An array with fewer axes stays as
    it is."""
    if array.shape == shape or array.ndim < len(shape):
        return array
    array = array.sum(axis=tuple(range(array.ndim - len(shape))))
    repeated = tuple(axis for axis, length in enumerate(shape) if length == 1 != array.shape[axis])
    return array.sum(axis=repeated, keepdims=True) if repeated else array


def _if_computable(name: str, where: str, wrong: Callable[..., Any], *arguments: Any) -> list[WrongNumbers]:
    """Return the mistake with the numbers wrong(*arguments) in a list, which is empty if the shapes do not fit."""
    try:
        return [WrongNumbers(name, where, np.asarray(wrong(*arguments), float))]
    except (ValueError, IndexError):
        return []


def _wrong(found: Sequence[WrongNumbers], right: np.ndarray) -> list[WrongNumbers]:
    """Keep the mistakes whose numbers are finite and differ from the right ones."""
    return [mistake for mistake in found if np.isfinite(mistake.wrong).all() and not same(mistake.wrong, right)]
