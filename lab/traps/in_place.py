"""Run the in-place trap: a forward pass, a write to an array, a backward pass, and a comparison of the gradients.

An experiment chooses an operation, the tensor to write to (an input or the output), the way of writing (the route), and
whether the engine's guard is on. `stages` writes its program as lines; `run` runs these lines with the real engine.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from lab.gradcheck import numerical_gradient
from lab.text import brief, evaluate, run_lines
from lab.trace.recording import Recording, Trace, plain
from lab.traps.write_detection import MutationError, captured_arrays, detect_mutation, owner
from model import Tensor, allow_mutation

MAX_ABS = 5.0  # of the input values and of the number that is written


@dataclass(frozen=True)
class WrittenOperation:
    """An operation of the experiment: its text, and the names of its inputs."""

    text: str
    inputs: tuple[str, ...]

    def apply(self, **tensors: Any) -> Any:
        """Compute it. tensors: a Tensor or array for each input."""
        return evaluate(self.text, tensors)


OPS = {
    "mul": WrittenOperation("a * b", ("a", "b")),
    "square": WrittenOperation("a ** 2", ("a",)),
    "exp": WrittenOperation("a.exp()", ("a",)),
    "relu": WrittenOperation("a.relu()", ("a",)),
    "add": WrittenOperation("a + b", ("a", "b")),
    "scale": WrittenOperation("10 * a", ("a",)),
}
WRITTEN = {"input": "a", "output": "y"}


@dataclass(frozen=True)
class Route:
    """A way to write to the array of a tensor: its line, with {t} for the tensor and {v} for a number.

    prepare  a line that runs as soon as the tensor exists, or ""
    """

    title: str
    write: str
    prepare: str = ""
    takes_number: bool = True


ROUTES = {
    "augmented": Route("augmented assignment", "{t}.data += {v}"),
    "item": Route("item assignment", "{t}.data[...] = {v}"),
    "out": Route("the out= of a NumPy function", "np.exp({t}.data, out={t}.data)", takes_number=False),
    "view": Route("a view", "view += {v}", "view = {t}.data[:2]"),
    "name": Route("another name for the array", "other[0] = {v}", "other = {t}.data"),
}


@dataclass(frozen=True)
class Experiment:
    """The choices of an experiment.

    op, written, route   keys of OPS, WRITTEN and ROUTES
    guard                True for the engine of `detect_mutation()`; False runs inside `allow_mutation()`
    a, b                 the inputs, of equal length; only operations of two inputs use `b`
    number               the number that the route adds or assigns
    """

    op: str = "mul"
    written: str = "input"
    route: str = "augmented"
    guard: bool = False
    a: tuple[float, ...] = (2.0, -1.0, 3.0)
    b: tuple[float, ...] = (4.0, 5.0, -2.0)
    number: float = 1.0

    @property
    def target(self) -> str:
        """The name of the tensor that is written to."""
        return WRITTEN[self.written]

    @property
    def inputs(self) -> dict[str, tuple[float, ...]]:
        return {name: getattr(self, name) for name in OPS[self.op].inputs}

    @property
    def prepare(self) -> list[str]:
        """The line that prepares the write, if there is one."""
        line = ROUTES[self.route].prepare
        return [line.format(t=self.target)] if line else []

    @property
    def forward(self) -> list[str]:
        """The lines of the forward pass."""
        compute = [f"y = {OPS[self.op].text}", 'y.label = "y"']
        lines = [*self.prepare, *compute] if self.written == "input" else [*compute, *self.prepare]
        return [*lines, "L = y.sum()"]

    @property
    def write(self) -> str:
        """The line that writes to the array."""
        return ROUTES[self.route].write.format(t=self.target, v=self.number)


@dataclass(frozen=True)
class Held:
    """An array that the closure of the operation captured.

    name   the variable in the closure
    of     the tensor that has these values: "a", "b", "y", or "" for a constant
    then   the values in the forward pass
    now    the values in the same array now
    """

    name: str
    of: str
    then: np.ndarray
    now: np.ndarray

    @property
    def changed(self) -> bool:
        return not same(self.then, self.now)


@dataclass(frozen=True)
class Box:
    """One array in memory: all names that refer to it, its values, and the tensor's values in the forward pass."""

    names: tuple[str, ...]
    values: np.ndarray
    before: np.ndarray


