"""Run the in-place trap: a forward pass, a write to an array, a backward pass, and a comparison of the gradients.

An experiment chooses an operation, the tensor to write to (an input or the output), the way of writing (the route), and
whether the engine's guard is on. `run` runs its steps with the real engine; no answer is stored here.
"""

import inspect
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from lab.gradcheck import numerical_gradient
from lab.text import brief
from lab.trace.recording import Recording, Trace, plain
from lab.traps.fingerprints import MutationError, detect_mutation
from model import Tensor, allow_mutation
from nn import SGD

MAX_ABS = 5.0  # of the input values and of the number that is written


@dataclass(frozen=True)
class WrittenOperation:
    """An operation of the experiment: its text, its function, and the names of its inputs."""

    text: str
    apply: Callable[..., Any]
    inputs: tuple[str, ...]


OPS = {
    "mul": WrittenOperation("a * b", lambda a, b: a * b, ("a", "b")),
    "square": WrittenOperation("a ** 2", lambda a: a**2, ("a",)),
    "exp": WrittenOperation("a.exp()", lambda a: a.exp(), ("a",)),
    "relu": WrittenOperation("a.relu()", lambda a: a.relu(), ("a",)),
    "add": WrittenOperation("a + b", lambda a, b: a + b, ("a", "b")),
    "scale": WrittenOperation("10 * a", lambda a: 10 * a, ("a",)),
}
WRITTEN = {"input": "a", "output": "y"}


@dataclass(frozen=True)
class Route:
    """A way to write to the array of a tensor: its lines, with {t} for the tensor and {v} for a number, and functions
    that do the same. `prepare` runs as soon as the tensor exists; its result is passed to `write`."""

    title: str
    write_lines: tuple[str, ...]
    write: Callable[[Tensor, Any, float], None]
    prepare_lines: tuple[str, ...] = ()
    prepare: Callable[[Tensor], Any] = lambda t: None
    takes_number: bool = True
    inputs_only: bool = False

    def line(self, target: str, number: object) -> str:
        """Return the line that writes (the first, if there are several)."""
        return self.write_lines[0].format(t=target, v=number)


def _augmented(t: Tensor, _: None, number: float) -> None:
    t.data += number


def _items(t: Tensor, _: None, number: float) -> None:
    t.data[...] = number


def _out(t: Tensor, _: None, number: float) -> None:
    np.exp(t.data, out=t.data)


def _view(t: Tensor, view: np.ndarray, number: float) -> None:
    view += number


def _other_name(t: Tensor, other: np.ndarray, number: float) -> None:
    other[0] = number


def _optimizer(t: Tensor) -> SGD:
    t.sum().backward()  # a gradient of ones, as if left over from the previous batch
    return SGD([t], lr=1.0)


def _step(t: Tensor, optimizer: SGD, number: float) -> None:
    optimizer.step()
    optimizer.zero_grad()


