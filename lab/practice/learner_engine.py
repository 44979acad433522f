"""Shows a learner's own engine in the lab: its passes as traces for the player, its gradients next to numerical ones.

lab/practice/tracer.py records the passes, in the process of the learner's code. That process is not trusted: everything
it sends is checked here, and inconsistent data is refused with one sentence.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.expression.parser import Expression
from lab.practice.checker import Job, Problem, Runner
from lab.text import brief
from lab.trace.derive import rule_of
from lab.trace.loading import add_kinds
from lab.trace.numerical import NumericalCheck, check
from lab.trace.parts import Captured, Code, Event, Node, Step, Value
from lab.trace.recording import Trace, record
from model import Tensor
from practice.task import Course, Inputs

TRACER = (Path(__file__).parent / "tracer.py").read_text("utf-8")
OPERANDS = (Path(__file__).parent / "operands.py").read_text("utf-8")
EXAMPLES: dict[str, dict[str, dict[str, Any]]] = {  # course -> expressions that its engine supports, with leaves
    "scalars": {
        "((a*b) + c) * (a + d)": {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0},
        "a + a": {"a": 3.0},
        "tanh(a*b - c/2)": {"a": 0.5, "b": 1.5, "c": -1.0},
        "relu(a*b) + exp(a)": {"a": 0.5, "b": -2.0},
        "sin(a*b) + log(a)": {"a": 0.5, "b": -2.0},
    },
    "tensors": {
        "sum(relu(x @ w + b))": {"x": [[1, 2], [3, -4]], "w": [[0.5, -1], [1, 2]], "b": [0.1, 0.2]},
        "sum(x * b)": {"x": [[1, 2], [3, 4]], "b": [10, 20]},
        "mean(exp(x) + x)": {"x": [0, 1, -1]},
        "sum(log(softmax(x)))": {"x": [[1, 2, 0]]},
    },
    "functions": {
        "sum(relu(x @ w + b))": {"x": [[1, 2], [3, -4]], "w": [[0.5, -1], [1, 2]], "b": [0.1, 0.2]},
        "sum((sigmoid(x) - y)**2)": {"x": [0.5, -1, 2], "y": [1, 0, 1]},
        "x*x + 3*x": {"x": [1, 2, -1]},
    },
}
ENGINES = {"scalars": "Value", "tensors": "Tensor", "functions": "Tensor"}  # course -> the class that its file defines
MAX_NODES = 500
MAX_FUNCTIONS = 200  # of the learner, whose lines are read
# What reading inconsistent data may raise
INCONSISTENT = (LookupError, TypeError, ValueError, AttributeError, OverflowError, SyntaxError, tokenize.TokenError)
_NAME = re.compile(r"[\w.<>]{1,80}")  # of a function
_CAPTURED = re.compile(r"(?!\d)\w{1,80}(\[\d{1,3}\])?")  # a variable, or a position in one
_OPERATION = re.compile(r"[\w+*/@.,()\[\] -]{1,24}")


class Unusable(Exception):
    """The engine cannot be used here; the message says why and what to do. `line`: where in the learner's file."""

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line


