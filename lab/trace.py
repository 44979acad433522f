"""One forward and backward pass of the real engine, written down as a list of events.

`Recorded` is a Tensor that reports what happens to it: each operation that makes a node, the seed, each message that
a closure sends and how it was added to a gradient. It changes nothing: the numbers are the engine's own. The result
is plain data (dicts, lists, numbers), so that a browser can play it without Python.
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

from model import Tensor, _fitted, topological_order

_ENGINE = Tensor._node.__code__.co_filename


@dataclass
class Trace:
    """What `record` returns.

    nodes      dicts, in the order of creation, with id (its index), op ("" for a leaf), label, children (ids in operand
               order, repeats kept), shape, value, requires_grad; and for an operation source (a key of `sources`),
               captured (what its closure holds, and once the closure has run whether that was written to since) and
               calls (the functions of the engine that called the operation, such as a layer or a mean, outermost first)
    events     dicts with kind and line (of `source`, a key of `sources`):
               "forward" {node}, "seed" {node, grad}, "message" {node, child, operand, upstream, contribution},
               "accumulate" {node, before, message, after, first}. `first` says that there was no gradient before; then
               before is 0. A contribution has the shape of the result; its message has the shape of the operand.
    gradients  leaf name -> array, or None where no path leads from the output to the leaf
    output     the id of the result
    sources    function name -> {file, first, lines}: the code that ran, with the number of its first line
    """

    nodes: list[dict] = field(default_factory=list)
    events: list[dict] = field(default_factory=list)
    gradients: dict[str, np.ndarray | None] = field(default_factory=dict)
    output: int = 0
    sources: dict[str, dict] = field(default_factory=dict)

    def to_json(self) -> str:
        """The whole trace as strict JSON; nan and the infinities become the strings "nan", "inf" and "-inf"."""
        gradients = {name: None if g is None else g.tolist() for name, g in self.gradients.items()}
        parts = {"nodes": self.nodes, "events": self.events, "gradients": gradients}
        return strict_json({**parts, "output": self.output, "sources": self.sources})

    def _repr_html_(self) -> str:
        """The player, where a notebook displays the trace."""
        from lab.export import framed  # above this module; only a display needs it

        return framed(self)

    @property
    def forward_events(self) -> int:
        """How many events the forward pass has: the index of the seed."""
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


def record(build: Callable[..., Tensor], leaves: Mapping[str, Any], seed: Any = None) -> Trace:
    """Run `build(**leaves)` forward and backward on recording tensors.

    build   called with a Tensor for each leaf, as keywords; returns a Tensor computed from them
    leaves  name -> number or array; each becomes a leaf with that label
    seed    the upstream gradient of the result; ones of its shape by default

    Errors are those of the engine and of `build`.
    """
    trace = Trace()
    recorder = _Recorder(trace)
    tensors = {name: Recorded(value, label=name) for name, value in leaves.items()}
    for tensor in tensors.values():
        recorder.add(tensor)
    with np.errstate(all="ignore"):  # inf and nan are shown where they arise
        output = build(**tensors)
        if not isinstance(output, Recorded):
            raise TypeError("The function to record must return a Tensor computed from its arguments.")
        trace.output = output.id
        for tensor in topological_order(output):  # a name like `h` in `h = a * b` is given after the operation
            trace.nodes[tensor.id]["label"] = tensor.label
        recorder.seed(output, np.ones(output.shape) if seed is None else seed)
    recorder.calls.clear()  # the frames in it hold the variables of those functions
    trace.gradients = {name: None if t.grad is None else np.array(t.grad) for name, t in tensors.items()}
    return trace


class Recorded(Tensor):
    """A Tensor that reports to the recorder of its leaves. Results of operations on it are Recorded too."""

    __slots__ = ("id", "recorder")

    def _node(self, data: Any, children: tuple, op: str, backward: Callable, saved: tuple = ()) -> Tensor:
        recorder = self.recorder
        operation = sys._getframe(1)  # the method of the engine that is making this node

        def observed(upstream):
            recorder.enter(out_id, upstream, backward)
            backward(upstream)

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
            before = self.grad if self.grad is None else self.grad.copy()
            self.recorder.message(self.id, message, sys._getframe(1))
            super()._accumulate(message)
            self.recorder.accumulate(self.id, before, _fitted(message, self), self.grad)


class _Recorder:
    """Writes the trace. Its state is where in the backward pass we are: whose closure runs, and with what."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.node = 0
        self.upstream: Any = None
        self.operands: list[int] = []  # of the node, without those that were sent their message
        self.calls: dict[FrameType, str] = {}  # a running function of the engine -> its name with a number

    def add(self, tensor: Recorded) -> int:
        tensor.recorder = self
        tensor.id = len(self.trace.nodes)
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
        ids = [child.id for child in children]
        source = self._source(frame.f_code)
        captured = _captured(backward, children, data)
        calls = self._calls(frame.f_back)
        self.trace.nodes[out] |= {"op": op, "children": ids, "source": source, "captured": captured, "calls": calls}
        self._event("forward", source, frame.f_lineno, node=out)

    def seed(self, output: Recorded, seed: Any) -> None:
        source = self._source(Tensor.backward.__code__)
        line = _line_where(Tensor.backward, "self.grad = ")
        self._event("seed", source, line, node=output.id, grad=plain(np.broadcast_to(seed, output.shape)))
        output.backward(seed, retain_graph=True)

    def enter(self, node: int, upstream: Any, backward: Callable) -> None:
        self.node, self.upstream = node, upstream
        self.operands = list(enumerate(self.trace.nodes[node]["children"]))
        cells = dict(zip(backward.__code__.co_freevars, backward.__closure__ or (), strict=True))
        for entry in self.trace.nodes[node]["captured"]:
            if entry["holds"] != "operand":
                now = _plain_captured(cells[entry["name"]].cell_contents)
                entry["written"] = repr(now) != repr(entry["value"])  # as text, nan equals nan

    def message(self, child: int, contribution: Any, frame: FrameType) -> None:
        operand = next(entry for entry in self.operands if entry[1] == child)  # closures send in operand order
        self.operands.remove(operand)
        self._event(
            "message",
            self._source(frame.f_code),
            frame.f_lineno,
            node=self.node,
            child=child,
            operand=operand[0],
            upstream=plain(self.upstream),
            contribution=plain(contribution),
        )

    def accumulate(self, node: int, before: Any, message: Any, after: Any) -> None:
        first = before is None
        before = np.zeros_like(after) if first else before
        line = _line_where(Tensor._accumulate, "self.grad = " if first else "self.grad += ")
        source = self._source(Tensor._accumulate.__code__)
        values = {"before": plain(before), "message": plain(message), "after": plain(after)}
        self._event("accumulate", source, line, node=node, **values, first=first)

    def _calls(self, frame: FrameType | None) -> list[str]:
        """The functions of the engine in which an operation was called; each call of one has a number of its own."""
        names = []
        while frame is not None and frame.f_code is not record.__code__:
            function = frame.f_code.co_qualname
            if frame.f_code.co_filename == _ENGINE and "<" not in function:
                if frame not in self.calls:
                    name = function.removesuffix(".__call__").split(".")[-1]
                    number = 1 + sum(other.rpartition(" ")[0] == name for other in self.calls.values())
                    self.calls[frame] = f"{name} {number}"
                names.append(self.calls[frame])
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
            entries.append({"name": name, "holds": type(value).__name__, "shape": [], "value": _plain_captured(value)})
    return entries


def _plain_captured(value: Any) -> Any:
    """A captured array as plain numbers, anything else (an axis, a function) as Python writes it."""
    return plain(value) if isinstance(value, (np.ndarray, np.generic)) else repr(value)


@cache
def _source_lines(filename: str, line: int, name: str) -> dict:
    """The source of the function `name`, which has this line in it, maybe inside a nested function."""
    lines = linecache.getlines(filename)
    above = (number for number in range(line, 0, -1) if re.match(rf"\s*def {re.escape(name)}\b", lines[number - 1]))
    first = next(above, line)  # a lambda has no such line: it stands for itself
    block = textwrap.dedent("".join(inspect.getblock(lines[first - 1 :]))).rstrip()
    return {"file": Path(filename).name, "first": first, "lines": block.split("\n")}


@cache
def _line_where(function: Callable, start: str) -> int:
    """The number of the first line of a function that starts with this text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if line.lstrip().startswith(start))


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
