"""One forward and backward pass of the real engine, written down as a list of events.

A `Recorded` tensor reports what happens to it: each operation that makes a node, the seed, each message that a closure
sends and what the gradient was before and after. It changes nothing: the numbers are those of the engine, which may be
`model.Tensor` or a broken one derived from it. The result is plain data (dicts, lists, numbers), so that a browser can
play it without Python.
"""

import inspect
import json
import linecache
import math
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from model import Tensor, _fitted

_ENGINE = Tensor._node.__code__.co_filename

# What an operation does with the cells of its operands, and the sign that it is written with: between two operands, or
# before one. Whoever shows a trace asks the trace, and has no list of operations of its own.
KINDS = {
    op: kind
    for kind, ops in {
        "elementwise": "+ - * / ** neg exp log sqrt sin cos tanh sigmoid softplus relu leaky_relu abs clip "
        "maximum minimum where",
        "reduction": "sum norm max prod logsumexp cross_entropy",
        "along an axis": "softmax log_softmax",
        "matrix product": "@ linear",
        "shape": "reshape transpose getitem broadcast_to concatenate stack",
    }.items()
    for op in ops.split()
}
SYMBOLS = {"+": "+", "-": "-", "*": "*", "/": "/", "**": "**", "@": "@", "neg": "−"}


@dataclass
class Trace:
    """What `record` returns.

    nodes      dicts, in the order of creation, with id (its index), op ("" for a leaf), label, children (ids in operand
               order, repeats kept), shape, value, requires_grad; and for an operation kind (of KINDS, or "other"),
               symbol (of SYMBOLS, or None), source (a key of `sources`), captured (what its closure holds, and once the
               closure has run whether that was written to since) and calls (the functions of the engine that called the
               operation, such as a layer or a mean, outermost first)
    events     dicts with kind and line (of `source`, a key of `sources`):
               "forward" {node}, "seed" {node, grad}, "message" {node, child, operand, upstream, contribution},
               "accumulate" {node, before, message, after, first}, right after its message. `first` says that there was
               no gradient before; then before is 0. A contribution has the shape of the result; its message has the
               shape of the operand. before + message = after, unless the engine is broken just there.
    gradients  leaf name -> array, or None where none arrived
    output     the id of the result
    sources    function name -> {file, first, lines}: the code that ran, with the number of its first line
    error      what backward() raised, or "": then the events are those up to there
    """

    nodes: list[dict] = field(default_factory=list)
    events: list[dict] = field(default_factory=list)
    gradients: dict[str, np.ndarray | None] = field(default_factory=dict)
    output: int = 0
    sources: dict[str, dict] = field(default_factory=dict)
    error: str = ""

    def to_json(self) -> str:
        """The whole trace as strict JSON; nan and the infinities become the strings "nan", "inf" and "-inf"."""
        gradients = {name: None if g is None else g.tolist() for name, g in self.gradients.items()}
        parts = {"nodes": self.nodes, "events": self.events, "gradients": gradients}
        return strict_json({**parts, "output": self.output, "sources": self.sources, "error": self.error})

    @property
    def forward_events(self) -> int:
        """How many events the forward pass has; where a backward pass began, the index of the seed."""
        return sum(event["kind"] == "forward" for event in self.events)

    def gradients_after(self, count: int | None = None) -> dict[int, Any]:
        """Node id -> gradient, of the nodes that one has reached after the first `count` events (all of them)."""
        reached = {}
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
        gradients, lines, written = self.gradients_after(count), [], set()
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
                "constant" if not node["requires_grad"] else f"grad {brief(gradients[number])}" if number in gradients
                else "grad not computed"
            )  # fmt: skip
            lines.append(f"{line} = {brief(node['value'])}, {gradient}")
            stack += [(child, depth + 1) for child in reversed(node["children"])]
        return "\n".join(lines)


