"""Record one forward and backward pass of the real engine as a list of events.

A `Recorded` tensor reports each operation that makes a node, the seed, each message that a closure sends, and the
gradient before and after it. It changes nothing: the numbers are those of the engine, which may be `model.Tensor` or a
broken one derived from it. The result is plain data (dicts, lists, numbers), so that a browser can play it without
Python.
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

import model
import nn
from lab.operation_table import OPS, UNKNOWN, Op
from lab.text import strict_json
from lab.trace.schema import Captured, Code, Event, Node, Value
from model import (
    Tensor,
    topological_order,
)

MAX_NUMBERS = 200_000  # in one trace: about 5 MB to send to a browser
MAX_PATH_CELLS = 64  # of a result whose local derivatives are found cell by cell
MAX_PATHS = 1024  # local derivatives of one operation with respect to one operand
Change = Literal["constant", "detached", "written"]  # changes that `attempt` can make to a leaf
ENGINE_FILES = (model.__file__, nn.__file__)
_SLOT: Any = vars(Tensor)["grad"]  # where every engine keeps a gradient


@dataclass
class Trace:
    """A recorded pass, as `record` returns it. lab/trace/schema.py describes its nodes and events.

    nodes      in the order of creation; the id of each is its index
    events     in the order in which they happened. An accumulation comes right after its message
    gradients  leaf name -> array, or None if no gradient arrived; includes tensors that the function brought along
    output     the id of the result
    sources    function name -> the code that ran
    error      the message of the error that backward() raised, after the last event; "" if it raised none
    ops        the table of its operations, by name. Not part of its JSON
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
        """Write the trace as strict JSON; nan and the infinities become the strings "nan", "inf" and "-inf"."""
        gradients = {name: None if g is None else _as_shown(g).tolist() for name, g in self.gradients.items()}
        parts = {"nodes": self.nodes, "events": self.events, "gradients": gradients}
        return strict_json({**parts, "output": self.output, "sources": self.sources, "error": self.error})

    @property
    def forward_events(self) -> int:
        """The number of events in the forward pass, and so the index of the seed if a backward pass began."""
        return sum(event["kind"] == "forward" for event in self.events)

    def gradients_after(self) -> dict[int, Value]:
        """Return node id -> gradient after the pass, for the nodes that have one."""
        reached = {node["id"]: node["earlier"] for node in self.nodes if "earlier" in node}
        for event in self.events:
            if event["kind"] == "seed":
                reached[event["node"]] = event["grad"]
            elif event["kind"] == "accumulate":
                reached[event["node"]] = event["after"]
        return reached


def _as_shown(array: np.ndarray) -> np.ndarray:
    """Return the absolute values of complex numbers, as their nodes and events hold them; other numbers as they are."""
    return np.abs(array) if np.iscomplexobj(array) else array


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
              the weights of a network: they become nodes named by their labels ("t1", "t2", ... without one; "W1_2" for
              a second W1), their gradients are in the trace, and the tensors themselves do not change
    leaves    name -> number or array; each becomes a leaf with that label
    upstream  the upstream gradient of the result; ones of its shape by default
    tensor    the engine: Tensor, or a class derived from it, such as a broken one
    ops       the table of its operations

    Raises RuntimeError if the pass has more than MAX_NUMBERS numbers, and the errors of the engine and of `build`.
    """
    recording = Recording(leaves, tensor, ops)
    with np.errstate(all="ignore"):  # inf and nan are shown where they arise
        output = _run_forward(build, recording)
        output.backward(np.ones(output.shape) if upstream is None else upstream, retain_graph=True)
    return recording.finish(output)


def attempt(
    build: Callable[..., Tensor],
    leaves: Mapping[str, Any],
    upstream: Any = None,
    changes: Mapping[str, Change] = MappingProxyType({}),
    *,
    tensor: type[Tensor] = Tensor,
    refusals: tuple[type[Exception], ...] = (),
) -> Trace:
    """Record as `record` does, but keep the forward pass if the engine refuses the backward pass.

    The trace's `error` is then the message of `backward()`. It refuses, for example, a result of many numbers without
    `upstream`; `starting_gradients` offers some.

    changes   leaf name -> a change. "constant": make it with requires_grad=False. "detached": give `build` its
              `detach()`. "written": add 1 to its `data` between the passes
    tensor    the engine, as for `record`
    refusals  further errors by which that engine refuses a backward pass

    Raises RuntimeError if the pass has more than MAX_NUMBERS numbers, ValueError if `upstream` has another shape.
    """
    constants = [name for name, change in changes.items() if change == "constant"]
    recording, error = Recording(leaves, tensor, constants=constants), ""
    with np.errstate(all="ignore"):
        output = _run_forward(build, recording, [name for name, change in changes.items() if change == "detached"])
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
            except refusals as refusal:
                error = str(refusal)
    return recording.finish(output, error)


def starting_gradients(shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Return upstream gradients for a result of many numbers: "sum" gives the gradients of its sum, "mean" those of its
    mean."""
    return {"sum": np.ones(shape), "mean": np.full(shape, 1.0 / math.prod(shape))}