@dataclass
class Outcome:
    """The state of an experiment after some of its steps.

    op          the engine's name of the operation
    trace       the graph and its events so far; its values are those of the forward pass
    held        the arrays that the closure captured
    boxes       the arrays of the tensor that is written to
    before      name -> values in the forward pass, of the inputs and y
    values      name -> values now
    error       the message of the error that backward() raised, or ""
    gradients   name -> gradient of each input; None if it has none
    right       the gradients without any write                   (after step 4)
    numerical   the gradients by central differences              (after step 4)
    """

    experiment: Experiment
    steps: int
    op: str
    trace: Trace
    held: list[Held]
    boxes: list[Box]
    before: dict[str, np.ndarray]
    values: dict[str, np.ndarray]
    error: str
    gradients: dict[str, np.ndarray | None]
    right: dict[str, np.ndarray] = field(default_factory=dict)
    numerical: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        """After four steps: "error", "wrong" (a wrong gradient without an error) or "right"."""
        return {"error": "error", "": "right"}.get(self.effect, "wrong")

    @property
    def effect(self) -> str:
        """After four steps: "error", or the names of the inputs whose gradient is wrong, such as "b"; "" for none."""
        if self.error:
            return "error"
        return "".join(name for name in self.right if not same(self.gradients[name], self.right[name]))


def run(experiment: Experiment, steps: int = 4) -> Outcome:
    """Run the first `steps` of: 1 forward, 2 write, 3 backward, 4 compare. Step 1 always runs, to lay out the graph."""
    with np.errstate(all="ignore"):
        one = _Pass(experiment)
        one.forward()
        if steps >= 2:
            one.execute([experiment.write])
        if steps >= 3:
            one.backward()
        result = one.result(steps)
        if steps >= 4:
            result.right = gradients_without_write(experiment)
            result.numerical = {name: _numerical(experiment, name) for name in experiment.inputs}
            for node in result.trace.nodes[: len(experiment.inputs)]:
                if not result.error and node["label"] in result.effect:
                    node["due"] = plain(result.right[node["label"]])
    return result


def gradients_without_write(experiment: Experiment) -> dict[str, np.ndarray]:
    """Compute the gradients of the same operation without any write."""
    tensors = {name: Tensor(values) for name, values in experiment.inputs.items()}
    OPS[experiment.op].apply(**tensors).sum().backward()
    return {name: np.array(tensor.grad) for name, tensor in tensors.items()}


def repaired(experiment: Experiment) -> tuple[str, dict[str, np.ndarray]]:
    """Write after the backward pass instead: return the lines, and the gradients from a run with the guard on."""
    lines = [*experiment.forward, "L.backward()", experiment.write]
    one = _Pass(replace(experiment, guard=True))
    one.execute(lines)
    return "\n".join(lines), {name: np.array(one.names[name].grad) for name in experiment.inputs}


