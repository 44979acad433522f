"""Read a trace back from its JSON. The file may come from anywhere, so every part of it is checked."""

import itertools
import json
import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from lab.operation_table import OPS, UNKNOWN
from lab.trace.derivation import derive
from lab.trace.recording import Trace
from lab.trace.schema import Code, Event, Node, Seed, Step, Value

MAX_BYTES = 8_000_000
MAX_NODES = 5_000
MAX_EVENTS = 50_000
MAX_NUMBERS = 1_000_000
MAX_TEXT = 500  # characters of a name or a line
MAX_LINES = 2_000  # of all sources together
MAX_AXES = 8
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_FLAGS = ("sizes", "cut", "unseen")


class LoadError(ValueError):
    """The file holds no trace that can be shown; the message says why."""


def load(data: bytes | str) -> Trace:
    """Read a trace that `Trace.to_json` wrote. Raises LoadError if the data is not such a trace, or is too large."""
    if len(data) > MAX_BYTES:
        raise LoadError(f"This file is larger than {MAX_BYTES // 1_000_000} MB.")
    try:
        parts = json.loads(data)
        trace = read_trace(parts)
        set_kinds(trace)
        with np.errstate(all="ignore"):
            derive(trace)
    except LoadError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise LoadError(
            "This file holds no recorded pass. Save one with `pass_.save('pass.json')`, and load it as it is."
        ) from error
    return trace


def read_trace(parts: Any) -> Trace:
    """Copy a trace from parsed JSON that anybody may have written. Raises LoadError if it is too large, and ValueError,
    TypeError, KeyError, IndexError, AttributeError, RecursionError or OverflowError if it is none."""
    return _Reader().trace(parts)


def table_fits(trace: Trace, name: str) -> bool:
    """Return whether the rule in lab/operation_table.py can be checked for all operations of this name.

    All their operands are in the trace, no array that another is broadcast against has cells left out, and no number is
    complex."""
    wanted = max(1, len(OPS[name].derivatives))
    for node in trace.nodes:
        if node["op"] != name:
            continue
        operands = [trace.nodes[child] for child in node["children"]]
        whole = all("large" not in one for one in (node, *operands))
        fit = all(
            one["shape"] == node["shape"] or (not one["requires_grad"] and (whole or not one["shape"]))
            for one in operands
        )
        unknown = any("sizes" in one for one in (node, *operands)) or node.get("hides") or node.get("cut")
        if len(operands) != wanted or not fit or unknown:
            return False
    return True


def set_kinds(trace: Trace) -> None:
    """Add kind and symbol from lab/operation_table.py to the operations of a trace of another program."""
    trace.ops = {name: op for name, op in OPS.items() if op.kind == "elementwise" and table_fits(trace, name)}
    add_kinds(trace)


def add_kinds(trace: Trace) -> None:
    """Add kind and symbol to each operation of a trace: the kind from the rows of `trace.ops`, whose rules fit it."""
    for node in trace.nodes:
        if op := node["op"]:
            known = OPS.get(op, UNKNOWN)
            node["kind"] = trace.ops.get(op, UNKNOWN).kind
            node["symbol"] = known.symbol if len(node["children"]) == len(known.derivatives) else None


