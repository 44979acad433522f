"""One forward and backward pass of the real engine, written down as a list of events.

A `Recorded` tensor reports what happens to it: each operation that makes a node, the seed, each message that a closure
sends and what the gradient was before and after. It changes nothing: the numbers are those of the engine, which may be
`model.Tensor` or a broken one derived from it. The result is plain data (dicts, lists, numbers), so that a browser can
play it without Python.
"""

import inspect
import itertools
import linecache
import math
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CellType, CodeType, FrameType, FunctionType, MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np

from lab.ops import OPS, UNKNOWN, Op
from lab.text import brief, strict_json
from lab.trace.parts import Captured, Code, Event, Node, Role, Value
from model import (
    MutationError,
    Tensor,
    _check_nothing_freed,
    _check_nothing_written_to,
    _fitted,
    _unbroadcast,
    topological_order,
)

MOST_NUMBERS = 200_000  # in one trace: about 5 MB on their way to a browser
MOST_CELLS = 64  # of a result whose operation is asked for the local derivatives of each
MOST_PATHS = 1024  # local derivatives of one operation with respect to one operand
Change = Literal["constant", "detached", "written"]  # what may be done to a leaf before the backward pass
_ENGINE = Tensor._node.__code__.co_filename
_SLOT: Any = vars(Tensor)["grad"]  # where every engine keeps a gradient


@dataclass
class Trace:
    """What `record` returns. lab/trace/parts.py says what its nodes and events are.

    nodes      in the order of creation; the id of each is its index
    events     in the order in which they happened. An accumulation stands right after its message
    gradients  leaf name -> array, or None where none arrived; also of the tensors that the function brought along
    output     the id of the result
    sources    function name -> the code that ran
    error      what backward() raised, or "": then the events are those up to there
    ops        what is known about its operations, by name. No part of its JSON
    """

    nodes: list[Node] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    gradients: dict[str, np.ndarray | None] = field(default_factory=dict)
    output: int = 0
    sources: dict[str, Code] = field(default_factory=dict)
    error: str = ""
    ops: Mapping[str, Op] = field(default_factory=lambda: OPS, repr=False)

    _repr_html_: ClassVar[Callable[["Trace"], str]]  # how a notebook shows it: lab/trace/__init__.py

    def to_json(self) -> str:
        """The whole trace as strict JSON; nan and the infinities become the strings "nan", "inf" and "-inf"."""
        gradients = {name: None if g is None else g.tolist() for name, g in self.gradients.items()}
        parts = {"nodes": self.nodes, "events": self.events, "gradients": gradients}
        return strict_json({**parts, "output": self.output, "sources": self.sources, "error": self.error})

    @property
    def forward_events(self) -> int:
        """How many events the forward pass has; where a backward pass began, the index of the seed."""
        return sum(event["kind"] == "forward" for event in self.events)

    def gradients_after(self, count: int | None = None) -> dict[int, Value]:
        """Node id -> gradient, of the nodes that one has reached after the first `count` events (all of them)."""
        reached: dict[int, Value] = {}
        for event in self.events[:count]:
            if event["kind"] == "seed":
                reached[event["node"]] = event["grad"]
            elif event["kind"] == "accumulate":
                reached[event["node"]] = event["after"]
        return reached

    def to_text(self, count: int | None = None) -> str:
        """One line per node, the output first, what it was computed from indented below it.

        A node that is used twice is written out once; the second line refers to the first.
        """
        gradients = self.gradients_after(count)
        lines: list[str] = []
        written: set[int] = set()
        stack = [(self.output, 0)]
        while stack:
            number, depth = stack.pop()
            node = self.nodes[number]
            line = f"{'  ' * depth}{describe(node)}"
            if number in written:
                lines.append(f"{line} (see above)")
                continue
            written.add(number)
            gradient = (
                "constant"
                if not node["requires_grad"]
                else f"grad {brief(gradients[number])}"
                if number in gradients
                else "grad not computed"
            )
            lines.append(f"{line} = {brief(node['value'])}, {gradient}")
            stack += [(child, depth + 1) for child in reversed(node["children"])]
        return "\n".join(lines)


def kind_of(trace: Trace, node: Node) -> Role:
    """What a node is in the drawing: "output", "operation", "constant" or "leaf"."""
    if node["id"] == trace.output:
        return "output"
    if node["op"]:
        return "operation"
    return "leaf" if node["requires_grad"] else "constant"