def _run_forward(build: Callable[..., Tensor], recording: "Recording", detached: Sequence[str] = ()) -> "Recorded":
    tensors: dict[str, Tensor] = {**recording.tensors}
    for name in detached:
        tensors[name] = tensors[name].detach()
        tensors[name].label = f"{name}.detach()"
    output = build(**tensors)
    if not isinstance(output, Tensor):
        raise TypeError(f"The function to record must return a Tensor, not {type(output).__name__}.")
    return recording.as_recorded(output)


class Recorded(Tensor):
    """A Tensor that reports what happens to it. Results of operations on it are recording tensors too."""

    id: int
    recorder: "Recording"

    def node(self, data: Any, children: tuple[Tensor, ...], op: str, backward: Callable[..., Any]) -> Tensor:
        frame = sys._getframe(1)  # the method of the engine that is making this node
        made_at = SourcePlace(frame.f_code, frame.f_lineno, engine_calls(frame.f_back, self.recorder.calls))
        return self.observed(data, children, op, backward, made_at)

    def observed(
        self, data: Any, children: tuple[Tensor, ...], op: str, backward: Callable[..., Any], made_at: "SourcePlace"
    ) -> "Recorded":
        """Make the node of an operation, with a closure that reports when it runs."""
        recorder = self.recorder

        def observed(upstream: Any) -> None:
            recorder.enter(out_id, upstream, backward)
            backward(upstream)
            recorder.leave()

        observed.__wrapped__ = backward  # type: ignore[attr-defined]  # for inspect.unwrap
        out = cast(Recorded, super().node(data, children, op, observed))
        if not out.requires_grad:  # under no_grad, or from constants alone: the engine keeps no history either
            recorder.add(out)
            return out
        if not all(isinstance(child, Recorded) for child in children):
            out.children = tuple(map(recorder.as_recorded, children))
            backward = observed.__wrapped__ = recorder.with_copies(backward)  # type: ignore[attr-defined]
        out_id = recorder.add(out)
        recorder.forward(out_id, cast("tuple[Recorded, ...]", out.children), op, data, backward, made_at)
        return out

    def constant(self, value: Any) -> Tensor:
        constant = super().constant(value)
        if constant is not value:  # a tensor is one already
            self.recorder.add(cast(Recorded, constant))
        return constant

    def detach(self) -> Tensor:
        detached = super().detach()
        self.recorder.add(cast(Recorded, detached))
        return detached

    def accumulate(self, message: Any) -> None:
        if self.recorder.probed is not None:
            self.recorder.probed.append((self.id, np.array(message)))
            return
        if self.requires_grad:
            self.recorder.message(self, message, sys._getframe(1))
        super().accumulate(message)

    def _set_grad(self, value: Any) -> None:
        _SLOT.__set__(self, value)
        if value is not None:
            self.recorder.gradient(self, value, sys._getframe(1))

    # Any engine, also a broken one, sets `grad` in the end. So each event is recorded when it happens, even in the
    # middle of another message.
    grad = property(lambda self: _SLOT.__get__(self), _set_grad)


class SourcePlace(NamedTuple):
    """Where an operation made its node: the code of the function, the line, and the engine functions that called it."""

    code: CodeType
    line: int
    calls: list[str]


@cache
def _recorded(tensor: type[Any]) -> type[Recorded]:
    return cast(type[Recorded], type(f"Recorded{tensor.__name__}", (Recorded, tensor), {}))


@dataclass
class _Sender:
    """A running closure: its node, its upstream gradient, and its operands, -1 for those already sent a message."""

    node: int
    upstream: Value
    operands: list[int]


