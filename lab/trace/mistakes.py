"""Computes the wrong gradients that known mistakes give, from the events of a pass that the engine ran.

A mistake is reported as a condition: "this is what you get if you overwrite instead of adding". That is true whatever
the learner did; if two mistakes give the same numbers, both are named. One that gives the right numbers is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from lab.trace.derive import derive
from lab.trace.parts import Accumulate, Message, Node, SentTerm
from lab.trace.recording import Trace

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
EXPONENT = "the exponent is used only once"
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
        if len(messages) > 1:
            last, left = messages[-1], np.asarray(messages[-1].arrived["message"], float)
            found.append(WrongNumbers(OVERWRITTEN, f"only the message from {names[last.sent['node']]} is left", left))
            found.append(WrongNumbers(AVERAGED, f"over the {len(messages)} messages", right / len(messages)))
        with np.errstate(all="ignore"):
            for message in changed:
                sender, own = names[message.sent["node"]], np.asarray(message.arrived["message"], float)
                rest = right - own
                if len(messages) > 1:
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
            y = np.asarray(node["value"], float)
            called = {key: names[number] for key, number in message.term["used"].items()}
            for name, where, local in _LOCALS.get((node["op"], operand), ()):
                arguments = (operands[0], operands[-1], y)
                yield name, f": {where.format(**called)}", _broadcast(upstream * local(*arguments), right)
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


# Wrong local derivatives: (operation, operand) -> (name, details, function of the operands a and b and the result y).
# With a single operand, b is a.
_Local = tuple[str, str, Callable[[Any, Any, Any], Any]]
_GATES: tuple[_Local, ...] = (
    (GATE, "both operands get all of it", lambda a, b, y: np.ones(y.shape)),
    (GATE, "nothing gets through", lambda a, b, y: np.zeros(y.shape)),
)
_LOCALS: Mapping[tuple[str, int], tuple[_Local, ...]] = {
    ("*", 0): ((OUTPUT, "{y} in place of {b}", lambda a, b, y: y), (OWN, "{a} in place of {b}", lambda a, b, y: a)),
    ("*", 1): ((OUTPUT, "{y} in place of {a}", lambda a, b, y: y), (OWN, "{b} in place of {a}", lambda a, b, y: b)),
    ("/", 0): (
        (OUTPUT, "{y} in place of 1/{b}", lambda a, b, y: y),
        (INVERTED, "{b} in place of 1/{b}", lambda a, b, y: b),
    ),
    ("/", 1): (
        (OUTPUT, "−{y}/{b}² in place of −{a}/{b}²", lambda a, b, y: -y / b**2),
        (INVERTED, "−{a}/{b} in place of −{a}/{b}²", lambda a, b, y: -a / b),
        (OWN, "1/{b} in place of −{a}/{b}²", lambda a, b, y: 1 / b),
    ),
    ("**", 0): (
        (OUTPUT, "{b}·{y}**({b} − 1), with {y} in place of {a}", lambda a, b, y: b * y ** (b - 1)),
        (EXPONENT, "{a}**({b} − 1), without the factor {b}", lambda a, b, y: a ** (b - 1)),
        (EXPONENT, "{b}·{a}^{b}, with the power as it was", lambda a, b, y: b * a**b),
    ),
    ("exp", 0): ((INPUT, "{a} in place of {y}", lambda a, b, y: a),),
    ("log", 0): ((OUTPUT, "1/{y} in place of 1/{a}", lambda a, b, y: 1 / y),),
    ("sqrt", 0): ((INPUT, "1/(2·{a}) in place of 1/(2·{y})", lambda a, b, y: 0.5 / a),),
    ("sin", 0): ((OUTPUT, "the cosine of {y} in place of that of {a}", lambda a, b, y: np.cos(y)),),
    ("cos", 0): ((OUTPUT, "the sine of {y} in place of that of {a}", lambda a, b, y: -np.sin(y)),),
    ("tanh", 0): (
        (INPUT, "1 − {a}² in place of 1 − {y}²", lambda a, b, y: 1 - a**2),
        (OUTPUT, "1 − tanh² {y} in place of 1 − tanh² {a}", lambda a, b, y: 1 - np.tanh(y) ** 2),
        (EXPONENT, "1 − {y} in place of 1 − {y}²", lambda a, b, y: 1 - y),
    ),
    ("sigmoid", 0): ((INPUT, "{a}·(1 − {a}) in place of {y}·(1 − {y})", lambda a, b, y: a * (1 - a)),),
    ("relu", 0): (
        (OUTPUT, "{y} in place of 1 or 0", lambda a, b, y: y),
        (GATE, "it passes everywhere", lambda a, b, y: np.ones(y.shape)),
        (GATE, "it passes where {a} is not above 0", lambda a, b, y: np.where(a > 0, 0.0, 1.0)),
    ),
    ("abs", 0): ((GATE, "the sign of {a} is not used", lambda a, b, y: np.ones(y.shape)),),
    **{
        (op, operand): (*_GATES, (GATE, "the other one gets it", other))
        for op, operand, other in (
            ("maximum", 0, lambda a, b, y: np.where(a == b, 0.5, a < b)),
            ("maximum", 1, lambda a, b, y: np.where(a == b, 0.5, a > b)),
            ("minimum", 0, lambda a, b, y: np.where(a == b, 0.5, a > b)),
            ("minimum", 1, lambda a, b, y: np.where(a == b, 0.5, a < b)),
        )
    },
}


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
