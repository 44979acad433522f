"""A pass as it is recorded, and the lab's Trace made of it. Uses NumPy only, no PyTorch."""

import inspect
import itertools
import linecache
import math
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Protocol, TypeAlias

import numpy as np

from lab.trace.loading import MAX_TEXT, set_kinds
from lab.trace.recording import Trace
from lab.trace.schema import Captured, Code, Event, Large, Node, Step, Value
from lab.watch.sites import user_frame

MAX_SHOWN = 64  # cells kept of an array; a larger one keeps every second, third, ... along an axis
MAX_CUTS = 60  # ends shown in one trace
MAX_SOURCE_LINES = 400
MAX_CARDS = 20_000  # operations that are recorded
# The name in the lab's table of operations -> PyTorch's names
_NAMES = {
    "+": "add radd iadd",
    "-": "sub subtract isub rsub",
    "*": "mul multiply rmul imul",
    "/": "div truediv true_divide itruediv divide rtruediv rdiv",
    "**": "pow ipow rpow",
    "@": "matmul mm",
    "neg": "neg negative",
}
NAMES = {name: symbol for symbol, names in _NAMES.items() for name in names.split()}
REVERSED = frozenset(("rsub", "rtruediv", "rdiv", "rpow"))


def kept_slices(shape: tuple[int, ...], most: int = MAX_SHOWN) -> tuple[slice, ...]:
    """Return slices that select at most `most` evenly spaced cells of an array, or all cells of a small one."""
    counts = list(shape)
    while math.prod(counts) > most:
        axis = max(range(len(counts)), key=counts.__getitem__)
        counts[axis] = (counts[axis] + 1) // 2
    return tuple(slice(None, None, -(-n // count) if count else 1) for n, count in zip(shape, counts, strict=True))


@dataclass(frozen=True)
class ArrayPreview:
    """Some cells of an array, with statistics of all cells where some were left out."""

    value: Value
    shape: tuple[int, ...]
    large: Large | None
    sizes: bool = False  # of complex numbers


def preview(array: np.ndarray) -> ArrayPreview:
    """Copy the cells of an array that the player shows."""
    kept = array[kept_slices(array.shape)] if array.ndim else array
    return ArrayPreview(kept.tolist(), kept.shape, None if kept.size == array.size else statistics(array))


def statistics(array: np.ndarray) -> Large:
    """Return the full shape of an array, with the minimum, maximum and mean of its finite numbers."""
    with np.errstate(all="ignore"):  # uninitialised memory may hold anything
        numbers = array.astype(float)
        finite = numbers[np.isfinite(numbers)]
        smallest, most, mean = (float(f(finite)) if finite.size else math.nan for f in (np.min, np.max, np.mean))
    return {
        "shape": list(array.shape),
        "min": smallest,
        "max": most,
        "mean": mean,
        "not_finite": int(numbers.size - finite.size),
    }


class SourceLine:
    """A line of the user's code. It holds no frame, which would keep a function's variables alive."""

    def __init__(self, frame: FrameType | None) -> None:
        self.code: CodeType | None = None if frame is None else frame.f_code
        self.line = 0 if frame is None else frame.f_lineno

    @classmethod
    def containing(cls, code: CodeType, text: str) -> "SourceLine":
        """Return the first line of a function that contains a text, or its first line."""
        found, source = cls(None), source_of(code)
        numbers = (number for number, line in enumerate(source["lines"], source["first"]) if text in line)
        found.code, found.line = code, next(numbers, source["first"])
        return found


def caller(depth: int, engine_files: tuple[str, ...] = ()) -> FrameType | None:
    """Return the innermost frame of the user's own code; frames of `engine_files` are skipped too."""
    frame: FrameType | None = sys._getframe(depth)
    frame = user_frame(frame)
    while frame is not None and frame.f_code.co_filename in engine_files:
        frame = user_frame(frame.f_back)
    return frame


def variable_name(frame: FrameType | None, wanted: Any) -> str:
    """Return the name of the frame's variable that holds this very object; "" if there is none."""
    if frame is None:
        return ""
    variables = frame.f_locals
    attributes = getattr(variables.get("self"), "__dict__", {})  # as in a method of a layer
    places = (variables, attributes, frame.f_globals)
    named = (name for place in places for name, value in place.items() if value is wanted and not name.startswith("_"))
    name = next(named, "")
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        variables.clear()  # a copy that would keep the variables alive for as long as the function runs
    return name


@dataclass(eq=False)
class NodeCard:
    """A tensor of the pass: a leaf, a constant, the result of an operation, or an end where the graph was cut."""

    op: str
    position: SourceLine
    preview: ArrayPreview
    requires_grad: bool
    operands: list["NodeCard"] = field(default_factory=list)
    label: str = ""
    calls: tuple[str, ...] = ()
    version: int = 0
    writes: list[tuple[int, int, str]] = field(default_factory=list)  # version, line, operation
    cut: bool = False
    unseen: bool = False  # its values were never visible in Python
    shares: bool = False  # another result of the same call sends its message
    added: bool = False  # it had a gradient before the pass
    hides: Counter[str] = field(default_factory=Counter)  # PyTorch's graph nodes behind this card, by kind
    engine: "SourceLine | None" = None  # the line of the lab's engine that computed it
    captured: list[Captured] = field(default_factory=list)
    memory: int = 0  # address of its storage
    call: int = 0  # number of the call that made it
    serial: int = field(default_factory=itertools.count().__next__)


@dataclass
class EdgeMessage:
    """A message that was added to the gradient of its receiver."""

    sender: NodeCard
    receiver: NodeCard
    upstream: Value
    contribution: Value
    message: Value
    before: Value | None
    after: Value
    sent_by: "SourceLine | None" = None  # lines of the lab's engine
    added_by: "SourceLine | None" = None


@dataclass
class SeedGradient:
    """The gradient that the pass starts from."""

    card: NodeCard
    grad: Value


@dataclass
class MessageSums:
    """How often the messages of a pass add up to the gradient that the next node received.

    exact      to the last bit
    rounded    up to the order of the additions
    different  neither: a hook of the script changed the gradient on the way
    """

    exact: int = 0
    rounded: int = 0
    different: int = 0


LogEntry: TypeAlias = SeedGradient | EdgeMessage


class EndedPass(Protocol):
    """A pass of either recorder that has ended."""

    draft: "TraceDraft"

    def finish(self) -> Trace: ...


class TraceDraft:
    """One pass while it is recorded, before it becomes a trace."""

    def __init__(self, position: SourceLine) -> None:
        self.position = position  # of backward()
        self.log: list[LogEntry] = []
        self.sums = MessageSums()
        self.max_operations = MAX_CARDS  # more than these are folded into one card
        self.operations = 0  # of the trace

    def trace(self, output: NodeCard, ends: list[NodeCard], starts: Sequence[NodeCard] = ()) -> Trace:
        """Return the trace of all that leads to `starts` and to the output, with the ends at which parts of it were
        cut off."""
        events = receivers(self.log)
        seeds = [event.card for event in self.log if isinstance(event, SeedGradient)]
        chosen = ordered([*starts, output, *seeds], ends)
        self.operations = sum(card.op != "" for card in chosen)
        if self.operations > self.max_operations:
            output, log = self.fold(output, chosen)
            events = receivers(log)
            chosen = ordered([output], [])
        numbers = {id(card): index for index, card in enumerate(chosen)}
        sources = Sources()
        trace = Trace(output=numbers[id(output)], sources=sources.sources)
        for card in chosen:
            trace.nodes.append(as_node(card, numbers, sources))
            if card.op:
                at: Step = sources.step(card.position, card.engine)
                trace.events.append({"kind": "forward", "node": numbers[id(card)], **at})
        trace.events += [written for event in events for written in self.event_rows(event, numbers, sources)]
        set_kinds(trace)
        return trace

    def fold(self, output: NodeCard, cards: list[NodeCard]) -> tuple[NodeCard, list[LogEntry]]:
        """Return one card in place of all operations after the first `max_operations`, which is the new output, and
        the log in which it sends the messages that leave them. Inputs that only they use are left out."""
        operations = sorted((card for card in cards if card.op), key=lambda card: card.serial)
        kept = {id(card) for card in operations[: self.max_operations]}
        kept |= {id(operand) for card in operations[: self.max_operations] for operand in card.operands}
        rest = operations[self.max_operations :]
        inner = {id(card): card for card in rest for card in card.operands if id(card) in kept}
        folded = NodeCard("more operations", output.position, output.preview, True, [*inner.values()])
        seed = next((event.grad for event in self.log if isinstance(event, SeedGradient)), None)
        log: list[LogEntry] = [] if seed is None else [SeedGradient(folded, seed)]
        latest: dict[int, int] = {}  # receiver -> place in the log of its latest message, if that left the folded part
        for event in self.log:
            if isinstance(event, SeedGradient) or id(event.receiver) not in kept:
                continue
            if seed is None or id(event.sender) in kept:
                latest.pop(id(event.receiver), None)
                log.append(event)
            elif id(event.receiver) in latest:
                at = latest[id(event.receiver)]
                log[at] = merged(log[at], event)
            else:
                latest[id(event.receiver)] = len(log)
                log.append(replace(event, sender=folded, upstream=seed, contribution=event.message))
        return folded, log

    def event_rows(self, numbered: tuple[LogEntry, int], numbers: dict[int, int], sources: "Sources") -> list[Event]:
        """Return the trace events of one recorded event: a seed, or a message and its accumulation."""
        event, operand = numbered
        if isinstance(event, SeedGradient):
            at = sources.step(self.position)
            return [{"kind": "seed", "node": numbers[id(event.card)], "grad": event.grad, **at}]
        sender, child = numbers[id(event.sender)], numbers[id(event.receiver)]
        before = zeros(event.after) if event.before is None else event.before
        return [
            {
                "kind": "message",
                "node": sender,
                "child": child,
                "operand": operand,
                "upstream": event.upstream,
                "contribution": event.contribution,
                **sources.step(event.sender.position, event.sent_by),
            },
            {
                "kind": "accumulate",
                "node": child,
                "before": before,
                "message": event.message,
                "after": event.after,
                "first": event.before is None,
                **sources.step(event.sender.position, event.added_by),
            },
        ]


def receivers(log: list[LogEntry]) -> list[tuple[LogEntry, int]]:
    """Return each event with the index of the operand that received it. Other receivers are added as operands."""
    unsent: dict[int, list[NodeCard | None]] = {}
    events: list[tuple[LogEntry, int]] = []
    for event in log:
        at = 0
        if isinstance(event, EdgeMessage):
            left = unsent.setdefault(id(event.sender), list(event.sender.operands))
            at = next((i for i, card in enumerate(left) if card is event.receiver), len(left))
            if at == len(left):
                event.sender.operands.append(event.receiver)
                left.append(None)
            left[at] = None
        events.append((event, at))
    return events


def merged(first: LogEntry, second: EdgeMessage) -> EdgeMessage:
    """Return two messages to one receiver, one right after the other, as a single one."""
    assert isinstance(first, EdgeMessage)
    message = np.add(first.message, second.message).tolist()
    return replace(first, contribution=message, message=message, after=second.after)


def zeros(value: Value) -> Value:
    return [zeros(part) for part in value] if isinstance(value, list) else 0.0


def ordered(starts: list[NodeCard], ends: list[NodeCard]) -> list[NodeCard]:
    """Return the cards that lead to some cards, each after its operands, then the cut ends of those cards."""
    order: list[NodeCard] = []
    placed: set[int] = set()

    def add_after_operands(card: NodeCard) -> None:
        stack: list[tuple[NodeCard, bool]] = [(card, False)]
        while stack:
            top, ready = stack.pop()
            if ready:
                order.append(top)
            elif id(top) not in placed:
                placed.add(id(top))
                stack += [(top, True), *((operand, False) for operand in reversed(top.operands))]

    for card in starts:
        add_after_operands(card)
    ends_added = 0
    for end in ends:
        if ends_added < MAX_CUTS and id(end) not in placed and all(id(operand) in placed for operand in end.operands):
            add_after_operands(end)
            ends_added += 1
    return order


def as_node(card: NodeCard, numbers: dict[int, int], sources: "Sources") -> Node:
    """Return the trace's node for a card."""
    node: Node = {
        "id": numbers[id(card)],
        "op": card.op,
        "label": card.label,
        "children": [numbers[id(operand)] for operand in card.operands],
        "shape": list(card.preview.shape),
        "value": card.preview.value,
        "requires_grad": card.requires_grad,
    }
    if card.op:
        node["source"], node["captured"], node["calls"] = sources.name(card.position), card.captured, list(card.calls)
    if card.preview.large is not None:
        node["large"] = card.preview.large
    if card.preview.sizes:
        node["sizes"] = True
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
    """The source code of the user's functions that made the cards."""

    def __init__(self) -> None:
        self.sources: dict[str, Code] = {}
        self.names: dict[CodeType | None, str] = {}

    def name(self, position: SourceLine) -> str:
        """Return a unique name of the function that contains a line; keep its source under that name."""
        if position.code not in self.names:
            code = source_of(position.code)
            plain = "" if position.code is None else position.code.co_qualname
            name = plain if plain and plain not in self.sources else f"{plain or 'unknown'} ({len(self.names)})"
            self.names[position.code], self.sources[name] = name, code
        return self.names[position.code]

    def step(self, position: SourceLine, engine: SourceLine | None = None) -> Step:
        """Return the place of an event: the user's line and, if known, the engine's."""
        at: Step = {"source": self.name(position), "line": position.line}
        if engine is not None:
            at["engine"] = {"source": self.name(engine), "line": engine.line}
        return at


@cache
def source_of(code: CodeType | None) -> Code:
    """Return the source of a function, or of the whole file for module-level code."""
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


class UniqueNames:
    """Makes names unique by appending a number."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def unique(self, name: str) -> str:
        count = self.counts[name] = self.counts.get(name, 0) + 1
        return name if count == 1 else self.unique(f"{name}_{count}")


def plain_name(name: str) -> str:
    """Return an operation's name without underscores, or the lab's symbol for it: `+` for `__add__`."""
    bare = name.strip("_")
    return NAMES.get(bare, bare)
