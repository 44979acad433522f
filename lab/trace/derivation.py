"""Derive each node's gradient by the chain rule: who sends it messages, with which local derivatives and numbers.

    gradient of a node = sum over its uses of  upstream gradient × local derivative

The messages are those that the engine sent. The local derivatives are the textbook rules in lab/operation_table.py. If
the two disagree, the engine, or an operation that someone wrote, is wrong.
"""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lab.operation_table import UNKNOWN, Derivative
from lab.text import brief, listed, numeral, rounded
from lab.trace.recording import Trace
from lab.trace.schema import Derived, DueTerm, Message, Node, Role, SentTerm, Value

FLOAT32 = 1e-6  # relative difference of a number and the same one in float32, a little rounded up
RELATIVE, ABSOLUTE = 1e-5, 1e-12  # tolerances that cover float32
MAX_ROUNDINGS = 8  # of the numbers behind one message
MAX_NAMED = 3  # outputs of a pass, or results of a call


def derive(trace: Trace) -> list[Derived]:
    """Derive the gradient of each node, in the order of the nodes."""
    names = short_names(trace)
    values, senders = [np.asarray(node["value"]) for node in trace.nodes], [[name] for name in names]
    for node in trace.nodes:
        if "shares" in node:
            senders[node["shares"]].append(names[node["id"]])
    result = result_name(trace, names)
    reached, unsent = trace.gradients_after(), _unsent(trace)
    starts = {e["node"]: e["grad"] for e in trace.events if e["kind"] == "seed" and "replaced" not in e}
    derived: list[Derived] = [
        {
            "name": names[i],
            "kind": kind_of(trace, node),
            "why": _why(node, starts, reached, trace, unsent),
            "terms": [*unsent.get(i, ())],
        }
        for i, node in enumerate(trace.nodes)
    ]
    with np.errstate(all="ignore"):
        for index, event in enumerate(trace.events):
            if event["kind"] == "message":
                term = _term(trace, index, event, names, values, senders[event["node"]], result)
                derived[event["child"]]["terms"].append(term)
    return derived


def result_name(trace: Trace, names: Sequence[str]) -> str:
    """Return the name of what a pass differentiates: the output, or the sum of several that it starts from, which
    starting gradients may weight."""
    starts = [e for e in trace.events if e["kind"] == "seed" and "replaced" not in e]
    if len(starts) < 2:
        return names[trace.output]
    weighted = any(np.any(np.not_equal(e["grad"], 1.0)) for e in starts)
    return f"({' + '.join(_some([names[e['node']] for e in starts]))}{', weighted' if weighted else ''})"


def _some(names: list[str]) -> list[str]:
    """Return at most MAX_NAMED names; "5 more" stands for the others."""
    left = len(names) - MAX_NAMED
    return [*names[:MAX_NAMED], f"{left} more"] if left > 0 else names


def kind_of(trace: Trace, node: Node) -> Role:
    """Return a node's role in the drawing: "output", "operation", "constant" or "leaf"."""
    if node["id"] == trace.output:
        return "output"
    if node["op"]:
        return "operation"
    return "leaf" if node["requires_grad"] else "constant"


def _unsent(trace: Trace) -> dict[int, list[DueTerm]]:
    """Return the missing messages: those due to each node that leads to the result but is not reached by the
    pass."""
    leading = {trace.output}
    reached = {event["node"] for event in trace.events if event["kind"] in ("seed", "accumulate")}
    due: dict[int, list[DueTerm]] = {}
    for node in reversed(trace.nodes):  # operands come before their users
        if node["id"] in leading:
            leading.update(node["children"])
            for operand, child in enumerate(node["children"]):
                if trace.nodes[child]["requires_grad"] and child not in reached:
                    due.setdefault(child, []).append({"event": None, "node": node["id"], "operand": operand})
    return due


