"""What a recorded pass is made of while it runs, and the lab's Trace that it becomes. NumPy only, no PyTorch."""

import inspect
import itertools
import linecache
import math
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from lab.trace.loading import MAX_TEXT, set_kinds
from lab.trace.parts import Captured, Code, Event, Large, Node, Value
from lab.trace.recording import Trace
from lab.watch.sites import is_library

MAX_SHOWN = 64  # cells of an array that are kept; of a larger one every second, third, ... along an axis
MAX_CUTS = 60  # shown ends of one trace
MAX_SOURCE_LINES = 400
# PyTorch's names for what the lab's table of operations has under others
NAMES = {
    "add": "+",
    "radd": "+",
    "iadd": "+",
    "sub": "-",
    "subtract": "-",
    "isub": "-",
    "rsub": "-",
    "mul": "*",
    "multiply": "*",
    "rmul": "*",
    "imul": "*",
    "div": "/",
    "truediv": "/",
    "true_divide": "/",
    "itruediv": "/",
    "divide": "/",
    "rtruediv": "/",
    "rdiv": "/",
    "pow": "**",
    "ipow": "**",
    "rpow": "**",
    "matmul": "@",
    "mm": "@",
    "neg": "neg",
    "negative": "neg",
}
REVERSED = frozenset(("rsub", "rtruediv", "rdiv", "rpow"))