def same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Return whether two gradients are exactly equal, nan included; False if one is None, for no gradient."""
    return one is not None and other is not None and np.array_equal(one, other, equal_nan=True)


def stages(experiment: Experiment) -> list[list[str]]:
    """Return the lines that make the inputs, and those of the steps forward, write and backward."""
    create = [f"{name}0 = {list(values)}" for name, values in experiment.inputs.items()]
    block = "detect_mutation() as Tensor" if experiment.guard else "allow_mutation()"
    create += [f"with {block}:  # the guard is {'on' if experiment.guard else 'off'}"]
    create += [f'    {name} = Tensor({name}0, label="{name}")' for name in experiment.inputs]
    passes = [experiment.forward, [experiment.write], ["L.backward()"]]
    return [create, *([f"    {line}" for line in lines] for lines in passes)]


class _Pass:
    """The tensors of one pass; its methods run the lines that `stages` writes."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.error = ""
        with detect_mutation() as watched:
            self.recording = Recording(experiment.inputs, watched if experiment.guard else Tensor)
        self.names: dict[str, Any] = {"np": np, **self.recording.tensors}

    def execute(self, lines: Sequence[str]) -> None:
        guard: AbstractContextManager = nullcontext() if self.experiment.guard else allow_mutation()
        with guard:
            run_lines("\n".join(lines), self.names)

    def forward(self) -> None:
        self.execute(self.experiment.forward)
        self.names["L"].label = "L"
        y = self.names["y"]
        self.op, tensors = y.op, (*y.children, y)
        self.held = [
            (name, "" if (at := owner(array, tensors)) is None else tensors[at].label, np.array(array), array)
            for name, array in captured_arrays(y.closure).items()
        ]
        self.tensors = {name: self.names[name] for name in (*self.experiment.inputs, "y")}
        self.before = {name: tensor.numpy() for name, tensor in self.tensors.items()}

    def backward(self) -> None:
        try:
            self.execute(["L.backward()"])
        except MutationError as error:
            self.error = str(error)

    def result(self, steps: int) -> Outcome:
        trace = self.recording.finish(self.names["L"], self.error)
        self._mark_writes(trace)
        gradients = {name: self.tensors[name].grad for name in self.experiment.inputs}
        return Outcome(
            experiment=self.experiment,
            steps=steps,
            op=self.op,
            trace=trace,
            held=[Held(name, of, then, np.array(array)) for name, of, then, array in self.held],
            boxes=self._boxes(),
            before=self.before,
            values={name: tensor.numpy() for name, tensor in self.tensors.items()},
            error=self.error,
            gradients={name: None if grad is None else np.array(grad) for name, grad in gradients.items()},
        )

    def _mark_writes(self, trace: Trace) -> None:
        """Mark the tensors and the captured arrays that were written to between the passes."""
        changed = {name: t.numpy() for name, t in self.tensors.items() if not same(t.numpy(), self.before[name])}
        kept = {name: array for name, _, then, array in self.held if not same(then, array)}
        for node in trace.nodes:
            if node["label"] in changed:
                node["now"] = plain(changed[node["label"]])
            for entry in node.get("captured", ()) if node["label"] == "y" else ():
                if entry["name"] in kept:
                    entry["now"] = plain(kept[entry["name"]])

    def _boxes(self) -> list[Box]:
        """List the arrays behind the tensor that is written to. Names that share memory share a box."""
        target = self.experiment.target
        with allow_mutation():  # the array itself, no copy
            named = [(f"{target}.data", self.tensors[target].read())]
        named += [(line, self.names[line.split(" = ")[0]]) for line in self.experiment.prepare]
        named += [(f"closure of {self.op}: {name}", array) for name, of, _, array in self.held if of == target]
        groups: list[list[tuple[str, Any]]] = []
        for name, array in named:
            group = next((group for group in groups if np.shares_memory(group[0][1], array)), None)
            if group is None:
                groups.append(group := [])
            group.append((name, array))
        before = self.before[target]
        return [Box(tuple(n for n, _ in g), np.array(max((a for _, a in g), key=np.size)), before) for g in groups]


def _numerical(experiment: Experiment, name: str) -> np.ndarray:
    inputs = {other: np.array(values) for other, values in experiment.inputs.items()}
    point = inputs.pop(name)
    apply = partial(OPS[experiment.op].apply, **inputs)
    return numerical_gradient(lambda x: apply(**{name: x}).sum(), point)


def verdict(result: Outcome) -> str:
    """Explain the outcome after four steps in one or two sentences."""
    op, target = f"`{result.op}`", result.experiment.target
    held = [h for h in result.held if h.of == target]
    names = " and ".join(f"`{h.name}`" for h in held)
    if result.outcome == "error":
        return (
            f"The closure of {op} still holds {brief(held[0].now)}: the guard let the write go into another array. But "
            f"a gradient from these would belong to numbers that `{target}` no longer has, and the engine cannot know "
            "which you mean. With the guard off, the same write makes the gradient wrong."
        )
    if same(result.before[target], result.values[target]):
        return f"The write put the same numbers back into `{target}`, so nothing has changed."
    if result.outcome == "wrong":
        return (
            f"The closure of {op} had captured the array of `{target}` itself, as {names}, and read it only when "
            f"backward() ran. By then {brief(held[0].then)} had become {brief(held[0].now)}."
        )
    if not held:
        return f"The closure of {op} did not keep `{target}`. So a write to `{target}` cannot reach any gradient."
    if not any(h.changed for h in held):
        return (
            f"The new numbers went into another array: the closure of {op} still holds the old one, unchanged, and its "
            "gradient is that of the forward pass."
        )
    return (
        f"The array that the closure of {op} holds as {names} did change, but the gradients that were asked for do not "
        "depend on that change. Do not count on it."
    )