def first_disagreement(trace: Trace) -> int | None:
    """Return the event index of the first message that differs from the textbook rule, or None."""
    terms = (term for node in derive(trace) for term in node["terms"] if term["event"] is not None)
    return min((term["event"] for term in terms if term["agrees"] is False), default=None)


def short_names(trace: Trace) -> list[str]:
    """Return a name for each node, short enough for a formula. All are different, so that a sentence says which node it
    is about: of nodes with one label, as in a loop, all but the first have a number."""
    labels = {node["label"] for node in trace.nodes}
    numbered = {label: _unused_names(f"{label}_", labels, 2) for label in labels}
    seen = set[str]()
    operations, constants = _unused_names("v", labels), _unused_names("const", labels)
    names = []
    for node in trace.nodes:
        if node["label"]:
            names.append(next(numbered[node["label"]]) if node["label"] in seen else node["label"])
            seen.add(node["label"])
        elif node["id"] == trace.output and "out" not in labels:
            names.append("out")
        elif node["op"]:
            names.append(next(operations))
        else:
            names.append(next(constants) if node["shape"] else _written(np.asarray(node["value"]).item()))
    return names


def _written(number: float) -> str:
    """Write a number as a formula does; "…" says that it has more digits than are shown."""
    shown = not math.isfinite(number) or math.isclose(rounded(number), number, rel_tol=FLOAT32)
    return numeral(number) + ("" if shown else "…")


def _unused_names(prefix: str, labels: set[str], first: int = 1) -> Iterator[str]:
    return (name for i in itertools.count(first) if (name := f"{prefix}{i}") not in labels)


def table(trace: Trace) -> list[dict[str, str]]:
    """Return the nodes as rows of text, the graph as a table: node, computed from, shape, value, gradient."""
    reached = trace.gradients_after()
    names, unsent = short_names(trace), _unsent(trace)
    rows = []
    for node, name in zip(trace.nodes, names, strict=True):
        number = node["id"]
        if number in reached:
            gradient = brief(reached[number])
        elif not node["requires_grad"]:
            gradient = "none (constant)"
        else:
            due = number in unsent or number == trace.output
            gradient = "not computed" if due else "none (no path)"
        rows.append(
            {
                "node": f"{name} ({node['op']})" if node["op"] else name,
                "computed from": ", ".join(names[child] for child in node["children"]) or "–",
                "shape": "×".join(map(str, node["shape"])) or "number",
                "value": brief(node["value"]),
                "gradient": gradient,
            }
        )
    return rows


def _why(
    node: Node,
    starts: dict[int, Value],
    reached: dict[int, Value],
    trace: Trace,
    unsent: dict[int, list[DueTerm]],
) -> str:
    if (start := starts.get(node["id"])) is not None:
        reason, end = f"{brief(start)} because it is the starting gradient", reached[node["id"]]
        return reason if end is start else f"{reason}; messages or a hook of the program then made it {brief(end)}"
    if node["id"] == trace.output and node["id"] not in reached:
        return "not computed: the backward pass has not started"
    if not node["requires_grad"]:
        return "none because it is a constant: its gradient is not needed"
    earlier = node.get("earlier")
    if reached.get(node["id"]) is earlier:
        if earlier is not None:
            return f"{brief(earlier)} from an earlier pass: this one has sent it no message"
        if node["id"] in unsent:
            return "not computed: no message was sent to it"
        return "0 because no path leads from here to the result; the engine leaves it at None"
    return ""


