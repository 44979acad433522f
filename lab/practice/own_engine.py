"""A learner's own engine in the lab: its passes as traces for the player, its gradients beside numerical ones.

What it does is found by lab/practice/tracer.py, in the process of the learner's code. That process says what it likes:
everything that comes from there is checked here, and what does not hold together is refused in one sentence.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lab.expression.builder import Expression
from lab.ops import OPS, UNKNOWN
from lab.practice.checker import Job, Problem, Runner
from lab.trace.derive import rule_of
from lab.trace.numerical import Checked
from lab.trace.parts import Captured, Code, Event, Node, Value
from lab.trace.recording import Trace, brief
from model import Tensor, _unbroadcast
from practice.task import Ladder

TRACER = (Path(__file__).parent / "tracer.py").read_text("utf-8")
OPERANDS = (Path(__file__).parent / "operands.py").read_text("utf-8")
ENGINES = {"scalars": "Value", "tensors": "Tensor", "functions": "Tensor"}  # ladder -> the class that its file defines
MOST_NODES = 500
STEP = 1e-6  # of the numerical gradient
NONSENSE = (
    KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, SyntaxError, tokenize.TokenError,
)  # fmt: skip
_NAME = re.compile(r"[\w.<>]{1,80}")  # of a function
_HELD = re.compile(r"(?!\d)\w{1,80}(\[\d{1,3}\])?")  # a variable, or a position in one
_OPERATION = re.compile(r"[\w+*/@.,()\[\] -]{1,24}")


class Unusable(Exception):
    """The engine cannot be followed; the message says why, and what to do. `line`: where in the learner's file."""

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line


def follow(
    ladder: Ladder, source: str, expression: Expression, leaves: Mapping[str, Any], runner: Runner, upstream: Any = None
) -> Trace:
    """One forward and one backward pass of an expression with the engine of a learner's file.

    Raises Unusable, and Stopped where the process did not live to answer.
    """
    leaves = _suited(ladder, leaves)
    _loaded(ladder, source, runner)
    watch = f"Watch({ENGINES[ladder.key]}, {ladder.file!r})"
    if ladder.key == "functions":
        watch = f"FunctionsWatch(Tensor, {ladder.file!r}, Function, globals())"
    program = f"{TRACER}\n\n{_build(ladder, expression)}\n\ntold = follow({watch}, build, leaves, upstream)\n"
    (said,) = runner.run([Job(program, {"leaves": dict(leaves), "upstream": upstream}, ("told",))])
    if said.problem:
        raise Unusable(_sentence(said.problem), said.problem.line)
    try:
        return _trace(said.values["told"], source, ladder.file, list(leaves))
    except NONSENSE as error:
        graph = "`data`, `grad` and `grad_fn`" if ladder.key == "functions" else "`data`, `grad`, `_children` and `_op`"
        raise Unusable(
            f"Your engine's passes cannot be drawn: what its objects say of {graph} does not hold "
            f"together ({type(error).__name__})."
        ) from None


def checked(
    ladder: Ladder, source: str, expression: Expression, leaves: Mapping[str, Any], runner: Runner, upstream: Any = None
) -> list[Checked]:
    """Each leaf's gradient by the learner's backward pass, beside central differences of the learner's forward pass.

    Raises Unusable and Stopped.
    """
    leaves = _suited(ladder, leaves)
    _loaded(ladder, source, runner)
    name = ENGINES[ladder.key]
    build = _build(ladder, expression)
    forward = f"{build}\n\nvalue = build(**{{name: {name}(number) for name, number in leaves.items()}}).data\n"
    backward = (
        f"{build}\n\ntensors = {{name: {name}(number) for name, number in leaves.items()}}\nresult = build(**tensors)\n"
        "result.backward() if upstream is None else result.backward(upstream)\n"
        "gradients = {name: tensor.grad for name, tensor in tensors.items()}\n"
    )
    arrays = {name: np.asarray(value, float) for name, value in leaves.items()}
    jobs = [Job(backward, {"leaves": dict(leaves), "upstream": upstream}, ("gradients",))]
    for name, at in arrays.items():
        for index in np.ndindex(at.shape):
            for step in (STEP, -STEP):
                moved = at.copy()
                moved[index] += step
                jobs.append(Job(forward, {"leaves": {**leaves, name: moved if at.ndim else moved.item()}}, ("value",)))
    said = runner.run(jobs)
    for answer in said:
        if answer.problem:
            raise Unusable(_sentence(answer.problem), answer.problem.line)
    start = 1.0 if upstream is None else np.asarray(upstream, float)
    try:
        values = iter([float(np.sum(np.asarray(answer.values["value"], float) * start)) for answer in said[1:]])
        rows = []
        for name, at in arrays.items():
            slopes = [(next(values) - next(values)) / (2 * STEP) for _ in np.ndindex(at.shape)]
            analytic = _gradient(name, said[0].values["gradients"][name], at.shape)
            rows.append(Checked(name, at.tolist(), analytic, np.reshape(slopes, at.shape)))
    except (KeyError, TypeError, ValueError):
        raise Unusable("Your engine gave gradients that are no numbers.") from None
    return rows


