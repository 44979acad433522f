"""Run the in-place trap: a forward pass, a write to an array, a backward pass, and a comparison of the gradients.

An experiment chooses an operation, the tensor to write to (an input or the output), the way of writing (the route), and
whether the engine's guard is on. Its program is written as lines; `run` runs these lines with the real engine.
"""

import re
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
from nn import SGD

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
    """A way to write to the array of a tensor: its lines, with {t} for the tensor and {v} for a number.

    prepare  lines that run as soon as the tensor exists
    """

    title: str
    write: tuple[str, ...]
    prepare: tuple[str, ...] = ()
    takes_number: bool = True
    inputs_only: bool = False

    def line(self, target: str, number: object) -> str:
        """Return the line that writes (the first, if there are several)."""
        return self.write[0].format(t=target, v=number)


ROUTES = {
    "augmented": Route("augmented assignment", ("{t}.data += {v}",)),
    "item": Route("item assignment", ("{t}.data[...] = {v}",)),
    "out": Route("the out= of a NumPy function", ("np.exp({t}.data, out={t}.data)",), takes_number=False),
    "view": Route("a view", ("view += {v}",), ("view = {t}.data[:2]",)),
    "name": Route("another name for the array", ("other[0] = {v}",), ("other = {t}.data",)),
    "optimizer": Route(
        "an optimizer step",
        ("optimizer.step()", "optimizer.zero_grad()"),
        ("{t}.sum().backward()  # a gradient left by the batch before", "optimizer = SGD([{t}], lr=1.0)"),
        takes_number=False,
        inputs_only=True,
    ),
}


@dataclass(frozen=True)
class Experiment:
    """The choices of an experiment. Raises ValueError, with a sentence, for an impossible combination.

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

    def __post_init__(self) -> None:
        for name, value, known in (
            ("operation", self.op, OPS),
            ("target", self.written, WRITTEN),
            ("route", self.route, ROUTES),
        ):
            if value not in known:
                raise ValueError(f"There is no {name} '{value}'; choose one of {', '.join(known)}.")
        if ROUTES[self.route].inputs_only and self.written != "input":
            raise ValueError("An optimizer steps inputs (parameters), not the output of an operation.")
        if not 2 <= len(self.a) == len(self.b):
            raise ValueError("The inputs a and b need the same number of elements, at least two.")
        if not all(abs(v) <= MAX_ABS for v in (*self.a, *self.b, self.number)):
            raise ValueError(f"The numbers must lie between -{MAX_ABS:g} and {MAX_ABS:g}.")

    @property
    def target(self) -> str:
        """The name of the tensor that is written to."""
        return WRITTEN[self.written]

    @property
    def inputs(self) -> dict[str, tuple[float, ...]]:
        return {name: getattr(self, name) for name in OPS[self.op].inputs}


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
    loss: float
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
            one.execute(one.write)
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


def repaired(experiment: Experiment) -> dict[str, np.ndarray]:
    """Run the repaired program (see `repair`) with the guard on, and return the gradients."""
    one = _Pass(replace(experiment, guard=True))
    one.execute(repair(experiment).splitlines())
    return {name: np.array(one.names[name].grad) for name in experiment.inputs}


def same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Return whether two gradients are exactly equal, nan included; False if one is None, for no gradient."""
    return one is not None and other is not None and np.array_equal(one, other, equal_nan=True)


def outcomes(route: str = "augmented", **values: Any) -> dict[tuple[str, str, bool], str]:
    """Run all experiments of a route, and map (op, written, guard) to the outcome."""
    written = ["input"] if ROUTES[route].inputs_only else list(WRITTEN)
    cells = [(op, what, guard) for op in OPS for what in written for guard in (False, True)]
    return {cell: run(Experiment(*cell[:2], route, cell[2], **values)).outcome for cell in cells}


# ---------------------------------------------------------------- the program, written and run


def script(experiment: Experiment, steps: int = 4) -> str:
    """Write the steps so far as a Python script that runs in the lab's folder."""
    create, *passes = stages(experiment)
    imports = ["# Save this next to model.py, in the folder of the lab."]
    imports += ["import numpy as np"] if experiment.route == "out" else []
    imports += ["from lab.gradcheck import numerical_gradient"] if steps >= 4 else []
    guard = "from lab.traps import detect_mutation", "from model import Tensor, allow_mutation"
    imports += [guard[0] if experiment.guard else guard[1]]
    imports += ["from nn import SGD"] if experiment.route == "optimizer" else []
    body: list[str] = []
    for number, lines in enumerate(passes[:steps], start=1):
        body += [f"    # {number} {('forward', 'mutate', 'backward')[number - 1]}", *lines]
    if steps >= 4:
        body += ["", "# 4 compare"]
        for name in experiment.inputs:
            computed = re.sub(rf"\b(?!{name}\b)([ab])\b", r"Tensor(\g<1>0)", OPS[experiment.op].text)
            body.append(f"print({name}.grad, numerical_gradient(lambda {name}: ({computed}).sum(), Tensor({name}0)))")
    return "\n".join([*imports, "", *create, *body]).rstrip() + "\n"