def cells(shape: tuple[int, ...], most: int = MAX_SHOWN) -> tuple[slice, ...]:
    """The evenly spaced cells of an array that are kept: all of a small one."""
    counts = list(shape)
    while math.prod(counts) > most:
        axis = max(range(len(counts)), key=counts.__getitem__)
        counts[axis] = (counts[axis] + 1) // 2
    return tuple(slice(None, None, -(-n // count) if count else 1) for n, count in zip(shape, counts, strict=True))


@dataclass(frozen=True)
class Picture:
    """The kept cells of an array, and what is said of all of them where some were left out."""

    value: Value
    shape: tuple[int, ...]
    large: Large | None


def picture(array: np.ndarray) -> Picture:
    """The cells of an array that are kept, copied."""
    kept = array[cells(array.shape)] if array.ndim else array
    return Picture(kept.tolist(), kept.shape, None if kept.size == array.size else statistics(array))


def statistics(array: np.ndarray) -> Large:
    """The full shape of an array, with the smallest, the largest and the mean of its finite numbers."""
    with np.errstate(all="ignore"):  # memory that nobody has filled may hold anything
        numbers = array.astype(float)
        finite = numbers[np.isfinite(numbers)]
        least, most, mean = (float(f(finite)) if finite.size else math.nan for f in (np.min, np.max, np.mean))
    return {
        "shape": list(array.shape),
        "min": least,
        "max": most,
        "mean": mean,
        "not_finite": int(numbers.size - finite.size),
    }


class Place:
    """The user's line that led to an operation. No frame is kept: it would keep the variables of a function."""

    def __init__(self, frame: FrameType | None) -> None:
        self.code: CodeType | None = None if frame is None else frame.f_code
        self.line = 0 if frame is None else frame.f_lineno


def caller(depth: int, beyond: str = "") -> FrameType | None:
    """The innermost frame of the user's own code; `beyond` is a file that is none of theirs."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and (frame.f_code.co_filename == beyond or is_library(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame


def variable(frame: FrameType | None, wanted: Any) -> str:
    """The name of a variable of a frame that is this very object; "" for none."""
    if frame is None:
        return ""
    variables = frame.f_locals
    name = next((name for name, value in variables.items() if value is wanted and not name.startswith("_")), "")
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        variables.clear()  # a copy that would keep the variables alive for as long as the function runs
    return name


@dataclass(eq=False)
class NodeCard:
    """A tensor of the pass: a leaf, a constant, the result of an operation, or an end at which the graph was cut."""

    op: str
    place: Place
    picture: Picture
    requires_grad: bool
    operands: list["NodeCard"] = field(default_factory=list)
    label: str = ""
    calls: tuple[str, ...] = ()
    version: int = 0
    writes: list[tuple[int, int, str]] = field(default_factory=list)  # version, line, operation
    cut: bool = False
    unseen: bool = False  # its numbers were never in Python
    shares: bool = False  # its message is sent by another result of the same call
    added: bool = False  # its gradient was added to an older one
    hides: Counter[str] = field(default_factory=Counter)  # the parts of PyTorch's graph behind it
    captured: list[Captured] = field(default_factory=list)
    memory: int = 0  # the address of its numbers
    call: int = 0  # results of one call have one number
    serial: int = field(default_factory=itertools.count().__next__)


@dataclass
class Sent:
    """A message that was added to the gradient of its receiver."""

    sender: NodeCard
    receiver: NodeCard
    upstream: Value
    contribution: Value
    message: Value
    before: Value | None
    after: Value


@dataclass
class Seeded:
    """The gradient that the pass starts from."""

    card: NodeCard
    grad: Value


@dataclass
class Sums:
    """How the messages of a pass add up to the gradient that the next node was handed.

    exact      to the last bit
    rounded    but for the order of the additions
    different  neither: a hook of the script has changed the gradient on its way
    """

    exact: int = 0
    rounded: int = 0
    different: int = 0


class Draft:
    """One pass on its way to a trace."""

    def __init__(self, place: Place) -> None:
        self.place = place  # of backward()
        self.log: list[Seeded | Sent] = []
        self.sums = Sums()

    def trace(self, output: NodeCard, ends: list[NodeCard]) -> Trace:
        """The trace of all that leads to the output, with the ends at which something of it was cut off."""
        events = self.receivers()
        chosen = ordered(output, [event.card for event in self.log if isinstance(event, Seeded)], ends)
        number = {id(card): index for index, card in enumerate(chosen)}
        known = Sources()
        trace = Trace(output=number[id(output)], sources=known.sources)
        for card in chosen:
            trace.nodes.append(as_node(card, number, known))
            if card.op:
                trace.events.append(
                    {
                        "kind": "forward",
                        "node": number[id(card)],
                        "source": known.name(card.place),
                        "line": card.place.line,
                    }
                )
        trace.events += [written for event in events for written in self.written(event, number, known)]
        set_kinds(trace)
        return trace

    def receivers(self) -> list[tuple[Seeded | Sent, int]]:
        """Each event with the number of the operand that it went to. A receiver that is no operand becomes one."""
        waiting: dict[int, list[NodeCard | None]] = {}
        events: list[tuple[Seeded | Sent, int]] = []
        for event in self.log:
            at = 0
            if isinstance(event, Sent):
                left = waiting.setdefault(id(event.sender), list(event.sender.operands))
                at = next((i for i, card in enumerate(left) if card is event.receiver), len(left))
                if at == len(left):
                    event.sender.operands.append(event.receiver)
                    left.append(None)
                left[at] = None
            events.append((event, at))
        return events

    def written(self, numbered: tuple[Seeded | Sent, int], number: dict[int, int], known: "Sources") -> list[Event]:
        event, operand = numbered
        place = self.place if isinstance(event, Seeded) else event.sender.place
        source, line = known.name(place), place.line
        if isinstance(event, Seeded):
            card = number[id(event.card)]
            return [{"kind": "seed", "node": card, "grad": event.grad, "source": source, "line": line}]
        sender, child = number[id(event.sender)], number[id(event.receiver)]
        before = zeros(event.after) if event.before is None else event.before
        return [
            {
                "kind": "message",
                "node": sender,
                "child": child,
                "operand": operand,
                "upstream": event.upstream,
                "contribution": event.contribution,
                "source": source,
                "line": line,
            },
            {
                "kind": "accumulate",
                "node": child,
                "before": before,
                "message": event.message,
                "after": event.after,
                "first": event.before is None,
                "source": source,
                "line": line,
            },
        ]


def zeros(value: Value) -> Value:
    return [zeros(part) for part in value] if isinstance(value, list) else 0.0


def ordered(output: NodeCard, starts: list[NodeCard], ends: list[NodeCard]) -> list[NodeCard]:
    """All that leads to the output, each card after its operands; then the ends of what is among them."""
    order: list[NodeCard] = []
    placed: set[int] = set()

    def place(card: NodeCard) -> None:
        stack: list[tuple[NodeCard, bool]] = [(card, False)]
        while stack:
            top, ready = stack.pop()
            if ready:
                order.append(top)
            elif id(top) not in placed:
                placed.add(id(top))
                stack += [(top, True), *((operand, False) for operand in reversed(top.operands))]

    for card in (output, *starts):
        place(card)
    told = 0
    for end in ends:
        if told < MAX_CUTS and id(end) not in placed and all(id(operand) in placed for operand in end.operands):
            place(end)
            told += 1
    return order


def as_node(card: NodeCard, number: dict[int, int], known: "Sources") -> Node:
    node: Node = {
        "id": number[id(card)],
        "op": card.op,
        "label": card.label,
        "children": [number[id(operand)] for operand in card.operands],
        "shape": list(card.picture.shape),
        "value": card.picture.value,
        "requires_grad": card.requires_grad,
    }
    if card.op:
        node["source"], node["captured"], node["calls"] = known.name(card.place), card.captured, list(card.calls)
    if card.picture.large is not None:
        node["large"] = card.picture.large
    if card.version:
        node["version"] = card.version
    if card.writes:
        node["writes"] = [{"version": version, "line": line, "op": op} for version, line, op in card.writes]
    if card.hides:
        node["hides"] = [f"{name} ×{n}" if n > 1 else name for name, n in card.hides.items()]
    for key in ("cut", "unseen", "shares", "added"):
        if getattr(card, key):
            node[key] = True
    return node


class Sources:
    """The functions of the user that made a card, each with its code."""

    def __init__(self) -> None:
        self.sources: dict[str, Code] = {}
        self.names: dict[CodeType | None, str] = {}

    def name(self, place: Place) -> str:
        if place.code not in self.names:
            code = source_of(place.code)
            plain = "" if place.code is None else place.code.co_qualname
            name = plain if plain and plain not in self.sources else f"{plain or 'unknown'} ({len(self.names)})"
            self.names[place.code], self.sources[name] = name, code
        return self.names[place.code]


@cache
def source_of(code: CodeType | None) -> Code:
    """The text of a function, or of a whole file."""
    if code is None:
        return {"file": "", "first": 1, "lines": []}
    lines, first = linecache.getlines(code.co_filename), code.co_firstlineno
    if code.co_name == "<module>":
        block, first = lines, 1
    else:
        try:
            block = inspect.getblock(lines[first - 1 :])
        except (IndexError, SyntaxError):
            block = []
    text = textwrap.dedent("".join(block[:MAX_SOURCE_LINES])).rstrip()
    return {
        "file": Path(code.co_filename).name,
        "first": first,
        "lines": [line[:MAX_TEXT] for line in text.split("\n")],
    }


def plain_name(name: str) -> str:
    """`add` of `__add__`; the lab's own name where it has one."""
    bare = name.strip("_")
    return NAMES.get(bare, bare)