def kind_of(trace: Trace, node: dict) -> str:
    """What a node is in the drawing: "output", "operation", "constant" or "leaf"."""
    if node["id"] == trace.output:
        return "output"
    if node["op"]:
        return "operation"
    return "leaf" if node["requires_grad"] else "constant"


def record(
    build: Callable[..., Tensor], leaves: Mapping[str, Any], seed: Any = None, *, tensor: type[Tensor] = Tensor
) -> Trace:
    """Run `build(**leaves)` forward and backward on recording tensors.

    build   called with a Tensor for each leaf, as keywords; returns a Tensor computed from them
    leaves  name -> number or array; each becomes a leaf with that label
    seed    the upstream gradient of the result; ones of its shape by default
    tensor  the engine: Tensor, or a class derived from it, such as a broken one

    Errors are those of the engine and of `build`.
    """
    recording = Recording(leaves, tensor)
    with np.errstate(all="ignore"):  # inf and nan are shown where they arise
        output = build(**recording.tensors)
        if not isinstance(output, Recorded):
            raise TypeError("The function to record must return a Tensor computed from its arguments.")
        output.backward(np.ones(output.shape) if seed is None else seed, retain_graph=True)
    return recording.finish(output)


class Recorded:
    """What a recording tensor does besides being one. Results of operations on it are recording tensors too."""

    __slots__ = ()

    def _node(self, data: Any, children: tuple, op: str, backward: Callable, saved: tuple = ()) -> Tensor:
        recorder = self.recorder
        operation = sys._getframe(1)  # the method of the engine that is making this node

        def observed(upstream):
            recorder.enter(out_id, upstream, backward)
            backward(upstream)
            recorder.leave()

        observed.__wrapped__ = backward
        out = super()._node(data, children, op, observed, saved)
        out_id = recorder.add(out)
        if not out.requires_grad:  # under no_grad, or from constants alone: the engine keeps no history either
            return out
        recorder.forward(out_id, children, op, data, backward, operation)
        return out

    def _constant(self, value: Any) -> Tensor:
        constant = super()._constant(value)
        self.recorder.add(constant)
        return constant

    def detach(self) -> Tensor:
        detached = super().detach()
        self.recorder.add(detached)
        return detached

    def _accumulate(self, message: Any) -> None:
        if self.requires_grad:
            self.recorder.message(self, message, sys._getframe(1))
        super()._accumulate(message)

    def _set_grad(self, value: Any) -> None:
        Tensor.grad.__set__(self, value)
        if value is not None:
            self.recorder.gradient(self, value, sys._getframe(1))

    # However an engine comes by a gradient, it ends with setting it. So an event stands where it happened, even if that
    # is in the middle of another message.
    grad = property(lambda self: Tensor.grad.__get__(self), _set_grad)


@cache
def _recorded(tensor: type[Tensor]) -> type[Tensor]:
    return type(f"Recorded{tensor.__name__}", (Recorded, tensor), {"__slots__": ("id", "recorder")})


@dataclass
class _Sender:
    """A closure that runs: the node it belongs to, the gradient it was given, operands without a message so far."""

    node: int
    upstream: Any
    operands: list[int]