class _Reader:
    """Copies the parts of a trace that it knows and checks each; anything else in the file is ignored."""

    def __init__(self) -> None:
        self.numbers = 0

    def trace(self, parts: Any) -> Trace:
        nodes, events = parts["nodes"], parts["events"]
        if len(nodes) > MAX_NODES or len(events) > MAX_EVENTS:
            raise LoadError(f"This pass has more than {MAX_NODES:,} nodes or {MAX_EVENTS:,} events.")
        trace = Trace(error=text(parts["error"]))
        trace.sources = self.sources(parts["sources"])
        for number, node in enumerate(nodes):
            trace.nodes.append(self.node(number, node, trace.sources))
        trace.output = index(parts["output"], len(nodes))
        for event in events:
            trace.events.append(self.event(event, trace))
        self.check_pairs(trace.events)
        for name, gradient in parts["gradients"].items():
            known = None if gradient is None else np.array(self.value(gradient), float)
            trace.gradients[text(name)] = known
        return trace

    def sources(self, parts: Mapping[str, Any]) -> dict[str, Code]:
        found: dict[str, Code] = {}
        lines = 0
        for name, code in parts.items():
            lines += len(code["lines"])
            if lines > MAX_LINES:
                raise LoadError(f"This file has more than {MAX_LINES:,} lines of code.")
            found[text(name)] = {
                "file": text(code["file"]),
                "first": index(code["first"]),
                "lines": [text(line) for line in code["lines"]],
            }
        return found

    def node(self, number: int, parts: Mapping[str, Any], sources: Mapping[str, Code]) -> Node:
        shape = [index(length) for length in parts["shape"]]
        node: Node = {
            "id": same(index(parts["id"]), number),
            "op": text(parts["op"]),
            "label": text(parts["label"]),
            "children": [index(child, number) for child in parts["children"]],
            "shape": shape,
            "value": self.array(parts["value"], shape),
            "requires_grad": parts["requires_grad"] is True,
        }
        if node["op"]:
            node["source"] = key(parts["source"], sources)
            node["calls"] = [text(call) for call in parts["calls"]]
            node["captured"] = [self.captured(entry, node) for entry in parts["captured"]]
        if "large" in parts:
            large = parts["large"]
            node["large"] = {
                "shape": [index(length) for length in large["shape"]],
                "min": self.number(large["min"]),
                "max": self.number(large["max"]),
                "mean": self.number(large["mean"]),
                "not_finite": index(large["not_finite"]),
            }
        if "earlier" in parts:
            node["earlier"] = self.array(parts["earlier"], shape)
        if "now" in parts:
            node["now"] = self.array(parts["now"], shape)
        if "version" in parts:
            node["version"] = index(parts["version"])
        if "shares" in parts:
            node["shares"] = index(parts["shares"])
        if "precision" in parts:
            node["precision"] = {name: self.number(parts["precision"][name]) for name in ("eps", "least", "most")}
        if "writes" in parts:
            node["writes"] = [
                {"version": index(one["version"]), "line": index(one["line"]), "op": text(one["op"])}
                for one in parts["writes"]
            ]
        if "hides" in parts:
            node["hides"] = [text(part) for part in parts["hides"]]
        for name in _FLAGS:
            if parts.get(name) is True:
                node[name] = True  # type: ignore[literal-required]
        return node

    def captured(self, parts: Mapping[str, Any], node: Node) -> Any:
        holds = text(parts["holds"])
        entry: dict[str, Any] = {
            "name": text(parts["name"]),
            "holds": holds,
            "shape": [index(length) for length in parts["shape"]],
        }
        if holds == "operand":
            return {**entry, "node": index(parts["node"], node["id"])}
        if "written" in parts:
            entry["written"] = parts["written"] is True
        if holds == "setting":
            return {**entry, "type": text(parts["type"]), "value": text(parts["value"])}
        if holds.startswith("value of operand "):
            index(int(holds.rpartition(" ")[2]), len(node["children"]))
        elif holds not in ("output", "array"):
            raise ValueError(holds)
        return {**entry, "value": self.value(parts["value"])}

    def event(self, parts: Mapping[str, Any], trace: Trace) -> Event:
        kind, number = parts["kind"], index(parts["node"], len(trace.nodes))
        at: Step = line_in(parts, trace.sources)
        if "engine" in parts:
            at["engine"] = line_in(parts["engine"], trace.sources)
        node = trace.nodes[number]
        shape = node["shape"]
        if kind == "forward":
            same(bool(node["op"]), True)
            return {"kind": "forward", "node": number, **at}
        if kind == "seed":
            gradients = {key: self.array(parts[key], shape) for key in ("grad", *parts.keys() & {"replaced"})}
            return cast(Seed, {"kind": "seed", "node": number, **gradients, **at})
        if kind == "message":
            operand = index(parts["operand"], len(node["children"]))
            child = same(index(parts["child"]), node["children"][operand])
            return {
                "kind": "message",
                "node": number,
                "child": child,
                "operand": operand,
                "upstream": self.array(parts["upstream"], shape),
                "contribution": self.value(parts["contribution"]),
                **at,
            }
        same(kind, "accumulate")
        return {
            "kind": "accumulate",
            "node": number,
            "before": self.array(parts["before"], shape),
            "message": self.array(parts["message"], shape),
            "after": self.array(parts["after"], shape),
            "first": parts["first"] is True,
            **at,
        }

    def check_pairs(self, events: list[Event]) -> None:
        """Raise ValueError unless each accumulation comes right after its message."""
        for one, other in itertools.pairwise([*events, None]):
            if one is not None and one["kind"] == "message":
                if other is None or other["kind"] != "accumulate" or other["node"] != one["child"]:
                    raise ValueError("a message without its accumulation")
            elif other is not None and other["kind"] == "accumulate":
                raise ValueError("an accumulation without its message")

    def array(self, value: Any, shape: list[int]) -> Value:
        copied = self.value(value)
        same(list(np.shape(copied)), shape)
        return copied

    def value(self, value: Any, depth: int = 0) -> Value:
        """Copy numbers and nested lists."""
        if isinstance(value, list):
            if depth >= MAX_AXES:
                raise ValueError("too many axes")
            copied: Value = [self.value(part, depth + 1) for part in value]
            if depth == 0:
                np.array(copied, float)  # ValueError: ragged
            return copied
        return self.number(value)

    def number(self, value: Any) -> float:
        self.numbers += 1
        if self.numbers > MAX_NUMBERS:
            raise LoadError(f"This pass has more than {MAX_NUMBERS:,} numbers.")
        if isinstance(value, str):
            return _NOT_FINITE[value]
        if not isinstance(value, (int, float)):
            raise TypeError(value)
        return value


def text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise TypeError(value)
    return value


def index(value: Any, below: int = 10**12) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < below:
        raise IndexError(value)
    return value


def key(value: Any, known: Mapping[str, Any]) -> str:
    if value not in known:
        raise KeyError(value)
    return text(value)


def line_in(parts: Mapping[str, Any], sources: Mapping[str, Code]) -> Any:
    """Copy a line of code. The source need not have it: of a long one only the beginning is there."""
    return {"source": key(parts["source"], sources), "line": index(parts["line"])}


def same(value: Any, wanted: Any) -> Any:
    if value != wanted:
        raise ValueError(f"{value}, not {wanted}")
    return value