def _suited(ladder: Ladder, leaves: Mapping[str, Any]) -> dict[str, Any]:
    """The leaves as the engine takes them: numbers, or arrays."""
    if ladder.key != "scalars":
        return {name: np.asarray(value, float) for name, value in leaves.items()}
    if arrays := [name for name, value in leaves.items() if np.ndim(value)]:
        raise Unusable(f"Your engine takes single numbers: make {arrays[0]} a number.")
    return dict(leaves)


def _loaded(ladder: Ladder, source: str, runner: Runner) -> None:
    if problem := runner.load(source, ladder.file):
        raise Unusable(f"Your file stops with {problem.kind}: {problem.message}", problem.line)


def _sentence(problem: Problem) -> str:
    if problem.kind in ("Lacking", "Unfollowed") and problem.line is None:  # of ours
        return problem.message
    missing = problem.kind in ("AttributeError", "NameError") or problem.message.startswith("unsupported operand")
    if missing and problem.line is None:
        return f"Your engine has no such operation or attribute: {problem.message}."
    return f"Your engine stops with {problem.kind}: {problem.message}"


def _build(ladder: Ladder, expression: Expression) -> str:
    """A function of the leaves' names that computes the expression: the same lines that the lab offers as a program."""
    body = re.sub(r"\A(import .*\n\n)?from model import .*\n\n", "", expression.to_python())
    names, result = expression.names, expression.result_name
    written = f"def {{}}({', '.join(names)}):\n{textwrap.indent(body, '    ')}    return {result}"
    if ladder.key == "functions":
        return f"{OPERANDS}\n\n{written.format('of_operands')}"
    return written.format("build")


# -- What the process said, as a trace ---------------------------------------------------------------------------------


def _trace(told: Mapping[str, Any], source: str, file: str, leaves: Sequence[str]) -> Trace:
    """A trace from the tracer's words. One of NONSENSE: they do not hold together."""
    lines = source.splitlines()
    sources: dict[str, Code] = {}
    firsts = told["functions"]

    def place(entry: Mapping[str, Any]) -> tuple[str, int]:
        name, line = str(entry["source"]), int(entry["line"])
        if name not in sources:
            _must(bool(_NAME.fullmatch(name)) and name in firsts)
            first = int(firsts[name])
            _must(0 < first <= len(lines))
            block = "".join(inspect.getblock([f"{text}\n" for text in lines[first - 1 :]]))
            sources[name] = {"file": file, "first": first, "lines": textwrap.dedent(block).rstrip().split("\n")}
        return name, line

    _must(len(leaves) <= len(told["nodes"]) <= MOST_NODES)
    nodes: list[Node] = []
    for number, said in enumerate(told["nodes"]):
        children = [int(child) for child in said["children"]]
        _must(all(0 <= child < number for child in children))
        value = np.asarray(said["value"], float)
        op = str(said["op"])
        label = leaves[number] if number < len(leaves) else "" if children else brief(value)
        node: Node = {
            "id": number,
            "op": op if children else "",
            "label": label,
            "children": children,
            "shape": list(value.shape),
            "value": value.tolist(),
            "requires_grad": not said.get("constant", False),
        }
        if children:
            _must(bool(_OPERATION.fullmatch(op)))
            node["kind"], node["symbol"] = OPS.get(op, UNKNOWN).kind, OPS.get(op, UNKNOWN).symbol
            node["captured"] = [_captured(entry, number, nodes, children) for entry in said["captured"]]
            node["calls"] = []
        nodes.append(node)
    gradients = {
        name: _gradient(name, told["gradients"][name], tuple(node["shape"]))
        for name, node in zip(leaves, nodes, strict=False)
    }
    events: list[Event] = []
    waiting: dict[int, list[int]] = {}  # node -> its operands without a message so far
    for said in told["events"]:
        node_id = int(said["node"])
        _must(0 <= node_id < len(nodes))
        shape = nodes[node_id]["shape"]
        kind = said["kind"]
        name, line = place(said)
        if kind == "forward":
            nodes[node_id]["source"] = name
            events.append({"kind": "forward", "node": node_id, "source": name, "line": line})
        elif kind == "seed":
            grad = _numbers(said["grad"], shape)
            events.append({"kind": "seed", "node": node_id, "grad": grad, "source": name, "line": line})
        elif kind == "message":
            child = int(said["child"])
            operands = waiting.setdefault(node_id, list(nodes[node_id]["children"]))
            operand = operands.index(child) if child in operands else nodes[node_id]["children"].index(child)
            operands[operand] = -1
            events.append({
                "kind": "message", "node": node_id, "child": child, "operand": operand,
                "upstream": _numbers(said["upstream"]), "contribution": _numbers(said["contribution"]),
                "source": name, "line": line,
            })  # fmt: skip
        else:
            _must(kind == "accumulate")
            events.append({
                "kind": "accumulate", "node": node_id, "before": _numbers(said["before"]),
                "message": _numbers(said["message"]), "after": _numbers(said["after"], shape),
                "first": bool(said["first"]), "source": name, "line": line,
            })  # fmt: skip
    _must(all("source" in node for node in nodes if node["op"]))
    output = int(told["output"])
    _must(0 <= output < len(nodes))
    # An operation of the same name with other operands, such as a power with a number for exponent, has another rule.
    counts = {(node["op"], len(node["children"])) for node in nodes if node["op"]}
    ops = {name: op for name, op in OPS.items() if {n for known, n in counts if known == name} <= {len(op.derivatives)}}
    trace = Trace(nodes, events, gradients, output, sources, ops=ops)
    _tell_copies(trace)
    return trace


