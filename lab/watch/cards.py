"""A pass as it is recorded, and the lab's Trace made of it. Uses NumPy only, no PyTorch."""

import inspect
import itertools
import linecache
import math
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import NotRequired, TypeAlias, TypedDict, cast

import numpy as np

from lab.trace.loading import MAX_TEXT, set_kinds
from lab.trace.recording import Trace
from lab.trace.schema import Accumulate, Captured, Code, Large, Message, Node, Seed, Step, Value, Write

MAX_SHOWN = 64  # cells kept of an array; a larger one keeps every second, third, ... along an axis
MAX_CUTS = 60  # ends shown in one trace
MAX_SOURCE_LINES = 400
MAX_CARDS = 20_000  # operations that are recorded
MODULE_HOOK = "module hook"  # forward, it returns what it gets; in its backward step the backward hooks of a module run
# The name in the lab's table of operations -> PyTorch's names
_NAMES = {
    "+": "add radd iadd",
    "-": "sub subtract isub rsub",
    "*": "mul multiply rmul imul",
    "/": "div truediv true_divide itruediv divide rtruediv rdiv",
    "**": "pow ipow rpow",
    "@": "matmul mm",
    "neg": "neg negative",
    MODULE_HOOK: "BackwardHookFunction",
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


class Shown(TypedDict):
    """What a node of a trace tells of its array: some cells, and statistics of all if some were left out."""

    shape: list[int]
    value: Value
    precision: NotRequired[dict[str, float]]
    large: NotRequired[Large]
    sizes: NotRequired[bool]


def preview(array: np.ndarray) -> Shown:
    """Copy the cells of an array that the player shows."""
    kept = array[kept_slices(array.shape)] if array.ndim else array
    shown: Shown = {"shape": list(kept.shape), "value": kept.tolist()}
    if kept.size != array.size:
        shown["large"] = statistics(array)
    return shown


def statistics(array: np.ndarray) -> Large:
    """Return the full shape of an array, with the minimum, maximum and mean of its finite numbers."""
    with np.errstate(all="ignore"):  # uninitialised memory may hold anything
        numbers = array.astype(float)
        finite = numbers[np.isfinite(numbers)]
        smallest, most, mean = (float(f(finite)) if finite.size else math.nan for f in (np.min, np.max, np.mean))
    bad = int(numbers.size - finite.size)
    return {"shape": list(array.shape), "min": smallest, "max": most, "mean": mean, "not_finite": bad}


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


def variable_name(frame: FrameType | None, wanted: object) -> str:
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
    shown: Shown
    requires_grad: bool
    operands: list["NodeCard"] = field(default_factory=list)
    label: str = ""
    calls: Sequence[str] = ()
    version: int = 0
    writes: list[Write] = field(default_factory=list)
    cut: bool = False
    unseen: bool = False  # its values were never visible in Python
    sender: "NodeCard | None" = None  # another result of the same call, which sends its message
    earlier: Value | None = None  # its gradient before the pass
    now: Value | None = None  # its values at backward() if something wrote to them since
    hides: Counter[str] = field(default_factory=Counter)  # PyTorch's graph nodes behind this card, by kind
    engine: SourceLine | None = None  # the line of the lab's engine that computed it
    captured: list[Captured] = field(default_factory=list)
    memory: int = 0  # address of its storage
    stale: bool = False  # that was written to
    unreadable: bool = False  # hooks of the script pack what it saves, and must not run again
    call: int = 0  # number of the call that made it
    serial: int = field(default_factory=itertools.count().__next__)

    def note_writes(self, present: Shown) -> None:
        """Keep the present values if they are not those of the forward pass."""
        if repr(present["value"]) != repr(self.shown["value"]):  # as text, nan equals nan
            self.now = present["value"]

    def as_node(self, numbers: dict[int, int], sources: "Sources") -> Node:
        """Return the trace's node for this card; numbers: the ids of cards by their serial numbers."""
        children = [numbers[operand.serial] for operand in self.operands]
        own = {"op": self.op, "label": self.label, "children": children, "requires_grad": self.requires_grad}
        node = cast(Node, {"id": numbers[self.serial], **own, **self.shown})
        if self.op:
            node["source"], node["captured"], node["calls"] = sources.name(self.position), self.captured, [*self.calls]
        if self.hides:
            node["hides"] = [f"{name} ×{n}" if n > 1 else name for name, n in self.hides.items()]
        for known in ("earlier", "now"):
            if getattr(self, known) is not None:
                node[known] = getattr(self, known)
        if self.sender is not None:
            node["shares"] = numbers.get(self.sender.serial, node["id"])  # if it is folded
        for key in ("version", "writes", "cut", "unseen"):
            if getattr(self, key):
                node[key] = getattr(self, key)
        return node


Sent: TypeAlias = tuple[Message, Accumulate]  # what one message to an operand does


class TraceDraft:
    """One pass while it is recorded, before it becomes a trace: the line of backward(), the cards, of which the last is
    the output, and the ends where parts of the graph were cut off. Its events name cards by their serial numbers."""

    def __init__(self, position: SourceLine, cards: Sequence[NodeCard], ends: Sequence[NodeCard] = ()) -> None:
        self.position, self.cards, self.ends, self.output = position, [*cards], ends, cards[-1]
        self.log: list[Seed | Sent] = []
        self.unsent: dict[NodeCard, list[NodeCard | None]] = {}  # sender -> operands that it has not sent a message
        self.sources = Sources()
        self.max_operations = MAX_CARDS  # more than these are folded into one card
        self.operations = 0  # of the trace
        self.whole = True  # all operations were recorded

    def seed(self, card: NodeCard, grad: Value, replaced: Value | None = None) -> None:
        """Log the gradient that the pass starts from, or one that a hook of the program put in place of another."""
        self.cards.append(card)
        changed = {} if replaced is None else {"replaced": replaced}
        set_to = {"kind": "seed", "node": card.serial, "grad": grad, **changed, **self.sources.step(self.position)}
        self.log.append(cast(Seed, set_to))

    def message(
        self,
        sender: NodeCard,
        receiver: NodeCard,
        upstream: Value,
        contribution: Value,
        message: Value,
        before: Value | None,
        after: Value,
        sent_by: SourceLine | None = None,
        added_by: SourceLine | None = None,
    ) -> None:
        """Log a message and its accumulation, with the lines of the lab's engine. A receiver that is no operand of the
        sender becomes one."""
        left = self.unsent.setdefault(sender, [*sender.operands])
        if receiver not in left:
            sender.operands.append(receiver)
            left.append(receiver)
        operand = left.index(receiver)
        left[operand] = None
        sent: Message = {
            "kind": "message",
            "node": sender.serial,
            "child": receiver.serial,
            "operand": operand,
            "upstream": upstream,
            "contribution": contribution,
            **self.sources.step(sender.position, sent_by),
        }
        added: Accumulate = {
            "kind": "accumulate",
            "node": receiver.serial,
            "before": zeros(after) if before is None else before,
            "message": message,
            "after": after,
            "first": before is None,
            **self.sources.step(sender.position, added_by),
        }
        self.log.append((sent, added))

    def finish(self) -> Trace:
        """Return the trace of what was recorded, with the present gradients of its leaves."""
        cards, output, log = ordered(self.cards, self.ends), self.output, self.log
        self.operations = sum(card.op != "" for card in cards)
        if self.operations > self.max_operations:
            output, log = self.fold(cards)
            cards = ordered([output], [])
        numbers = {card.serial: index for index, card in enumerate(cards)}
        trace = Trace(output=numbers[output.serial], sources=self.sources.sources, gradients=self.gradients())
        for card in cards:
            trace.nodes.append(card.as_node(numbers, self.sources))
            if card.op:
                at: Step = self.sources.step(card.position, card.engine)
                trace.events.append({"kind": "forward", "node": numbers[card.serial], **at})
        for part in log:
            if isinstance(part, tuple):
                sent, added = part
                child = numbers[sent["child"]]
                trace.events += [{**sent, "node": numbers[sent["node"]], "child": child}, {**added, "node": child}]
            else:
                trace.events.append({**part, "node": numbers[part["node"]]})
        set_kinds(trace)
        return trace

    def gradients(self) -> dict[str, np.ndarray | None]:
        """Return the gradients of the leaves, by their labels."""
        return {}

    def fold(self, cards: list[NodeCard]) -> tuple[NodeCard, list[Seed | Sent]]:
        """Return one card in place of all operations after the first `max_operations`, which is the new output, and
        the log in which it sends the messages that leave them. Inputs that only they use are left out."""
        operations = sorted((card for card in cards if card.op), key=lambda card: card.serial)
        first, rest = operations[: self.max_operations], operations[self.max_operations :]
        kept = {one.serial for card in first for one in (card, *card.operands)}
        inner = [*dict.fromkeys(one for card in rest for one in card.operands if one.serial in kept)]
        places = {card.serial: index for index, card in enumerate(inner)}
        seeds = [part for part in self.log if not isinstance(part, tuple)]
        last = next((card for card in cards if seeds and card.serial == seeds[0]["node"]), self.output)
        folded = NodeCard("more operations", last.position, last.shown, True, inner)
        log: list[Seed | Sent] = [{**seed, "node": folded.serial} for seed in seeds[:1]]
        latest: dict[int, int] = {}  # receiver -> place in the log of its latest message, if that left the folded part
        for part in self.log:
            if not isinstance(part, tuple):
                log += [part] if part is not seeds[0] and part["node"] in kept else []
                continue
            if part[0]["child"] not in kept:
                continue
            sent, added = part
            child = sent["child"]
            if not seeds or sent["node"] in kept:
                latest.pop(child, None)
                log.append(part)
                continue
            if child in latest:
                before = cast(Sent, log[latest[child]])[1]
                total = np.add(before["message"], added["message"]).tolist()
                added = {**before, "message": total, "after": added["after"]}
            else:
                latest[child] = len(log)
                log.append(part)
            sent = {**sent, "node": folded.serial, "operand": places[child], "upstream": seeds[0]["grad"]}
            log[latest[child]] = {**sent, "contribution": added["message"]}, added
        return folded, log


def zeros(value: Value) -> Value:
    return [zeros(part) for part in value] if isinstance(value, list) else 0.0


def ordered(cards: Sequence[NodeCard], ends: Sequence[NodeCard]) -> list[NodeCard]:
    """Return all that leads to some cards, each card after its operands, then the first ends whose operands are
    among them."""
    order: dict[NodeCard, None] = {}

    def add(card: NodeCard) -> None:
        stack = [card]
        while stack:
            waiting = [operand for operand in stack[-1].operands if operand not in order]
            if waiting:
                stack += waiting[::-1]
            else:
                order[stack.pop()] = None

    for card in cards:
        add(card)
    cut = (end for end in ends if end not in order and all(operand in order for operand in end.operands))
    for end in itertools.islice(cut, MAX_CUTS):
        add(end)
    return [*order]


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
    shown = [line[:MAX_TEXT] for line in text.split("\n")]
    return {"file": Path(code.co_filename).name, "first": first, "lines": shown}


def label_leaves(leaves: Iterable[NodeCard], unnamed: str) -> None:
    """Give leaves labels of their own: a number follows one that is taken."""
    counts = Counter[str]()
    for card in leaves:
        card.label = card.label or unnamed
        counts[card.label] += 1
        while counts[card.label] > 1:
            card.label = f"{card.label}_{counts[card.label]}"
            counts[card.label] += 1


def plain_name(name: str) -> str:
    """Return an operation's name without underscores, or the lab's symbol for it: `+` for `__add__`."""
    bare = name.strip("_")
    return NAMES.get(bare, bare)