class Recording:
    """A recording in progress, for callers who run the pass step by step; `record` runs it in one go.

    tensors    leaf name -> the recording tensor to compute with. Operations on it, and `backward()`, are recorded
    trace      the trace so far
    constants  the leaves that are made with requires_grad=False

    Any recorded step raises RuntimeError once the trace has more than MAX_NUMBERS numbers.
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
        self._plain = tensor is Tensor  # closures of other engines may do more than send messages
        self.probed: list[tuple[int, np.ndarray]] | None = None  # (operand, message) of a closure run only as a probe
        self.calls: dict[FrameType, str] = {}  # a running function of the engine -> its name with a number
        self._copies: dict[Tensor, Recorded] = {}  # unrecorded tensors that the function uses -> recorded copies
        self._recorded = recorded = _recorded(cast(Any, tensor))
        self.tensors = {name: recorded(value, name not in constants, name) for name, value in leaves.items()}
        for leaf in self.tensors.values():
            self.add(leaf)

    def finish(self, output: Tensor, error: str = "") -> Trace:
        """Return the trace with its final labels and gradients, and the error of a pass that stopped."""
        self.trace.output, self.trace.error = cast(Recorded, output).id, error
        for node, tensor in zip(self.trace.nodes, self._made, strict=True):
            node["label"] = tensor.label  # a name like `h` in `h = a * b` is given after the operation
        brought = [copy for copy in self._copies.values() if not copy.op and copy.requires_grad]
        self.trace.gradients = {
            name: None if leaf.grad is None else np.array(leaf.grad)
            for name, leaf in (*self.tensors.items(), *((copy.label, copy) for copy in brought))
        }
        self._copies.clear()
        self._made.clear()  # otherwise tensors and recording keep each other alive
        self.calls.clear()  # its frames keep the variables of those functions alive
        return self.trace

    # -- tensors that the function brought along

    def as_recorded(self, tensor: Tensor) -> Recorded:
        """Return the tensor itself if it is recorded, else a recorded copy, computed from recorded copies of its
        operands. Raises RuntimeError if its graph has been freed."""
        for node in topological_order(tensor):
            if not isinstance(node, Recorded) and node not in self._copies:
                self._copies[node] = self._make_copy(node)
        return tensor if isinstance(tensor, Recorded) else self._copies[tensor]

    def _make_copy(self, tensor: Tensor) -> Recorded:
        if not tensor.op:
            leaf = self._recorded(tensor.numpy(), tensor.requires_grad, self._name_for(tensor))
            leaf.replace(tensor.read())  # the array itself, which closures may have captured
            self.add(leaf)
            return leaf
        if tensor.closure is None:
            tensor.backward(tensor.numpy())  # which says that the graph is freed
        backward = tensor.closure
        lines = linecache.getlines(backward.__code__.co_filename)
        start = backward.__code__.co_firstlineno  # of the closure: the node is made below it
        line = next((n for n in range(start, len(lines) + 1) if ".node(" in lines[n - 1]), start)
        parent = self.as_recorded(tensor.children[0])
        made_at = SourcePlace(backward.__code__, line, [])
        node = parent.observed(tensor.read(), tensor.children, tensor.op, backward, made_at)
        node.label = tensor.label
        return node

    def _name_for(self, tensor: Tensor) -> str:
        """Return a unique label for a copy: the tensor's own, with a number if taken; a constant may have none."""
        used = {*self.tensors, *(copy.label for copy in self._copies.values())}
        if tensor.label or not tensor.requires_grad:
            names = (f"{tensor.label}_{i}" if i > 1 else tensor.label for i in itertools.count(1))
        else:
            names = (f"t{i}" for i in itertools.count(1))
        return next(name for name in names if name not in used or not name)

    def with_copies(self, backward: Callable[..., Any]) -> Callable[..., Any]:
        """Return the closure with recorded copies in place of unrecorded tensors, so that they receive its messages."""

        def swapped(value: Any) -> Any:
            if type(value) in (tuple, list):
                return type(value)(map(swapped, value))
            return self._copies.get(value, value) if isinstance(value, Tensor) else value

        return rebuilt(backward, lambda name, value: swapped(value))

    # -- what recorded tensors report

    def add(self, tensor: Recorded) -> int:
        """Add a new tensor to the trace and return its id."""
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
        """Record that an operation made node `out`."""
        node, known, source = self.trace.nodes[out], self.trace.ops.get(op, UNKNOWN), self._source(made_at.code)
        node["op"], node["children"] = op, [child.id for child in children]
        node["kind"], node["symbol"], node["source"] = known.kind, known.symbol, source
        node["captured"], node["calls"] = self._captured(backward, children, data), made_at.calls
        if known.form == "index":
            node["index"] = _subscript(variables(backward)["index"])
        if self._plain and np.size(data) <= MAX_PATH_CELLS and known.needs_paths(np.ndim(data) == 0):
            node["paths"] = self._paths(backward, node["children"], np.shape(data), np.asarray(data).dtype)
        self.trace.events.append({"kind": "forward", "node": out, "source": source, "line": made_at.line})

    def _paths(
        self, backward: Callable[..., Any], children: list[int], shape: tuple[int, ...], dtype: Any
    ) -> list[list[list[tuple[int, float]]] | None]:
        """Find an operation's local derivatives by running its closure once for each cell of the result.

        Each run has upstream gradient 1 in that cell and 0 elsewhere; a backward step is linear, so this tells all. For
        each operand, and each cell of the message to it: (cell of the result, derivative) if that is not 0. None for an
        operand that is sent nothing, has too many derivatives to show, or one that is not finite.
        """
        answers: list[list[tuple[int, np.ndarray]]] = []
        for cell in range(math.prod(shape)):
            one = np.zeros(shape, dtype)
            one.flat[cell] = 1.0
            answer: list[tuple[int, np.ndarray]] = []
            self.probed = answer
            try:
                with np.errstate(all="ignore"):
                    backward(one if shape else one[()])
            finally:
                self.probed = None
            answers.append(answer)
        sent = [child for child, _ in answers[0]]
        waiting = list(enumerate(sent))
        paths: list[list[list[tuple[int, float]]] | None] = []
        for child in children:
            at = next((i for i, receiver in waiting if receiver == child), None)
            waiting = [(i, receiver) for i, receiver in waiting if i != at]
            rows = None if at is None else np.array([answer[at][1].ravel() for answer in answers], dtype=float)
            if rows is None or not np.isfinite(rows).all() or np.count_nonzero(rows) > MAX_PATHS:
                paths.append(None)
                continue
            paths.append([[(int(o), float(column[o])) for o in np.flatnonzero(column)] for column in rows.T])
        return paths

    def enter(self, node: int, upstream: Any, backward: Callable[..., Any]) -> None:
        """Record that the closure of a node starts to run."""
        captured = variables(backward)
        for entry in self.trace.nodes[node]["captured"]:
            if entry["holds"] != "operand":
                now = _plain_captured(captured[entry["name"]])
                entry["written"] = repr(now) != repr(entry["value"])  # as text, nan equals nan
        operands = list(self.trace.nodes[node]["children"])
        self._senders.append(_Sender(node, self._numbers_of(upstream), operands))

    def leave(self) -> None:
        """Record that the closure that started last has finished."""
        self._senders.pop()

    def message(self, child: Recorded, contribution: Any, frame: FrameType) -> None:
        """Note a message that a closure sends; `gradient` makes the event once it has reached the gradient."""
        if self._senders:
            before = None if child.grad is None else child.grad.copy()
            self._arriving = contribution, before, self._source(frame.f_code), frame.f_lineno

    def gradient(self, tensor: Recorded, after: Any, frame: FrameType) -> None:
        """Record that a gradient was set: by the message that `message` noted, or, if there is none, as the seed."""
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
        # A broken engine may give a gradient the wrong shape; then it added the message unchanged.
        message = tensor.unbroadcast(contribution) if np.shape(after) == tensor.shape else contribution
        line = frame.f_lineno
        if np.size(message) < np.size(contribution) and "unbroadcast" in frame.f_code.co_names:
            source, line = self._source(Tensor.unbroadcast.__code__), _summing_line()  # it has just been summed there
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
        """Copy the numbers of an array for the trace. Raises RuntimeError if the trace then has too many."""
        self._numbers += np.size(array)
        if self._numbers > MAX_NUMBERS:
            raise RuntimeError(
                f"This is too large to be followed step by step: its values, messages and gradients have more than "
                f"{MAX_NUMBERS:,} numbers. Use smaller arrays, or fewer operations."
            )
        return plain(array)

    def _captured(self, backward: Callable[..., Any], children: Sequence[Recorded], data: Any) -> list[Captured]:
        """List the free variables of a backward closure, each with its value and where that value comes from."""
        entries: list[Captured] = []
        for name, value in variables(backward).items():
            if isinstance(value, Recorded):
                entries.append(_operand(name, value))
            elif isinstance(value, (tuple, list)) and any(isinstance(item, Recorded) for item in value):
                tensors = [(i, item) for i, item in enumerate(value) if isinstance(item, Recorded)]
                entries += [_operand(f"{name}[{i}]", tensor) for i, tensor in tensors]
            elif isinstance(value, (np.ndarray, np.generic)):
                of = [i for i, child in enumerate(children) if child.read() is value]
                holds = "output" if value is data else f"value of operand {of[0]}" if of else "array"
                numbers = self._numbers_of(value)
                entries.append({"name": name, "holds": holds, "shape": list(value.shape), "value": numbers})
            else:
                kind, written = type(value).__name__, _plain_captured(value)
                entries.append({"name": name, "holds": "setting", "type": kind, "shape": [], "value": written})
        return entries

    def _operand(self, sender: _Sender, child: int) -> int:
        """Return the operand number of a message. Closures send in operand order; a second message is a bug."""
        children = self.trace.nodes[sender.node]["children"]
        unsent = [i for i, operand in enumerate(sender.operands) if operand == child]
        if not unsent:
            return children.index(child)
        sender.operands[unsent[0]] = -1
        return unsent[0]

    def _source(self, code: CodeType) -> str:
        """Add the source of a function, with the one around it, to the trace, and return its key."""
        name = code.co_qualname.split(".<locals>")[0]
        if name not in self.trace.sources:
            self.trace.sources[name] = _source_lines(code.co_filename, code.co_firstlineno, name.split(".")[-1])
        return name