def record(
    build: Callable[..., Tensor],
    leaves: Mapping[str, Any],
    upstream: Any = None,
    *,
    tensor: type[Tensor] = Tensor,
    ops: Mapping[str, Op] = OPS,
) -> Trace:
    """Run `build(**leaves)` forward and backward on recording tensors.

    build     called with a Tensor for each leaf, as keywords; returns a Tensor. It may use other tensors too, such as
              the weights of a network: they are nodes by their labels ("t1", "t2", ... without one; "W1_2" for a second
              W1), and their gradients are in the trace, while they themselves stay as they were
    leaves    name -> number or array; each becomes a leaf with that label
    upstream  the upstream gradient of the result; ones of its shape by default
    tensor    the engine: Tensor, or a class derived from it, such as a broken one
    ops       what is known about its operations

    RuntimeError: the pass has more numbers than a trace may have. Other errors are those of the engine and of `build`.
    """
    recording = Recording(leaves, tensor, ops)
    with np.errstate(all="ignore"):  # inf and nan are shown where they arise
        output = _built(build, recording)
        output.backward(np.ones(output.shape) if upstream is None else upstream, retain_graph=True)
    return recording.finish(output)


def attempt(
    build: Callable[..., Tensor],
    leaves: Mapping[str, Any],
    upstream: Any = None,
    changes: Mapping[str, Change] = MappingProxyType({}),
) -> Trace:
    """As `record`, but the engine decides whether there is a backward pass: where it refuses, the trace has the forward
    pass, and what `backward()` said as its error. Of a result of many numbers and no `upstream` that is how it ends;
    `starting_gradients` has what can be offered then.

    changes  leaf name -> what is done to it. "constant": it is made with requires_grad=False. "detached": `build` gets
             its `detach()`. "written": 1 is added to its `data` between the passes

    RuntimeError: the pass has more numbers than a trace may have. ValueError: `upstream` has another shape.
    """
    constants = [name for name, change in changes.items() if change == "constant"]
    recording, error = Recording(leaves, constants=constants), ""
    with np.errstate(all="ignore"):
        output = _built(build, recording, [name for name, change in changes.items() if change == "detached"])
        for name, change in changes.items():
            if change == "written":
                recording.tensors[name].data += 1.0
        if not output.requires_grad or (upstream is None and output.size != 1):
            try:
                output.backward()
            except RuntimeError as refusal:
                error = str(refusal)
        else:
            try:
                output.backward(upstream, retain_graph=True)
            except MutationError as refusal:
                error = str(refusal)
    return recording.finish(output, error)