def _tell_copies(trace: Trace) -> None:
    """Where broadcasting repeated an operand, a learner's closure sums over the copies before it sends. The player
    tells first what goes to each copy, and then their sum: where the rule, summed, gives what was sent, the message is
    that. Where it does not, the message stays as it is, and the player says that it is wrong."""
    values = [np.asarray(node["value"]) for node in trace.nodes]
    for event in trace.events:
        if event["kind"] != "message":
            continue
        node, sent = trace.nodes[event["node"]], np.asarray(event["contribution"])
        upstream = np.asarray(event["upstream"])
        rule, _ = rule_of(trace, node, event["operand"])
        if rule.value is None or rule.whole or not sent.size < upstream.size or upstream.shape != tuple(node["shape"]):
            continue
        copies = upstream * rule.value(*(values[child] for child in node["children"]), values[event["node"]])
        if np.allclose(_unbroadcast(copies, Tensor(sent)), sent, equal_nan=True):
            event["contribution"] = copies.tolist()


def _must(holds: bool) -> None:
    if not holds:
        raise ValueError


def _numbers(value: Any, shape: Sequence[int] | None = None) -> Value:
    array = np.asarray(value, float)
    _must(array.size <= 10_000 and (shape is None or array.shape == tuple(shape)))
    numbers: Value = array.tolist()
    return numbers


def _gradient(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """A leaf's gradient, which has the leaf's shape. Raises Unusable where it has another."""
    if value is None:
        return None
    gradient = np.asarray(value, float)
    if gradient.shape != shape:
        raise Unusable(f"Your engine's gradient of {name} has the shape {gradient.shape}, and {name} has {shape}.")
    return gradient


def _captured(said: Mapping[str, Any], number: int, nodes: Sequence[Node], children: Sequence[int]) -> Captured:
    name = str(said["name"])
    _must(bool(_HELD.fullmatch(name)))
    if "node" in said:
        node = int(said["node"])
        _must(0 <= node <= number)
        if node == number:  # the result itself, whose gradient the closure reads: it is sent no message
            return {"name": name, "holds": "setting", "type": "the result", "shape": [], "value": "the result itself"}
        return {"name": name, "holds": "operand", "node": node, "shape": nodes[node]["shape"]}
    if "value" in said:
        array = np.asarray(said["value"], float)
        numbers: Value = array.tolist()
        holds = str(said.get("holds", "array"))
        _must(holds in ("array", "output", *(f"value of operand {operand}" for operand in range(len(children)))))
        return {"name": name, "holds": holds, "shape": list(array.shape), "value": numbers, "written": False}
    kind = str(said["type"])
    _must(kind.isidentifier() and len(kind) <= 80)
    return {"name": name, "holds": "setting", "type": kind, "shape": [], "value": kind}