def engine_calls(frame: FrameType | None, names: dict[FrameType, str]) -> list[str]:
    """List the engine functions that called an operation, outermost first, with a number for each call of one; `names`
    keeps those that run."""
    calls = []
    while frame is not None and frame.f_code is not record.__code__:
        function = frame.f_code.co_qualname
        if frame.f_code.co_filename in ENGINE_FILES and "<" not in function:
            if frame not in names:
                name = function.removesuffix(".__call__").split(".")[-1]
                number = 1 + sum(other.rpartition(" ")[0] == name for other in names.values())
                names[frame] = f"{name} {number}"
            calls.append(names[frame])
        frame = frame.f_back
    return calls[::-1]


def _summing_line() -> int:
    """Return the line of the engine that sums the messages to the copies of a broadcast operand."""
    code = Tensor.unbroadcast.__code__
    lines = linecache.getlines(code.co_filename)
    return next(number for _, _, number in code.co_lines() if number and "_sum(" in lines[number - 1])


def _subscript(index: Any) -> str:
    """Write an index as it appears between brackets: "0, 1:"."""
    if isinstance(index, tuple):
        return ", ".join(map(_subscript, index)) or "()"
    if isinstance(index, slice):
        start, stop, step = ("" if end is None else str(end) for end in (index.start, index.stop, index.step))
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    return "..." if index is ... else " ".join(str(index.tolist() if isinstance(index, np.ndarray) else index).split())