ROUTES = {
    "augmented": Route("augmented assignment", ("{t}.data += {v}",), _augmented),
    "item": Route("item assignment", ("{t}.data[...] = {v}",), _items),
    "out": Route("the out= of a NumPy function", ("np.exp({t}.data, out={t}.data)",), _out, takes_number=False),
    "view": Route("a view", ("view += {v}",), _view, ("view = {t}.data[:2]",), lambda t: t.data[:2]),
    "name": Route(
        "another name for the array", ("other[0] = {v}",), _other_name, ("other = {t}.data",), lambda t: t.data
    ),
    "optimizer": Route(
        "an optimizer step",
        ("optimizer.step()", "optimizer.zero_grad()"),
        _step,
        prepare_lines=("{t}.sum().backward()  # a gradient left by the batch before", "optimizer = SGD([{t}], lr=1.0)"),
        prepare=_optimizer,
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

    @property
    def write(self) -> str:
        return ROUTES[self.route].line(self.target, self.number)


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
            one.write()
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
    """Compute the gradients of the repaired program (see `repair`) with the guard on."""
    one = _Pass(replace(experiment, guard=True))
    if ROUTES[experiment.route].inputs_only:
        one.write()
        one.forward()
        one.backward()
    else:
        one.forward()
        one.backward()
        one.write()
    return {name: np.array(one.tensors[name].grad) for name in experiment.inputs}


def same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Return whether two gradients are exactly equal, nan included; False if one is None, for no gradient."""
    return one is not None and other is not None and np.array_equal(one, other, equal_nan=True)


def outcomes(route: str = "augmented", **values: Any) -> dict[tuple[str, str, bool], str]:
    """Run all experiments of a route, and map (op, written, guard) to the outcome."""
    written = ["input"] if ROUTES[route].inputs_only else list(WRITTEN)
    cells = [(op, what, guard) for op in OPS for what in written for guard in (False, True)]
    return {cell: run(Experiment(*cell[:2], route, cell[2], **values)).outcome for cell in cells}


# Central differences in a few lines, so that the script needs no part of the lab. h is near the cube root of float64's
# precision, where truncation error and rounding error balance.
_SLOPES = """\
def slopes(f, at, h=6e-6):
    ends = [[f([*at[:i], at[i] + step, *at[i + 1 :]]) for step in (-h, h)] for i in range(len(at))]
    return [(high - low) / (2 * h) for low, high in ends]

""".splitlines()


def script(experiment: Experiment, steps: int = 4) -> str:
    """Write the steps so far as a Python script that runs in the lab's folder."""
    create, *passes = stages(experiment)
    imports = ["# Save this next to model.py, in the folder of the lab."]
    imports += ["import numpy as np"] if experiment.route == "out" else []
    guard = "from lab.traps import detect_mutation", "from model import Tensor, allow_mutation"
    imports += [guard[0] if experiment.guard else guard[1]]
    imports += ["from nn import SGD"] if experiment.route == "optimizer" else []
    body: list[str] = []
    for number, lines in enumerate(passes[:steps], start=1):
        body += [f"    # {number} {('forward', 'mutate', 'backward')[number - 1]}", *lines]
    compare = [""] * (steps >= 4) + ["# 4 compare"] * (steps >= 4)
    compare += _SLOPES if steps >= 4 else []
    for name in experiment.inputs if steps >= 4 else ():
        computed = re.sub(r"\b([ab])\b", r"Tensor(\1)", OPS[experiment.op].text)
        fixed = ", ".join(f"{other}={other}0" for other in experiment.inputs if other != name)
        arguments = f"{name}, {fixed}" if fixed else name
        compare.append(f"print({name}.grad, slopes(lambda {arguments}: ({computed}).sum().item(), {name}0))")
    return "\n".join([*imports, "", *create, *body, *compare]).rstrip() + "\n"


def stages(experiment: Experiment) -> list[list[str]]:
    """Return the lines that make the inputs, and those of the steps forward, write and backward, for `script`."""
    create = [f"{name}0 = {list(values)}" for name, values in experiment.inputs.items()]
    block = "detect_mutation() as Tensor" if experiment.guard else "allow_mutation()"
    create += [f"with {block}:  # the guard is {'on' if experiment.guard else 'off'}"]
    create += [f'    {name} = Tensor({name}0, label="{name}")' for name in experiment.inputs]
    early, forward, write = _lines(experiment)
    passes = [[*early, *forward], write, ["L.backward()"]]
    return [create, *([f"    {line}" for line in lines] for lines in passes)]


def repair(experiment: Experiment) -> str:
    """Write the pass with its lines in an order in which the write does no harm. `repaired` runs it."""
    early, forward, write = _lines(experiment)
    forward.remove('y.label = "y"')
    if ROUTES[experiment.route].inputs_only:
        return "\n".join([*early, *write, *forward, "L.backward()"]) + "\n"
    return "\n".join([*early, *forward, "L.backward()", *write]) + "\n"


def _lines(experiment: Experiment) -> tuple[list[str], list[str], list[str]]:
    """Return the lines before the forward pass, those of the forward pass, and those of the write."""
    route = ROUTES[experiment.route]
    prepare, write = (
        [line.format(t=experiment.target, v=experiment.number) for line in lines]
        for lines in (route.prepare_lines, route.write_lines)
    )
    forward = [f"y = {OPS[experiment.op].text}", 'y.label = "y"']
    if experiment.written == "input":
        return prepare, [*forward, "L = y.sum()"], write
    return [], [*forward, *prepare, "L = y.sum()"], write


class _Pass:
    """The tensors of one pass; its methods run the steps that `script` writes as lines."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.route = ROUTES[experiment.route]
        self.error = ""
        with detect_mutation() as watched:
            self.recording = Recording(experiment.inputs, watched if experiment.guard else Tensor)
        self.tensors = dict(self.recording.tensors)
        if experiment.written == "input":
            self._prepare()
            self.recording.forget()  # the backward pass of the previous batch

    def _mode(self) -> AbstractContextManager:
        return nullcontext() if self.experiment.guard else allow_mutation()

    def _prepare(self) -> None:
        with self._mode():
            self.other = self.route.prepare(self.tensors[self.experiment.target])

    def forward(self) -> None:
        with self._mode():
            y = OPS[self.experiment.op].apply(**self.tensors)
            y.label = "y"
            self.tensors["y"] = y
        self.held = _captured_arrays(y)
        if self.experiment.written == "output":
            self._prepare()
        with self._mode():
            self.loss = y.sum()
            self.loss.label = "L"
        self.op = y.op
        self.before = {name: tensor.numpy() for name, tensor in self.tensors.items()}

    def write(self) -> None:
        with self._mode():
            self.route.write(self.tensors[self.experiment.target], self.other, self.experiment.number)

    def backward(self) -> None:
        try:
            with self._mode():
                self.loss.backward()
        except MutationError as error:
            self.error = str(error)

    def result(self, steps: int) -> Outcome:
        trace = self.recording.finish(self.loss, self.error)
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
            loss=self.loss.item(),
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
        if isinstance(self.other, np.ndarray):
            named.append((self.route.prepare_lines[0].format(t=target), self.other))
        named += [(f"closure of {self.op}: {name}", array) for name, of, _, array in self.held if of == target]
        groups: list[list[tuple[str, np.ndarray]]] = []
        for name, array in named:
            group = next((g for g in groups if np.shares_memory(g[0][1], array)), None)
            if group is None:
                groups.append([(name, array)])
            else:
                group.append((name, array))
        before = self.before[target]
        return [Box(tuple(name for name, _ in g), np.array(max(g, key=_size)[1]), before) for g in groups]


def _size(named: tuple[str, np.ndarray]) -> int:
    return named[1].size


def _captured_arrays(y: Tensor) -> list[tuple[str, str, np.ndarray, Any]]:
    """List the arrays in the closure of `y`: (variable, tensor with these values, a copy of them, the array itself)."""
    found = []
    closure = inspect.unwrap(y.closure)  # the recording wraps it
    for name, cell in zip(closure.__code__.co_freevars, closure.__closure__, strict=True):
        array = cell.cell_contents
        if isinstance(array, np.ndarray | np.generic):
            found.append((name, _owner_label(array, y), np.array(array), array))
    return found


def _owner_label(array: Any, y: Tensor) -> str:
    """Return the label of the tensor with these values, or "". The same array is preferred to an equal copy, which an
    operation captures if the tensor's array had been handed out."""
    tensors = (*y.children, y)
    very = (tensor.label for tensor in tensors if tensor.read() is array)
    return next(very, next((tensor.label for tensor in tensors if same(tensor.read(), array)), ""))


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