def starting_gradients(shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Upstream gradients to start from where a result has many numbers, by what they make of it: the gradients are then
    those of its sum, or of its mean."""
    return {"sum": np.ones(shape), "mean": np.full(shape, 1.0 / math.prod(shape))}


def _built(build: Callable[..., Tensor], recording: "Recording", detached: Sequence[str] = ()) -> "Recorded":
    tensors: dict[str, Tensor] = {**recording.tensors}
    for name in detached:
        tensors[name] = tensors[name].detach()
        tensors[name].label = f"{name}.detach()"
    output = build(**tensors)
    if not isinstance(output, Tensor):
        raise TypeError(f"The function to record must return a Tensor, not {type(output).__name__}.")
    return recording.twin(output)


class Recorded(Tensor):
    """What a recording tensor does besides being one. Results of operations on it are recording tensors too."""

    id: int
    recorder: "Recording"

    def _node(self, data: Any, children: tuple[Tensor, ...], op: str, backward: Callable[..., Any]) -> Tensor:
        frame = sys._getframe(1)  # the method of the engine that is making this node
        made_at = SourcePlace(frame.f_code, frame.f_lineno, self.recorder.callers(frame.f_back))
        return self.observed(data, children, op, backward, made_at)

    def observed(
        self,
        data: Any,
        children: tuple[Tensor, ...],
        op: str,
        backward: Callable[..., Any],
        made_at: "SourcePlace",
    ) -> "Recorded":
        """The node of an operation, with a closure that reports when it runs."""
        recorder = self.recorder

        def observed(upstream: Any) -> None:
            recorder.enter(out_id, upstream, backward)
            backward(upstream)
            recorder.leave()

        out = cast(Recorded, super()._node(data, children, op, observed))
        if not out.requires_grad:  # under no_grad, or from constants alone: the engine keeps no history either
            recorder.add(out)
            return out
        if not all(isinstance(child, Recorded) for child in children):
            out._children = tuple(map(recorder.twin, children))
            backward = recorder.with_twins(backward)
        observed.__wrapped__ = backward  # type: ignore[attr-defined]  # for inspect.unwrap
        out_id = recorder.add(out)
        recorder.forward(out_id, cast("tuple[Recorded, ...]", out._children), op, data, backward, made_at)
        return out

    def _constant(self, value: Any) -> Tensor:
        constant = super()._constant(value)
        self.recorder.add(cast(Recorded, constant))
        return constant

    def detach(self) -> Tensor:
        detached = super().detach()
        self.recorder.add(cast(Recorded, detached))
        return detached

    def _accumulate(self, message: Any) -> None:
        if self.recorder.asking is not None:
            self.recorder.asking.append((self.id, np.array(message)))
            return
        if self.requires_grad:
            self.recorder.message(self, message, sys._getframe(1))
        super()._accumulate(message)

    def _set_grad(self, value: Any) -> None:
        _SLOT.__set__(self, value)
        if value is not None:
            self.recorder.gradient(self, value, sys._getframe(1))

    # However an engine comes by a gradient, it ends with setting it. So an event stands where it happened, even if that
    # is in the middle of another message.
    grad = property(lambda self: _SLOT.__get__(self), _set_grad)


class SourcePlace(NamedTuple):
    """Where an operation made its node: the code of a function, a line of it, the functions that called it."""

    code: CodeType
    line: int
    calls: list[str]


@cache
def _recorded(tensor: type[Any]) -> type[Recorded]:
    return cast(type[Recorded], type(f"Recorded{tensor.__name__}", (Recorded, tensor), {}))


@dataclass
class _Sender:
    """A closure that runs: the node it belongs to, the gradient it was given, operands without a message so far."""

    node: int
    upstream: Value
    operands: list[int]


class Recording:
    """A pass in the making, for a caller who goes through it step by step; `record` goes through it at once.

    tensors    leaf name -> the recording tensor to compute with. An operation on it, and `backward()`, are written down
    trace      what has happened so far
    constants  the leaves that are made with requires_grad=False

    RuntimeError, from whatever was being done: the trace has got more than MOST_NUMBERS numbers.
    """

    def __init__(
        self,
        leaves: Mapping[str, Any],
        tensor: type[Tensor] = Tensor,
        ops: Mapping[str, Op] = OPS,
        constants: Sequence[str] = (),
    ) -> None:
        self.trace = Trace(ops=ops)
        self._numbers = 0  # in the trace so far
        self._made: list[Recorded] = []
        self._senders: list[_Sender] = []  # the last one runs; a broken engine may start one inside another
        self._arriving: tuple[Any, Any, str, int] | None = None  # a message on its way into a gradient
        self._plain = tensor is Tensor  # another engine may do more in a closure than to send messages
        self.asking: list[tuple[int, np.ndarray]] | None = None  # (operand, message) of a closure that is only asked
        self._calls: dict[FrameType, str] = {}  # a running function of the engine -> its name with a number
        self._twins: dict[Tensor, Recorded] = {}  # for the tensors that the function brings along
        self._recorded = recorded = _recorded(cast(Any, tensor))
        self.tensors = {name: recorded(value, name not in constants, name) for name, value in leaves.items()}
        for leaf in self.tensors.values():
            self.add(leaf)
        self._numbers_of_leaves = self._numbers

    def forget(self) -> None:
        """Begin again with the leaves alone: what was done so far was no part of the pass."""
        del self.trace.nodes[len(self.tensors) :], self._made[len(self.tensors) :]
        self.trace.events.clear()
        self.trace.sources.clear()
        self._numbers = self._numbers_of_leaves
        self._twins.clear()

    def finish(self, output: Tensor, error: str = "") -> Trace:
        """The trace, with what is known at the end: labels, gradients, and the error of a pass that stopped."""
        self.trace.output, self.trace.error = cast(Recorded, output).id, error
        for node, tensor in zip(self.trace.nodes, self._made, strict=True):
            node["label"] = tensor.label  # a name like `h` in `h = a * b` is given after the operation
        brought = [twin for twin in self._twins.values() if not twin.op and twin.requires_grad]
        self.trace.gradients = {
            name: None if leaf.grad is None else np.array(leaf.grad)
            for name, leaf in (*self.tensors.items(), *((twin.label, twin) for twin in brought))
        }
        self._twins.clear()
        self._made.clear()  # else tensors and recording keep each other alive
        self._calls.clear()  # the frames in it hold the variables of those functions
        return self.trace

    # -- tensors that the function brought along

    def twin(self, tensor: Tensor) -> Recorded:
        """The tensor that stands for this one in the trace: itself, or a recording twin with the same values, made from
        twins of all that it was computed from. RuntimeError: its graph has been freed."""
        for node in topological_order(tensor):
            if not isinstance(node, Recorded) and node not in self._twins:
                self._twins[node] = self._made_twin(node)
        return tensor if isinstance(tensor, Recorded) else self._twins[tensor]

    def _made_twin(self, tensor: Tensor) -> Recorded:
        if tensor._backward is None:
            leaf = object.__new__(self._recorded)
            leaf._make_leaf(tensor._data, tensor.requires_grad, self._name_for(tensor))
            self.add(leaf)
            return leaf
        _check_nothing_freed([tensor])
        _check_nothing_written_to([*tensor._children, tensor])
        backward = tensor._backward
        lines = linecache.getlines(backward.__code__.co_filename)
        start = backward.__code__.co_firstlineno  # of the closure: the node is made below it
        line = next((n for n in range(start, len(lines) + 1) if "_node(" in lines[n - 1]), start)
        parent = self.twin(tensor._children[0])
        made_at = SourcePlace(backward.__code__, line, [])
        node = parent.observed(tensor._data, tensor._children, tensor.op, backward, made_at)
        node.label = tensor.label
        return node

    def _name_for(self, tensor: Tensor) -> str:
        """Its label, with a number behind it where that is taken; a constant may have none."""
        taken = {*self.tensors, *(twin.label for twin in self._twins.values())}
        if tensor.label or not tensor.requires_grad:
            names = (f"{tensor.label}_{i}" if i > 1 else tensor.label for i in itertools.count(1))
        else:
            names = (f"t{i}" for i in itertools.count(1))
        return next(name for name in names if name not in taken or not name)

    def with_twins(self, backward: Callable[..., Any]) -> Callable[..., Any]:
        """The closure of an operation, with twins in place of tensors that are not recorded: they get its messages."""

        def swapped(value: Any) -> Any:
            if type(value) in (tuple, list):
                return type(value)(map(swapped, value))
            return self._twins.get(value, value) if isinstance(value, Tensor) else value

        cells = tuple(CellType(swapped(value)) for value in _variables(backward).values())
        code: Any = backward
        return FunctionType(code.__code__, code.__globals__, code.__name__, code.__defaults__, cells)

    # -- what recorded tensors report

    def add(self, tensor: Recorded) -> int:
        """A tensor was made; returns its id."""
        tensor.recorder = self
        tensor.id = len(self.trace.nodes)
        self.trace.nodes.append(
            {
                "id": tensor.id,
                "op": "",
                "label": tensor.label,
                "children": [],
                "shape": list(tensor.shape),
                "value": self._numbers_of(tensor.numpy()),
                "requires_grad": tensor.requires_grad,
            }
        )
        self._made.append(tensor)
        return tensor.id

    def forward(
        self,
        out: int,
        children: Sequence[Recorded],
        op: str,
        data: Any,
        backward: Callable[..., Any],
        made_at: SourcePlace,
    ) -> None:
        """An operation made node `out`, at this place."""
        node, known, source = self.trace.nodes[out], self.trace.ops.get(op, UNKNOWN), self._source(made_at.code)
        node["op"], node["children"] = op, [child.id for child in children]
        node["kind"], node["symbol"], node["source"] = known.kind, known.symbol, source
        node["captured"], node["calls"] = self._captured(backward, children, data), made_at.calls
        if known.form == "index":
            node["index"] = _subscript(_variables(backward)["index"])
        if self._plain and np.size(data) <= MOST_CELLS and known.needs_paths(np.ndim(data) == 0):
            node["paths"] = self._paths(backward, node["children"], np.shape(data), np.asarray(data).dtype)
        self.trace.events.append({"kind": "forward", "node": out, "source": source, "line": made_at.line})

    def _paths(
        self, backward: Callable[..., Any], children: list[int], shape: tuple[int, ...], dtype: Any
    ) -> list[list[list[tuple[int, float]]] | None]:
        """The local derivatives of an operation, found by asking its closure: what would it send if one cell of its
        result alone had a gradient, 1? Of a backward step, which is linear, that is everything.

        For each operand, and each cell of the message to it, (cell of the result, derivative) where that is not 0.
        None for an operand that is sent nothing, or too much to be shown, or a derivative that is no finite number.
        """
        answers: list[list[tuple[int, np.ndarray]]] = []
        for cell in range(math.prod(shape)):
            one = np.zeros(shape, dtype)
            one.flat[cell] = 1.0
            answer: list[tuple[int, np.ndarray]] = []
            self.asking = answer
            try:
                with np.errstate(all="ignore"):
                    backward(one if shape else one[()])
            finally:
                self.asking = None
            answers.append(answer)
        sent = [child for child, _ in answers[0]]
        waiting = list(enumerate(sent))
        paths: list[list[list[tuple[int, float]]] | None] = []
        for child in children:
            at = next((i for i, receiver in waiting if receiver == child), None)
            waiting = [(i, receiver) for i, receiver in waiting if i != at]
            rows = None if at is None else np.array([answer[at][1].ravel() for answer in answers], dtype=float)
            if rows is None or not np.isfinite(rows).all() or np.count_nonzero(rows) > MOST_PATHS:
                paths.append(None)
                continue
            paths.append([[(int(o), float(column[o])) for o in np.flatnonzero(column)] for column in rows.T])
        return paths

    def enter(self, node: int, upstream: Any, backward: Callable[..., Any]) -> None:
        """The closure of a node begins to run."""
        captured = _variables(backward)
        for entry in self.trace.nodes[node]["captured"]:
            if entry["holds"] != "operand":
                now = _plain_captured(captured[entry["name"]])
                entry["written"] = repr(now) != repr(entry["value"])  # as text, nan equals nan
        operands = list(self.trace.nodes[node]["children"])
        self._senders.append(_Sender(node, self._numbers_of(upstream), operands))

    def leave(self) -> None:
        """The closure that began last has run."""
        self._senders.pop()

    def message(self, child: Recorded, contribution: Any, frame: FrameType) -> None:
        """A closure sends a message: an event once it has got into the gradient."""
        if self._senders:
            before = None if child.grad is None else child.grad.copy()
            self._arriving = contribution, before, self._source(frame.f_code), frame.f_lineno

    def gradient(self, tensor: Recorded, after: Any, frame: FrameType) -> None:
        """A gradient was set: by the message that is arriving, or, where none is, as the seed."""
        source, numbers = self._source(frame.f_code), self._numbers_of
        if self._arriving is None:
            self.trace.events.append(
                {"kind": "seed", "node": tensor.id, "grad": numbers(after), "source": source, "line": frame.f_lineno}
            )
            return
        contribution, before, sent_from, line = self._arriving
        self._arriving = None
        sender = self._senders[-1]
        self.trace.events.append(
            {
                "kind": "message",
                "node": sender.node,
                "child": tensor.id,
                "operand": self._operand(sender, tensor.id),
                "upstream": sender.upstream,
                "contribution": numbers(contribution),
                "source": sent_from,
                "line": line,
            }
        )
        # A broken engine may let a gradient have another shape; then the message went in as it came.
        message = _fitted(contribution, tensor) if np.shape(after) == tensor.shape else contribution
        line = frame.f_lineno
        if np.size(message) < np.size(contribution) and "_fitted" in frame.f_code.co_names:
            source, line = self._source(_unbroadcast.__code__), _summing_line()  # it has just been summed there
        self.trace.events.append(
            {
                "kind": "accumulate",
                "node": tensor.id,
                "before": numbers(np.zeros_like(after) if before is None else before),
                "message": numbers(message),
                "after": numbers(after),
                "source": source,
                "line": line,
                "first": before is None,
            }
        )

    def _numbers_of(self, array: Any) -> Value:
        """The numbers of an array, to stay in the trace. RuntimeError: now there are too many of them."""
        self._numbers += np.size(array)
        if self._numbers > MOST_NUMBERS:
            raise RuntimeError(
                f"This is too large to be followed step by step: its values, messages and gradients are more than "
                f"{MOST_NUMBERS:,} numbers. Use smaller arrays, or fewer operations."
            )
        return plain(array)

    def _captured(self, backward: Callable[..., Any], children: Sequence[Recorded], data: Any) -> list[Captured]:
        """What a backward closure holds: each free variable with its value, and where that value comes from."""
        entries: list[Captured] = []
        for name, value in _variables(backward).items():
            if isinstance(value, Recorded):
                entries.append(_operand(name, value))
            elif isinstance(value, (tuple, list)) and any(isinstance(item, Recorded) for item in value):
                tensors = [(i, item) for i, item in enumerate(value) if isinstance(item, Recorded)]
                entries += [_operand(f"{name}[{i}]", tensor) for i, tensor in tensors]
            elif isinstance(value, (np.ndarray, np.generic)):
                of = [i for i, child in enumerate(children) if child._data is value]
                holds = "output" if value is data else f"value of operand {of[0]}" if of else "array"
                numbers = self._numbers_of(value)
                entries.append({"name": name, "holds": holds, "shape": list(value.shape), "value": numbers})
            else:
                kind, written = type(value).__name__, _plain_captured(value)
                entries.append({"name": name, "holds": "setting", "type": kind, "shape": [], "value": written})
        return entries

    def _operand(self, sender: _Sender, child: int) -> int:
        """Which operand a message went to. Closures send in operand order; one that sends twice has a fault."""
        children = self.trace.nodes[sender.node]["children"]
        waiting = [i for i, operand in enumerate(sender.operands) if operand == child]
        if not waiting:
            return children.index(child)
        sender.operands[waiting[0]] = -1
        return waiting[0]

    def callers(self, frame: FrameType | None) -> list[str]:
        """The functions of the engine in which an operation was called; each call of one has a number of its own."""
        names = []
        while frame is not None and frame.f_code is not record.__code__:
            function = frame.f_code.co_qualname
            if frame.f_code.co_filename == _ENGINE and "<" not in function:
                if frame not in self._calls:
                    name = function.removesuffix(".__call__").split(".")[-1]
                    number = 1 + sum(other.rpartition(" ")[0] == name for other in self._calls.values())
                    self._calls[frame] = f"{name} {number}"
                names.append(self._calls[frame])
            frame = frame.f_back
        return names[::-1]

    def _source(self, code: CodeType) -> str:
        """The name under which the source of a function, with the one around it, is kept."""
        name = code.co_qualname.split(".<locals>")[0]
        if name not in self.trace.sources:
            self.trace.sources[name] = _source_lines(code.co_filename, code.co_firstlineno, name.split(".")[-1])
        return name


def _summing_line() -> int:
    """The line of the engine that adds up what the copies of a repeated operand receive."""
    code = _unbroadcast.__code__
    lines = linecache.getlines(code.co_filename)
    return next(number for _, _, number in code.co_lines() if number and "_sum(" in lines[number - 1])


def _subscript(index: Any) -> str:
    """An index as it stands between the brackets: "0, 1:"."""
    if isinstance(index, tuple):
        return ", ".join(map(_subscript, index)) or "()"
    if isinstance(index, slice):
        start, stop, step = ("" if end is None else str(end) for end in (index.start, index.stop, index.step))
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    return "..." if index is ... else " ".join(str(index.tolist() if isinstance(index, np.ndarray) else index).split())


def plain(value: Any) -> Value:
    """Numbers and nested lists, copied out of an array."""
    numbers: Value = np.asarray(value).tolist()
    return numbers


def describe(node: Node) -> str:
    """The name of a node for a reader: its label, its operation, or that it is a constant."""
    if node["op"]:
        return f"{node['label']} ({node['op']})" if node["label"] else node["op"]
    return node["label"] or "constant"


def _variables(closure: Any) -> dict[str, Any]:
    """The free variables of a function, by name."""
    cells = zip(closure.__code__.co_freevars, closure.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


def _operand(name: str, tensor: Recorded) -> Captured:
    return {"name": name, "holds": "operand", "node": tensor.id, "shape": list(tensor.shape)}


def _plain_captured(value: Any) -> Value | str:
    """A captured array as plain numbers, anything else (an axis, a function) as Python writes it, without addresses."""
    return plain(value) if isinstance(value, (np.ndarray, np.generic)) else re.sub(r" at 0x\w+", "", repr(value))


@cache
def _source_lines(filename: str, line: int, name: str) -> Code:
    """The source of the function `name`, which has this line in it, maybe inside a nested function."""
    lines = linecache.getlines(filename)
    above = (number for number in range(line, 0, -1) if re.match(rf"\s*def {re.escape(name)}\b", lines[number - 1]))
    first = next(above, line)  # a lambda has no such line: it stands for itself
    block = textwrap.dedent("".join(inspect.getblock(lines[first - 1 :]))).rstrip()
    return {"file": Path(filename).name, "first": first, "lines": block.split("\n")}