def _term(
    trace: Trace,
    index: int,
    event: Message,
    names: list[str],
    values: list[np.ndarray],
    senders: list[str],
    result: str,
) -> SentTerm:
    parent, operand = event["node"], event["operand"]
    node = trace.nodes[parent]
    rule, used = rule_of(trace, node, operand)
    local, agrees = None, None
    if rule.value is not None and not (rule.scalar_only and node["shape"]):
        local = rule.value(*(values[child] for child in node["children"]), values[parent])
        upstream, sent = np.asarray(event["upstream"]), np.asarray(event["contribution"])
        if np.any((local == 0) & (sent == 0) & ~np.isfinite(upstream)):  # relu and max choose 0; it is no product
            local = None
        else:
            agrees = _follows(upstream, local, sent, (node, trace.nodes[event["child"]]))
    if local is None and not rule.reads("g"):
        rule = replace(rule, text="{g} · " + rule.text)
    gradients = listed(_some([f"∂{result}/∂{name}" for name in senders]))
    written = "{g} and those of its other results" if len(senders) > 1 else "{g}"
    return {
        "event": index,
        "node": parent,
        "operand": operand,
        "sends": f"{listed(_some(senders))} ({node['op']}) {'send' if len(senders) > 1 else 'sends'}",
        "text": rule.text.format(g=gradients, **{key: names[i] for key, i in used.items()}),
        "rule": rule.text.format(g=written, **{key: f"{{{key}}}" for key in "aby"}),
        "used": used,
        "local": None if local is None else np.asarray(local).tolist(),
        "agrees": agrees,
    }


def _follows(upstream: np.ndarray, local: np.ndarray, sent: np.ndarray, nodes: Sequence[Node]) -> bool:
    """Return whether a message between two nodes is upstream gradient times local derivative, as far as the coarser of
    their dtypes can hold these numbers."""
    known = [node["precision"] for node in nodes if "precision" in node]
    eps, least = (max((one[key] for one in known), default=0.0) for key in ("eps", "least"))
    relative = max(RELATIVE, MAX_ROUNDINGS * eps)
    most = (1 - relative) * min((one["most"] for one in known), default=math.inf)
    product = upstream * local
    overflows = np.isinf(sent) & (np.sign(sent) == np.sign(product)) & (np.abs(product) >= most)
    underflow = MAX_ROUNDINGS * least * (1 + np.abs(upstream))
    return alike(np.where(overflows, sent, product), sent, relative, ABSOLUTE + underflow)


def alike(
    expected: np.ndarray, sent: np.ndarray, relative: float = RELATIVE, absolute: float | np.ndarray = ABSOLUTE
) -> bool:
    """Compare as np.allclose(expected, sent, relative, absolute, equal_nan=True) does, three times as fast."""
    near = (np.abs(expected - sent) <= absolute + relative * np.abs(sent)) & np.isfinite(sent)
    return bool((near | (expected == sent) | (np.isnan(expected) & np.isnan(sent))).all())


def rule_of(trace: Trace, node: Node, operand: int) -> tuple[Derivative, dict[str, int]]:
    """Return a node's local derivative with respect to an operand, and the node ids of {a}, {b} and {y} in it."""
    op, children = trace.ops.get(node["op"], UNKNOWN), node["children"]
    first = children[operand] if op.kind == "joining" else children[0]
    return op.derivative(operand), {"a": first, "b": children[min(1, len(children) - 1)], "y": node["id"]}


def latex_name(name: str) -> str:
    """Write a node's name in LaTeX: v1 gets an index, a word is upright, a number keeps its sign and power of ten, any
    other name becomes text."""
    if re.fullmatch(r"[A-Za-z]", name):
        return name
    if match := re.fullmatch(r"(−?)([\d.]+|∞)(?:e(−?)(\d+))?", name):
        sign, digits, below, exponent = match.groups()
        power = rf" \times 10^{{{'-' * bool(below)}{exponent}}}" if exponent else ""
        return "-" * bool(sign) + digits.replace("∞", r"\infty") + power
    if match := re.fullmatch(r"([A-Za-z])_?(\d+)", name):
        return f"{match[1]}_{{{match[2]}}}"
    if re.fullmatch(r"[A-Za-z]+", name):
        return rf"\mathrm{{{name}}}"
    special = {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
    return r"\text{" + "".join(special.get(c, f"\\{c}" if c in "_&%$#{}" else c) for c in name) + "}"