class Recording:
    """A pass in the making, for a caller who goes through it step by step; `record` goes through it at once.

    tensors  leaf name -> the recording tensor to compute with. An operation on it, and `backward()`, are written down
    trace    what has happened so far
    """

    def __init__(self, leaves: Mapping[str, Any], tensor: type[Tensor] = Tensor) -> None:
        self.trace = Trace()
        self._made: list[Tensor] = []
        self._senders: list[_Sender] = []  # the last one runs; a broken engine may start one inside another
        self._arriving: tuple | None = None  # a message on its way into a gradient
        self._calls: dict[FrameType, str] = {}  # a running function of the engine -> its name with a number
        self.tensors = {name: _recorded(tensor)(value, label=name) for name, value in leaves.items()}
        for leaf in self.tensors.values():
            self.add(leaf)

    def forget(self) -> None:
        """Begin again with the leaves alone: what was done so far was no part of the pass."""
        del self.trace.nodes[len(self.tensors) :], self._made[len(self.tensors) :]
        self.trace.events.clear()
        self.trace.sources.clear()

    def finish(self, output: Tensor, error: str = "") -> Trace:
        """The trace, with what is known at the end: labels, gradients, and the error of a pass that stopped."""
        self.trace.output, self.trace.error = output.id, error
        for node, tensor in zip(self.trace.nodes, self._made, strict=True):
            node["label"] = tensor.label  # a name like `h` in `h = a * b` is given after the operation
        self.trace.gradients = {
            name: None if leaf.grad is None else np.array(leaf.grad) for name, leaf in self.tensors.items()
        }
        self._made.clear()  # else tensors and recording keep each other alive
        self._calls.clear()  # the frames in it hold the variables of those functions
        return self.trace

    # -- what recorded tensors report

    def add(self, tensor: Tensor) -> int:
        """A tensor was made; returns its id."""
        tensor.recorder = self
        tensor.id = len(self.trace.nodes)
        self._made.append(tensor)
        self.trace.nodes.append(
            {
                "id": tensor.id,
                "op": "",
                "label": tensor.label,
                "children": [],
                "shape": list(tensor.shape),
                "value": plain(tensor.numpy()),
                "requires_grad": tensor.requires_grad,
            }
        )
        return tensor.id

    def forward(self, out: int, children: tuple, op: str, data: Any, backward: Callable, frame: FrameType) -> None:
        """An operation made node `out`, in the function of this frame."""
        ids = [child.id for child in children]
        source = self._source(frame.f_code)
        captured = _captured(backward, children, data)
        calls = self._callers(frame.f_back)
        known = {"kind": KINDS.get(op, "other"), "symbol": SYMBOLS.get(op)}
        made = {"op": op, "children": ids, "source": source, "captured": captured, "calls": calls}
        self.trace.nodes[out] |= made | known
        self._event("forward", source, frame.f_lineno, node=out)

    def enter(self, node: int, upstream: Any, backward: Callable) -> None:
        """The closure of a node begins to run."""
        cells = dict(zip(backward.__code__.co_freevars, backward.__closure__ or (), strict=True))
        for entry in self.trace.nodes[node]["captured"]:
            if entry["holds"] != "operand":
                now = _plain_captured(cells[entry["name"]].cell_contents)
                entry["written"] = repr(now) != repr(entry["value"])  # as text, nan equals nan
        self._senders.append(_Sender(node, plain(upstream), list(self.trace.nodes[node]["children"])))

    def leave(self) -> None:
        """The closure that began last has run."""
        self._senders.pop()

    def message(self, child: Tensor, contribution: Any, frame: FrameType) -> None:
        """A closure sends a message: an event once it has got into the gradient."""
        if self._senders:
            before = None if child.grad is None else child.grad.copy()
            self._arriving = contribution, before, self._source(frame.f_code), frame.f_lineno

    def gradient(self, tensor: Tensor, after: Any, frame: FrameType) -> None:
        """A gradient was set: by the message that is arriving, or, where none is, as the seed."""
        source = self._source(frame.f_code)
        if self._arriving is None:
            self._event("seed", source, frame.f_lineno, node=tensor.id, grad=plain(after))
            return
        contribution, before, sent_from, line = self._arriving
        self._arriving = None
        sender = self._senders[-1]
        operand = self._operand(sender, tensor.id)
        names = {"node": sender.node, "child": tensor.id, "operand": operand}
        numbers = {"upstream": sender.upstream, "contribution": plain(contribution)}
        self._event("message", sent_from, line, **names, **numbers)
        # A broken engine may let a gradient have another shape; then the message went in as it came.
        message = _fitted(contribution, tensor) if np.shape(after) == tensor.shape else contribution
        first = before is None
        before = np.zeros_like(after) if first else before
        numbers = {"before": plain(before), "message": plain(message), "after": plain(after)}
        self._event("accumulate", source, frame.f_lineno, node=tensor.id, **numbers, first=first)

    def _operand(self, sender: _Sender, child: int) -> int:
        """Which operand a message went to. Closures send in operand order; one that sends twice has a fault."""
        children = self.trace.nodes[sender.node]["children"]
        waiting = [i for i, operand in enumerate(sender.operands) if operand == child]
        if not waiting:
            return children.index(child)
        sender.operands[waiting[0]] = -1
        return waiting[0]

    def _callers(self, frame: FrameType | None) -> list[str]:
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

    def _event(self, kind: str, source: str, line: int, **values: Any) -> None:
        self.trace.events.append({"kind": kind, **values, "source": source, "line": line})

    def _source(self, code: CodeType) -> str:
        """The name under which the source of a function, with the one around it, is kept."""
        name = code.co_qualname.split(".<locals>")[0]
        if name not in self.trace.sources:
            self.trace.sources[name] = _source_lines(code.co_filename, code.co_firstlineno, name.split(".")[-1])
        return name