def plain(value: Any) -> Value:
    """Copy an array into numbers and nested lists."""
    numbers: Value = np.asarray(value).tolist()
    return numbers


def describe(node: Node) -> str:
    """Name a node for a reader by its label and operation; "constant" if it has neither."""
    if node["op"]:
        return f"{node['label']} ({node['op']})" if node["label"] else node["op"]
    return node["label"] or "constant"


def variables(closure: Any) -> dict[str, Any]:
    """Return the free variables of a function, by name."""
    cells = zip(closure.__code__.co_freevars, closure.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


def rebuilt(closure: Any, value_of: Callable[[str, Any], Any]) -> Callable[..., Any]:
    """Return a copy of a closure with the values that `value_of` returns for its variables, given name and value."""
    cells = tuple(CellType(value_of(name, value)) for name, value in variables(closure).items())
    return FunctionType(closure.__code__, closure.__globals__, closure.__name__, closure.__defaults__, cells)


def _operand(name: str, tensor: Recorded) -> Captured:
    return {"name": name, "holds": "operand", "node": tensor.id, "shape": list(tensor.shape)}


def _plain_captured(value: Any) -> Value | str:
    """Return a captured array as plain numbers, anything else (an axis, a function) as its repr without addresses."""
    return plain(value) if isinstance(value, (np.ndarray, np.generic)) else re.sub(r" at 0x\w+", "", repr(value))


@cache
def _source_lines(filename: str, line: int, name: str) -> Code:
    """Return the source of the function `name` that contains this line, perhaps in a nested function."""
    lines = linecache.getlines(filename)
    above = (number for number in range(line, 0, -1) if re.match(rf"\s*def {re.escape(name)}\b", lines[number - 1]))
    first = next(above, line)  # a lambda has no `def` line
    block = textwrap.dedent("".join(inspect.getblock(lines[first - 1 :]))).rstrip()
    return {"file": Path(filename).name, "first": first, "lines": block.split("\n")}