class Loaded:
    """The engine of a learner's file, loaded into a runner, to compute expressions with.

    leaves    name -> number or array
    upstream  the gradient that a backward pass starts with; None if the result is one number

    The constructor and each method raise Unusable, and Stopped if the process ends.
    """

    def __init__(self, course: Course, source: str, runner: Runner) -> None:
        self.course, self._source, self._runner = course, source, runner
        self._name = ENGINES[course.key]
        if problem := runner.load(source, course.file):
            raise Unusable(f"Your file stops with {problem.kind}: {problem.message}", problem.line)

    def follow(self, expression: Expression, leaves: Mapping[str, Any], upstream: Any = None) -> Trace:
        """Run one forward and one backward pass and return its trace."""
        leaves = self._suited(leaves)
        watch = f"LineWatch({self._name}, {self.course.file!r})"
        if self.course.key == "functions":
            watch = f"FunctionsWatch(Tensor, {self.course.file!r}, Function, globals())"
        program = f"{TRACER}\n\n{self._build(expression)}\n\nrecorded = follow({watch}, build, leaves, upstream)\n"
        recorded = self._run(program, {"leaves": leaves, "upstream": upstream}, "recorded")["recorded"]
        try:
            return _trace(recorded, self._source, self.course.file, list(leaves))
        except INCONSISTENT as error:
            functions = self.course.key == "functions"
            graph = "`data`, `grad` and `grad_fn`" if functions else "`data`, `grad`, `_children` and `_op`"
            raise Unusable(
                f"Your engine's passes cannot be drawn: {graph} of its objects contradict each other "
                f"({type(error).__name__})."
            ) from None

    def gradients(
        self, expression: Expression, leaves: Mapping[str, Any], upstream: Any = None
    ) -> tuple[np.ndarray, dict[str, np.ndarray | None]]:
        """Compute the value of the expression and each leaf's gradient, None for a leaf without one."""
        leaves = self._suited(leaves)
        program = (
            f"{self._build(expression)}\n\n"
            f"tensors = {{name: {self._name}(number) for name, number in leaves.items()}}\n"
            "result = build(**tensors)\n"
            "result.backward() if upstream is None else result.backward(upstream)\n"
            "gradients = {name: tensor.grad for name, tensor in tensors.items()}\n"
        )
        values = self._run(program, {"leaves": leaves, "upstream": upstream}, "gradients", "result.data")
        try:
            found = values["gradients"]
            gradients = {name: _gradient(name, found[name], np.shape(value)) for name, value in leaves.items()}
            return np.asarray(values["result.data"], float), gradients
        except (KeyError, TypeError, ValueError):
            raise Unusable("Your engine gave gradients that are not numbers.") from None

    def checked(self, expression: Expression, leaves: Mapping[str, Any], upstream: Any = None) -> list[NumericalCheck]:
        """Compare each leaf's gradient by the learner's backward pass with finite differences of the lab's forward
        pass. Raises Unusable if the two engines compute different values."""
        leaves = self._suited(leaves)
        mine, gradients = self.gradients(expression, leaves, upstream)
        labs = record(expression, leaves, upstream)
        _must_be_equal(mine, np.asarray(labs.nodes[labs.output]["value"], float))
        rows, _ = check(replace(labs, gradients=gradients), expression, like_pytorch=False)
        return rows

    def _suited(self, leaves: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the leaves to what the engine takes: numbers or arrays."""
        if self.course.key != "scalars":
            return {name: np.asarray(value, float) for name, value in leaves.items()}
        if arrays := [name for name, value in leaves.items() if np.ndim(value)]:
            raise Unusable(f"Your engine takes single numbers: make {arrays[0]} a number.")
        return {name: float(value) for name, value in leaves.items()}

    def _run(self, program: str, inputs: Inputs, *shows: str) -> Mapping[str, Any]:
        (answer,) = self._runner.run([Job(program, inputs, shows)])
        if answer.problem:
            raise Unusable(_sentence(answer.problem), answer.problem.line)
        return answer.values

    def _build(self, expression: Expression) -> str:
        """Write the code of `build`, which computes the expression from the leaves in the lines that the lab offers as
        a program."""
        body = "\n".join(expression.lines)
        names, result = expression.names, expression.result_name
        written = f"def {{}}({', '.join(names)}):\n{textwrap.indent(body, '    ')}\n    return {result}"
        if self.course.key == "functions":
            return f"{OPERANDS}\n\n{written.format('of_operands')}"
        return written.format("build")


def _must_be_equal(mine: np.ndarray, labs: np.ndarray) -> None:
    """Raise Unusable unless the learner's engine and the lab's computed the same value."""
    if mine.shape != labs.shape or not np.allclose(mine, labs, rtol=1e-9, equal_nan=True):
        raise Unusable(
            f"Your engine computes {brief(mine)} where the lab’s computes {brief(labs)}: fix that first, as its "
            "gradient is one of another function."
        )


def _sentence(problem: Problem) -> str:
    if problem.kind in ("Lacking", "Unfollowed") and problem.line is None:  # raised by operands.py or tracer.py
        return problem.message
    missing = problem.kind in ("AttributeError", "NameError") or problem.message.startswith("unsupported operand")
    if missing and problem.line is None:
        return f"Your engine has no such operation or attribute: {problem.message}. Use only what it has."
    return f"Your engine stops with {problem.kind}: {problem.message}"


# -- From the process's data to a trace --------------------------------------------------------------------------------


def _trace(recorded: Mapping[str, Any], source: str, file: str, leaves: Sequence[str]) -> Trace:
    """Build a trace from the tracer's data. Raises one of INCONSISTENT if the data contradicts itself."""
    lines = [f"{text}\n" for text in source.splitlines()]
    sources: dict[str, Code] = {}
    firsts = recorded["functions"]

    def place(entry: Mapping[str, Any]) -> Step:
        name, line = str(entry["source"]), int(entry["line"])
        if name not in sources:
            _must(bool(_NAME.fullmatch(name)) and name in firsts and len(sources) < MAX_FUNCTIONS)
            first = int(firsts[name])
            _must(0 < first <= len(lines))
            block = "".join(inspect.getblock(lines[first - 1 :]))
            sources[name] = {"file": file, "first": first, "lines": textwrap.dedent(block).rstrip().split("\n")}
        return {"source": name, "line": line}

    _must(len(leaves) <= len(recorded["nodes"]) <= MAX_NODES)
    nodes: list[Node] = []
    for number, row in enumerate(recorded["nodes"]):
        children = [int(child) for child in row["children"]]
        _must(all(0 <= child < number for child in children))
        value = np.asarray(row["value"], float)
        op = str(row["op"])
        label = leaves[number] if number < len(leaves) else "" if children else brief(value)
        node: Node = {
            "id": number,
            "op": op if children else "",
            "label": label,
            "children": children,
            "shape": list(value.shape),
            "value": value.tolist(),
            "requires_grad": not row.get("constant", False),
        }
        if children:
            _must(bool(_OPERATION.fullmatch(op)))
            node["captured"] = [_captured(entry, number, nodes, children) for entry in row["captured"]]
            node["calls"] = []
        nodes.append(node)
    gradients = {
        name: _gradient(name, recorded["gradients"][name], tuple(node["shape"]))
        for name, node in zip(leaves, nodes, strict=False)
    }
    events: list[Event] = []
    unsent: dict[int, list[int]] = {}  # node -> its operands without a message so far
    for entry in recorded["events"]:
        node_id = int(entry["node"])
        _must(0 <= node_id < len(nodes))
        shape = nodes[node_id]["shape"]
        kind = entry["kind"]
        at = place(entry)
        if kind == "forward":
            nodes[node_id]["source"] = at["source"]
            events.append({"kind": "forward", "node": node_id, **at})
        elif kind == "seed":
            events.append({"kind": "seed", "node": node_id, "grad": _numbers(entry["grad"], shape), **at})
        elif kind == "message":
            child = int(entry["child"])
            operands = unsent.setdefault(node_id, list(nodes[node_id]["children"]))
            operand = operands.index(child) if child in operands else nodes[node_id]["children"].index(child)
            operands[operand] = -1
            events.append(
                {
                    "kind": "message",
                    "node": node_id,
                    "child": child,
                    "operand": operand,
                    "upstream": _numbers(entry["upstream"]),
                    "contribution": _numbers(entry["contribution"]),
                    **at,
                }
            )
        else:
            _must(kind == "accumulate")
            events.append(
                {
                    "kind": "accumulate",
                    "node": node_id,
                    "before": _numbers(entry["before"]),
                    "message": _numbers(entry["message"]),
                    "after": _numbers(entry["after"], shape),
                    "first": bool(entry["first"]),
                    **at,
                }
            )
    _must(all("source" in node for node in nodes if node["op"]))
    output = int(recorded["output"])
    _must(0 <= output < len(nodes))
    trace = Trace(nodes, events, gradients, output, sources)
    add_kinds(trace)
    # An operation with another number of operands, such as a power with a fixed exponent, has another rule.
    counts = {(node["op"], len(node["children"])) for node in nodes if node["op"]}
    trace.ops = {
        name: op
        for name, op in trace.ops.items()
        if {n for known, n in counts if known == name} <= {len(op.derivatives)}
    }
    _undo_sums(trace)
    return trace


def _undo_sums(trace: Trace) -> None:
    """Replace each message that a closure summed over broadcast copies by the message to each copy.

    The player shows the copies first and then their sum. A message that the rule does not confirm stays as it is, and
    the player marks it as wrong."""
    values = [np.asarray(node["value"]) for node in trace.nodes]
    for event in trace.events:
        if event["kind"] != "message":
            continue
        node, sent = trace.nodes[event["node"]], np.asarray(event["contribution"])
        upstream = np.asarray(event["upstream"])
        rule, _ = rule_of(trace, node, event["operand"])
        broadcast = sent.size < upstream.size and upstream.shape == tuple(node["shape"])
        if rule.value is None or rule.scalar_only or not broadcast:
            continue
        copies = upstream * rule.value(*(values[child] for child in node["children"]), values[event["node"]])
        if np.allclose(Tensor(sent).unbroadcast(copies), sent, equal_nan=True):
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
    """Return a leaf's gradient as an array. Raises Unusable unless it has the leaf's shape."""
    if value is None:
        return None
    gradient = np.asarray(value, float)
    if gradient.shape != shape:
        raise Unusable(f"Your engine's gradient of {name} has the shape {gradient.shape}, and {name} has {shape}.")
    return gradient


def _captured(entry: Mapping[str, Any], number: int, nodes: Sequence[Node], children: Sequence[int]) -> Captured:
    name = str(entry["name"])
    _must(bool(_CAPTURED.fullmatch(name)))
    if "node" in entry:
        node = int(entry["node"])
        _must(0 <= node <= number)
        if node == number:  # the result itself, whose gradient the closure reads; it receives no message
            return {"name": name, "holds": "setting", "type": "the result", "shape": [], "value": "the result itself"}
        return {"name": name, "holds": "operand", "node": node, "shape": nodes[node]["shape"]}
    if "value" in entry:
        array = np.asarray(entry["value"], float)
        numbers: Value = array.tolist()
        holds = str(entry.get("holds", "array"))
        _must(holds in ("array", "output", *(f"value of operand {operand}" for operand in range(len(children)))))
        return {"name": name, "holds": holds, "shape": list(array.shape), "value": numbers, "written": False}
    kind = str(entry["type"])
    _must(kind.isidentifier() and len(kind) <= 80)
    return {"name": name, "holds": "setting", "type": kind, "shape": [], "value": kind}
