"""Shows a learner's own engine in the lab: its passes as traces for the player, its gradients next to numerical ones.

lab/practice/tracer.py records the passes, in the process of the learner's code. That process is not trusted: everything
it sends is checked here, and inconsistent data is refused with one sentence.
"""

from __future__ import annotations

import inspect
import textwrap
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import practice
from lab.expression.parser import Expression
from lab.practice.runner import Job, Problem, Runner
from lab.text import brief, read_rows
from lab.trace.derivation import rule_of
from lab.trace.loading import add_kinds, read_trace
from lab.trace.numerical import NumericalCheck, check
from lab.trace.recording import Trace, record
from lab.trace.schema import Code
from model import Tensor
from practice.task import Course, Inputs

TRACER = (Path(__file__).parent / "tracer.py").read_text("utf-8")
OPERATORS = (Path(__file__).parent / "operators.py").read_text("utf-8")
# course -> expressions that its engine supports, with leaves
EXAMPLES: dict[str, dict[str, dict[str, Any]]] = read_rows(Path(practice.__file__).with_name("engine_examples.toml"))
ENGINES = {"scalars": "Value", "tensors": "Tensor", "functions": "Tensor"}  # course -> the class that its file defines
MAX_NODES = 500
MAX_FUNCTIONS = 200  # of the learner, whose lines are read
# What reading inconsistent data may raise
INCONSISTENT = (LookupError, TypeError, ValueError, AttributeError, OverflowError, SyntaxError, tokenize.TokenError)


class EngineError(Exception):
    """The engine cannot be used here; the message says why and what to do. `line`: where in the learner's file."""

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line