def plain(value: Any) -> Any:
    """Numbers and nested lists, copied out of an array."""
    return np.asarray(value).tolist()


def brief(value: Any) -> str:
    """A value in a few characters: four significant digits, long arrays shortened."""
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{float(array):.4g}"
    style = {"float_kind": lambda number: f"{number:.4g}"}
    return " ".join(np.array2string(array, separator=", ", threshold=6, edgeitems=2, formatter=style).split())


def describe(node: dict) -> str:
    """The name of a node for a reader: its label, its operation, or that it is a constant."""
    if node["op"]:
        return f"{node['label']} ({node['op']})" if node["label"] else node["op"]
    return node["label"] or "constant"


def _captured(backward: Callable, children: tuple, data: Any) -> list[dict]:
    """What a backward closure holds: each free variable with its value, and where that value comes from."""
    entries = []
    for name, cell in zip(backward.__code__.co_freevars, backward.__closure__ or (), strict=True):
        value = cell.cell_contents
        if isinstance(value, Tensor):
            entries.append({"name": name, "holds": "operand", "node": value.id, "shape": list(value.shape)})
        elif isinstance(value, (np.ndarray, np.generic)):
            of = [i for i, child in enumerate(children) if child._data is value]
            holds = "output" if value is data else f"value of operand {of[0]}" if of else "array"
            entries.append({"name": name, "holds": holds, "shape": list(value.shape), "value": _plain_captured(value)})
        else:
            kind = {"holds": "setting", "type": type(value).__name__}
            entries.append({"name": name, **kind, "shape": [], "value": _plain_captured(value)})
    return entries


def _plain_captured(value: Any) -> Any:
    """A captured array as plain numbers, anything else (an axis, a function) as Python writes it, without addresses."""
    return plain(value) if isinstance(value, (np.ndarray, np.generic)) else re.sub(r" at 0x\w+", "", repr(value))


@cache
def _source_lines(filename: str, line: int, name: str) -> dict:
    """The source of the function `name`, which has this line in it, maybe inside a nested function."""
    lines = linecache.getlines(filename)
    above = (number for number in range(line, 0, -1) if re.match(rf"\s*def {re.escape(name)}\b", lines[number - 1]))
    first = next(above, line)  # a lambda has no such line: it stands for itself
    block = textwrap.dedent("".join(inspect.getblock(lines[first - 1 :]))).rstrip()
    return {"file": Path(filename).name, "first": first, "lines": block.split("\n")}


def strict_json(value: Any) -> str:
    """JSON that every parser takes: nan and the infinities become the strings "nan", "inf" and "-inf"."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_strict(value), allow_nan=False)


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