def stages(experiment: Experiment) -> list[list[str]]:
    """Return the lines that make the inputs, and those of the steps forward, write and backward, for `script`."""
    create = [f"{name}0 = {list(values)}" for name, values in experiment.inputs.items()]
    block = "detect_mutation() as Tensor" if experiment.guard else "allow_mutation()"
    create += [f"with {block}:  # the guard is {'on' if experiment.guard else 'off'}"]
    create += [f'    {name} = Tensor({name}0, label="{name}")' for name in experiment.inputs]
    early, compute, reduce, write = _lines(experiment)
    passes = [[*early, *compute, *reduce], write, ["L.backward()"]]
    return [create, *([f"    {line}" for line in lines] for lines in passes)]


def repair(experiment: Experiment) -> str:
    """Write the pass with its lines in an order in which the write does no harm. `repaired` runs it."""
    early, (compute, _), reduce, write = _lines(experiment)
    if ROUTES[experiment.route].inputs_only:
        lines = [*early, *write, compute, *reduce, "L.backward()"]
    else:
        lines = [*early, compute, *reduce, "L.backward()", *write]
    return "\n".join(lines) + "\n"


def _lines(experiment: Experiment) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return the lines before the forward pass, those that compute y, those up to the loss, and those of the write."""
    route = ROUTES[experiment.route]
    prepare, write = (
        [line.format(t=experiment.target, v=experiment.number) for line in lines]
        for lines in (route.prepare, route.write)
    )
    compute = [f"y = {OPS[experiment.op].text}", 'y.label = "y"']
    if experiment.written == "input":
        return prepare, compute, ["L = y.sum()"], write
    return [], compute, [*prepare, "L = y.sum()"], write


class _Pass:
    """The tensors of one pass; its methods run the lines that `script` writes."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.early, self.compute, self.reduce, self.write = _lines(experiment)
        self.error = ""
        with detect_mutation() as watched:
            self.recording = Recording(experiment.inputs, watched if experiment.guard else Tensor)
        self.names: dict[str, Any] = {"np": np, "SGD": SGD, **self.recording.tensors}

    def execute(self, lines: Sequence[str]) -> None:
        guard: AbstractContextManager = nullcontext() if self.experiment.guard else allow_mutation()
        with guard:
            run_lines("\n".join(lines), self.names)

    def forward(self) -> None:
        self.execute(self.early)
        self.recording.forget()  # the backward pass of the previous batch
        self.execute(self.compute)
        y = self.names["y"]
        self.op, tensors = y.op, (*y.children, y)
        self.held = [
            (name, "" if (at := owner(array, tensors)) is None else tensors[at].label, np.array(array), array)
            for name, array in captured_arrays(y.closure).items()
        ]
        self.execute(self.reduce)
        self.names["L"].label = "L"
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
        return Outcome(
            experiment=self.experiment,
            steps=steps,
            op=self.op,
            trace=trace,
            held=[Held(name, of, then, np.array(array)) for name, of, then, array in self.held],
            boxes=self._boxes(),
            before=self.before,
            values={name: tensor.numpy() for name, tensor in self.tensors.items()},
            loss=self.names["L"].item(),
            error=self.error,
            gradients={
                name: None if (grad := self.tensors[name].grad) is None or steps < 3 else np.array(grad)
                for name in self.experiment.inputs
            },
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
        prepared = [line.format(t=target) for line in ROUTES[self.experiment.route].prepare]
        arrays = [(line, self.names.get(line.split(" = ")[0])) for line in prepared]
        named += [(line, array) for line, array in arrays if isinstance(array, np.ndarray)]
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
        reason = (
            f"The closure of {op} still holds {brief(held[0].now)}: the guard let the write go into another array. But "
            f"a gradient from these would belong to numbers that `{target}` no longer has, and the engine cannot know "
            "which you mean."
        )
        unguarded = run(replace(result.experiment, guard=False))
        if unguarded.outcome == "wrong":
            return f"{reason} With the guard off, the same write makes the gradient wrong."
        return f"{reason} It is on the safe side here: without it the gradient comes out right. {verdict(unguarded)}"
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