class Loaded:
    """The engine of a learner's file, loaded into a runner, to compute expressions with.

    leaves    name -> number or array
    upstream  the gradient that a backward pass starts with; None if the result is one number

    The constructor and each method raise EngineError, and StoppedError if the process ends.
    """

    def __init__(self, course: Course, source: str, runner: Runner) -> None:
        self.course, self._source, self._runner = course, source, runner
        self._name = ENGINES[course.key]
        if problem := runner.load(source, course.file):
            raise EngineError(f"Your file stops with {problem.kind}: {problem.message}", problem.line)

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
            raise EngineError(
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
            raise EngineError("Your engine gave gradients that are not numbers.") from None

    def checked(self, expression: Expression, leaves: Mapping[str, Any], upstream: Any = None) -> list[NumericalCheck]:
        """Compare each leaf's gradient by the learner's backward pass with finite differences of the lab's forward
        pass. Raises EngineError if the two engines compute different values."""
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
            raise EngineError(f"Your engine takes single numbers: make {arrays[0]} a number.")
        return {name: float(value) for name, value in leaves.items()}

    def _run(self, program: str, inputs: Inputs, *shows: str) -> Mapping[str, Any]:
        (answer,) = self._runner.run([Job(program, inputs, shows)])
        if answer.problem:
            raise EngineError(_sentence(answer.problem), answer.problem.line)
        return answer.values

    def _build(self, expression: Expression) -> str:
        """Write the code of `build`, which computes the expression from the leaves in the lines that the lab offers as
        a program."""
        body = "\n".join(expression.lines)
        names, result = expression.names, expression.result_name
        written = f"def {{}}({', '.join(names)}):\n{textwrap.indent(body, '    ')}\n    return {result}"
        if self.course.key == "functions":
            return f"{OPERATORS}\n\n{written.format('of_operands')}"
        return written.format("build")


def _must_be_equal(mine: np.ndarray, labs: np.ndarray) -> None:
    """Raise EngineError unless the learner's engine and the lab's computed the same value."""
    if mine.shape != labs.shape or not np.allclose(mine, labs, rtol=1e-9, equal_nan=True):
        raise EngineError(
            f"Your engine computes {brief(mine)} where the lab’s computes {brief(labs)}: fix that first, as its "
            "gradient is one of another function."
        )


def _sentence(problem: Problem) -> str:
    if (
        problem.kind in ("UnsupportedError", "RecordingError") and problem.line is None
    ):  # raised by operators.py or tracer.py
        return problem.message
    missing = problem.kind in ("AttributeError", "NameError") or problem.message.startswith("unsupported operand")
    if missing and problem.line is None:
        return f"Your engine has no such operation or attribute: {problem.message}. Use only what it has."
    return f"Your engine stops with {problem.kind}: {problem.message}"


# -- From the process's data to a trace --------------------------------------------------------------------------------


def _trace(recorded: Mapping[str, Any], source: str, file: str, leaves: Sequence[str]) -> Trace:
    """Build a trace from the tracer's data, which is read as any file is. Raises one of INCONSISTENT if the data
    contradicts itself."""
    rows, events = recorded["nodes"], recorded["events"]
    if not len(leaves) <= len(rows) <= MAX_NODES:
        raise ValueError("This pass has too many nodes, or too few.")
    sources = _sources(source, file, {entry["source"] for entry in events}, recorded["functions"])
    nodes = []
    for number, row in enumerate(rows):
        value = np.asarray(row["value"], float)
        node = {"id": number, "op": row["op"], "label": "", "children": row["children"], "source": row["source"]}
        node |= {"shape": list(value.shape), "value": value.tolist(), "requires_grad": not row.get("constant", False)}
        if node["op"]:
            node |= {"calls": [], "captured": [_captured(entry, number, rows) for entry in row["captured"]]}
        else:
            node["label"] = leaves[number] if number < len(leaves) else brief(value)
        nodes.append(node)
    unsent = {number: [*row["children"]] for number, row in enumerate(rows)}  # operands without a message so far
    for entry in (entry for entry in events if entry["kind"] == "message"):
        operands, child = unsent[entry["node"]], entry["child"]
        entry["operand"] = operands.index(child) if child in operands else rows[entry["node"]]["children"].index(child)
        operands[entry["operand"]] = -1
        entry["upstream"] = np.broadcast_to(entry["upstream"], np.shape(rows[entry["node"]]["value"]))
    for name, row in zip(leaves, rows, strict=False):
        _gradient(name, recorded["gradients"][name], np.shape(row["value"]))
    parts = {"nodes": nodes, "events": [{name: _plain(one) for name, one in entry.items()} for entry in events]}
    gradients = {name: _plain(recorded["gradients"][name]) for name in leaves}
    trace = read_trace(parts | {"sources": sources, "output": recorded["output"], "error": "", "gradients": gradients})
    add_kinds(trace)
    # An operation with another number of operands, such as a power with a fixed exponent, has another rule.
    counts = {(node["op"], len(node["children"])) for node in trace.nodes if node["op"]}
    trace.ops = {
        name: op
        for name, op in trace.ops.items()
        if {n for known, n in counts if known == name} <= {len(op.derivatives)}
    }
    _undo_sums(trace)
    return trace


def _sources(source: str, file: str, names: set[str], firsts: Mapping[str, int]) -> dict[str, Code]:
    """Return the lines of these functions of the learner's file, by the number of the first line of each."""
    if len(names) > MAX_FUNCTIONS:
        raise ValueError("No engine has so many functions.")
    lines = [f"{text}\n" for text in source.splitlines()]
    found: dict[str, Code] = {}
    for name in names:
        block = "".join(inspect.getblock(lines[firsts[name] - 1 :]))
        found[name] = {"file": file, "first": firsts[name], "lines": textwrap.dedent(block).rstrip().split("\n")}
    return found


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


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


def _gradient(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return a leaf's gradient as an array. Raises EngineError unless it has the leaf's shape."""
    if value is None:
        return None
    gradient = np.asarray(value, float)
    if gradient.shape != shape:
        raise EngineError(f"Your engine's gradient of {name} has the shape {gradient.shape}, and {name} has {shape}.")
    return gradient


def _captured(entry: Mapping[str, Any], number: int, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a captured variable of a closure as a trace describes it."""
    setting = {"name": entry["name"], "holds": "setting", "shape": []}
    if "node" in entry and entry["node"] == number:  # the result, whose gradient it reads; it receives no message
        return setting | {"type": "the result", "value": "the result itself"}
    if "node" in entry:
        shape = list(np.shape(rows[entry["node"]]["value"]))
        return setting | {"holds": "operand", "node": entry["node"], "shape": shape}
    if "value" in entry:
        array = np.asarray(entry["value"], float)
        held = {"holds": entry.get("holds", "array"), "shape": list(array.shape), "written": False}
        return setting | held | {"value": array.tolist()}
    return setting | {"type": entry["type"], "value": entry["type"]}
