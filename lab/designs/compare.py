"""Run one expression in `model.py` and the five designs, and measure gradients, objects, calls, memory and time.

The expression runs once on `model.py`. Its graph becomes a `DesignProgram`: operations in the order of
topological_order(), which each design runs with its own operations. Nothing is estimated: each number comes from runs
of that design's own code, and `measure` says how it was counted.
"""

from __future__ import annotations

import gc
import inspect
import operator
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal

import numpy as np

import model
from lab.designs import closures, duals, functions, recursive, scalars
from lab.expression import Expression

MAX_WORK = 20_000  # numbers computed in one forward pass: the scalar design makes an object for each
MAX_PATHS = 10_000  # backward calls of the recursive design
MAX_SECONDS = 0.1  # of timing one design
MAX_PASSES = 64  # of forward mode: elements of all leaves

OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
    "@": operator.matmul,
    "exp": lambda x: x.exp(),
    "log": lambda x: x.log(),
    "tanh": lambda x: x.tanh(),
    "relu": lambda x: x.relu(),
    "sum": lambda x: x.sum(),
}
COMMON = "+ - * / ** @, exp, log, tanh, relu and sum"


class UnsuitableError(ValueError):
    """An expression that cannot be compared; the message says why."""


# ---------------------------------------------------------------- the program


@dataclass(frozen=True)
class ProgramLine:
    """One value of a program: a leaf (op "leaf"), a constant ("constant"), or the result of one of OPERATIONS.

    operands  the numbers of the lines that it is computed from
    value     for a leaf or constant: a number, or an array of floats
    """

    op: str
    operands: tuple[int, ...] = ()
    value: Any = None
    name: str = ""


@dataclass(frozen=True)
class DesignProgram:
    """A program as a list of lines, each after its operands; the last one is the result."""

    lines: tuple[ProgramLine, ...]

    @property
    def leaves(self) -> dict[str, Any]:
        return {line.name: line.value for line in self.lines if line.op == "leaf"}

    def run(self, leaves: Sequence[Any], apply: Callable[..., Any]) -> Any:
        """Compute the result from one design's values for the leaves; apply(op, *operands) is its arithmetic."""
        values: list[Any] = []
        remaining = iter(leaves)
        for line in self.lines:
            if line.op == "leaf":
                values.append(next(remaining))
            elif line.op == "constant":
                values.append(line.value)
            else:
                values.append(apply(line.op, *(values[i] for i in line.operands)))
        return values[-1]

    def paths(self) -> int:
        """Count the paths from the result to all operations: the backward calls of the recursive design."""
        ways = [0] * len(self.lines)
        ways[-1] = 1
        for number in reversed(range(len(self.lines))):
            for operand in self.lines[number].operands:
                ways[operand] += ways[number]
        return sum(count for count, line in zip(ways, self.lines, strict=True) if line.operands)


def program(expression: Expression, leaves: Mapping[str, Any]) -> DesignProgram:
    """Turn an expression with values for its names into a program.

    Raises ExpressionError if the values are not valid, UnsuitableError if not all designs can run it.
    """
    tensors = {name: model.Tensor(value) for name, value in leaves.items()}
    result = expression(**tensors)
    if result.shape != ():
        raise UnsuitableError(f"The result has shape {result.shape}: reduce it to a single number first, with sum().")
    order = model.topological_order(result)
    names = {id(tensor): name for name, tensor in tensors.items()}
    places = {id(tensor): number for number, tensor in enumerate(order)}
    lines = []
    for tensor in order:
        if tensor.children:
            lines.append(ProgramLine(_common(tensor), tuple(places[id(child)] for child in tensor.children)))
        else:
            value = tensor.numpy() if tensor.ndim else tensor.item()
            name = names.get(id(tensor), "")
            lines.append(ProgramLine("leaf" if name else "constant", value=value, name=name))
    found = DesignProgram(tuple(lines))
    _check_size(found, order)
    return found


def _common(tensor: model.Tensor) -> str:
    """Return the name of a tensor's operation. Raises UnsuitableError if not all designs have it."""
    op, children = tensor.op, tensor.children
    if op not in OPERATIONS:
        raise UnsuitableError(f"The five designs have {COMMON}; this expression also uses `{op}`.")
    if op == "sum" and tensor.shape != ():
        raise UnsuitableError("The five designs sum all elements, not those along one axis.")
    if op == "**" and (children[1].requires_grad or children[1].ndim):
        raise UnsuitableError("The five designs raise to the power of a fixed number, such as `x**2`.")
    if op == "@" and max(child.ndim for child in children) > 2:
        raise UnsuitableError("The five designs multiply vectors and matrices, not arrays of more axes.")
    return op


def _check_size(found: DesignProgram, order: Sequence[model.Tensor]) -> None:
    passes = sum(int(np.size(value)) for value in found.leaves.values())
    if passes > MAX_PASSES:
        raise UnsuitableError(
            f"The names hold {passes} numbers, and forward mode takes a pass for each: {MAX_PASSES} at most."
        )
    work = sum(tensor.size * (tensor.children[0].shape[-1] if tensor.op == "@" else 1) for tensor in order)
    work += sum(tensor.children[0].size for tensor in order if tensor.op == "sum")
    if work > MAX_WORK:
        raise UnsuitableError(
            f"This computes {work:,} numbers, an object for each in one design: {MAX_WORK:,} at most."
        )


# ---------------------------------------------------------------- the designs


@dataclass(frozen=True)
class Design:
    """One way to build an engine.

    node   the class whose objects are the nodes of a graph
    makes  a pattern for the names of its methods that make such an object
    rules  a pattern for the functions that pass a gradient through one operation. The `backward` of a Tensor or Value
           is not one of them: it starts the pass, or hands a gradient on
    """

    key: str
    title: str
    module: ModuleType
    node: type
    rules: str
    idea: str
    makes: str = "__init__"

    @property
    def file(self) -> str:
        return f"{self.module.__name__.replace('.', '/')}.py"

    @property
    def source(self) -> str:
        """The source of the whole file."""
        return inspect.getsource(self.module)

    def forward(self, run: DesignProgram) -> tuple[list[Any], Any]:
        """Make new leaves; return them and the result computed from them."""
        leaves = [self.node(value) for value in run.leaves.values()]
        return leaves, run.run(leaves, apply)

    def run_both(self, run: DesignProgram) -> None:
        """Run forward and backward once, from new leaves."""
        leaves, result = self.forward(run)
        self.backward(run, leaves, result)

    def passes(self, run: DesignProgram) -> int:
        """Return how many forward runs all gradients take together."""
        return 1

    def backward(self, run: DesignProgram, leaves: list[Any], result: Any) -> list[np.ndarray]:
        """Run one backward pass, and copy the gradients of the leaves."""
        result.backward()
        return [np.array(leaf.grad) for leaf in leaves]


class Scalar(Design):
    """The scalar design: NumPy arrays only hold the Values, and each number is computed by a Value's own operation."""

    def forward(self, run: DesignProgram) -> tuple[list[Any], Any]:
        leaves = [np.frompyfunc(scalars.Value, 1, 1)(value) for value in run.leaves.values()]
        return leaves, run.run(leaves, _apply_to_values)

    def backward(self, run: DesignProgram, leaves: list[Any], result: Any) -> list[np.ndarray]:
        result.backward()
        return [np.array(np.frompyfunc(lambda value: value.grad, 1, 1)(leaf), dtype=float) for leaf in leaves]


class ForwardMode(Design):
    """The design without a backward pass: it runs the program forward once for each input element."""

    def run_both(self, run: DesignProgram) -> None:
        self.backward(run, [], None)

    def passes(self, run: DesignProgram) -> int:
        return sum(int(np.size(value)) for value in run.leaves.values())

    def backward(self, run: DesignProgram, leaves: list[Any], result: Any) -> list[np.ndarray]:
        return duals.gradient(lambda *inputs: run.run(inputs, apply), list(run.leaves.values()))


def apply(op: str, *operands: Any) -> Any:
    """Apply one of OPERATIONS to values of any design that has arrays."""
    return OPERATIONS[op](*operands)


def _apply_to_values(op: str, *operands: Any) -> Any:
    if op == "sum":
        return scalars.sum(list(np.ravel(operands[0])))
    if op == "@":
        left, right = (np.asarray(operand, dtype=object) for operand in operands)
        rows = left if left.ndim == 2 else left[None, :]
        columns = right if right.ndim == 2 else right[:, None]
        product = np.array(scalars.matmul(rows.tolist(), columns.tolist()), dtype=object)
        shape = left.shape[:-1] + right.shape[1:]
        return product.reshape(shape) if shape else product[0, 0]
    if op == "**":
        return np.frompyfunc(lambda base: base ** operands[1], 1, 1)(operands[0])
    return np.frompyfunc(OPERATIONS[op], len(operands), 1)(*operands)


ENGINE = Design(
    "model",
    "This lab’s engine",
    model,
    model.Tensor,
    r"Tensor\.\w+\.<locals>\._backward",
    "Closures that no write can reach, every operation, and a graph that the pass frees.",
    r"(__init__|node|constant)",
)
FIVE = (
    Design(
        "closures",
        "Closures",
        closures,
        closures.Tensor,
        r"Tensor\.\w+\.<locals>\.(_backward|<lambda>)",
        "Each result keeps a function that captured what its derivative needs.",
    ),
    Design(
        "functions",
        "Function objects",
        functions,
        functions.Tensor,
        r"(?!Tensor)\w+\.backward",
        "Each operation is a class with forward and backward; the object is the result's creator.",
    ),
    Design(
        "recursive",
        "Recursion",
        recursive,
        recursive.Tensor,
        r"\w+Backward\.backward",
        "Each node that receives a gradient passes it on at once: no order.",
    ),
    Scalar(
        "scalars",
        "Scalar Values",
        scalars,
        scalars.Value,
        r"Value\.\w+\.<locals>\._backward",
        "An object for each number, and no arrays.",
    ),
    ForwardMode(
        "duals",
        "Dual numbers",
        duals,
        duals.Dual,
        r"(?!)",  # none
        "Forward mode: each value carries its derivative along, and nothing is kept.",
    ),
)
DESIGNS: Mapping[str, Design] = {design.key: design for design in (ENGINE, *FIVE)}


# ---------------------------------------------------------------- counting and measuring


def calls_of(module: ModuleType, work: Callable[[], Any]) -> Counter[str]:
    """Run `work`, and count the calls of each function of a module by qualified name.

    Python itself reports each call (sys.setprofile, for this thread only): nothing in the module is replaced.
    """
    found: Counter[str] = Counter()
    file = module.__file__

    def see(frame: Any, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename == file:
            found[frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


def matching(calls: Mapping[str, int], pattern: str) -> int:
    """Count the calls of functions whose qualified name matches a pattern."""
    return sum(count for name, count in calls.items() if re.fullmatch(pattern, name))


@dataclass(frozen=True)
class Retained:
    """The memory that a result keeps alive.

    numbers  bytes of the values in all arrays and numbers that it refers to, directly or not, each counted once
    memory   bytes of all Python objects that it refers to, by sys.getsizeof: arrays, tensors, closures, tuples...
    """

    numbers: int
    memory: int


def kept_by(result: Any) -> Retained:
    """Measure the memory behind a result: what it refers to, by Python's own garbage collector, and bases of views."""
    seen: dict[int, Any] = {}
    pending, numbers, memory = [result], 0, 0
    while pending:
        thing = pending.pop()
        if id(thing) in seen or thing is None or isinstance(thing, (type, ModuleType, CodeType, np.dtype, str, int)):
            continue  # exists without this result, too
        seen[id(thing)] = thing
        memory += sys.getsizeof(thing)
        if isinstance(thing, np.ndarray) and thing.base is not None:
            pending.append(thing.base)  # a view: the numbers are those of the other array
        elif isinstance(thing, (np.ndarray, np.generic)):
            numbers += thing.nbytes
        elif isinstance(thing, float):
            numbers += 8
        elif isinstance(thing, FunctionType):  # not its module, which is there anyway
            pending += thing.__closure__ or ()
        else:
            pending += gc.get_referents(thing)
    return Retained(numbers, memory)


Second = Literal["error", "same", "doubles", "more"]


@dataclass(frozen=True)
class DesignRun:
    """The measurements of one program in one design.

    value, gradients  the result, and the gradient of each leaf by name
    nodes             number of objects made for values: leaves, constants, results; in forward mode, over all passes
    calls             how often rules passed a gradient through one operation, in one backward pass
    passes            forward runs of the program that the gradients take
    kept              memory that the result keeps alive between the forward and the backward pass
    seconds           forward and backward together, the best of several
    second            effect of a second backward pass: "error"; "same"; "doubles": the gradients are then twice those
                      of one pass; "more": neither
    second_error      the message of the error of the second pass
    failure           why the design could not run the program, in one sentence; all other fields are then empty
    """

    design: Design
    value: float = float("nan")
    gradients: Mapping[str, np.ndarray] = field(default_factory=dict)
    nodes: int = 0
    calls: int = 0
    passes: int = 1
    kept: Retained = Retained(0, 0)
    seconds: float = float("nan")
    second: Second = "same"
    second_error: str = ""
    failure: str = ""


def measure(design: Design, run: DesignProgram, repeats: int = 5) -> DesignRun:
    """Measure a program in one design: one run for the gradients and the memory, a second backward pass through it, one
    run with every call counted, and up to `repeats` timed runs."""
    if design.module is recursive and (paths := run.paths()) > MAX_PATHS:
        return DesignRun(design, failure=f"Not run: {paths:,} backward calls, one for each path through the graph.")
    try:
        with np.errstate(all="ignore"):
            return _measured(design, run, repeats)
    except RecursionError:
        return DesignRun(design, failure="Stopped with a RecursionError: functions nested too deep for Python.")
    except (ArithmeticError, ValueError) as error:  # Python floats raise errors where NumPy returns inf or nan
        return DesignRun(design, failure=f"Stopped with {type(error).__name__}: {error}.")


def _measured(design: Design, run: DesignProgram, repeats: int) -> DesignRun:
    leaves, result = design.forward(run)
    kept = kept_by(result)
    first = design.backward(run, leaves, result)
    second, second_error = _second(design, run, leaves, result, first)
    calls = calls_of(design.module, lambda: design.run_both(run))
    names = list(run.leaves)
    return DesignRun(
        design,
        float(_plain(result)),
        dict(zip(names, first, strict=True)),
        matching(calls, rf"{design.node.__name__}\.{design.makes}"),
        matching(calls, design.rules),
        design.passes(run),
        kept,
        _best(lambda: design.run_both(run), repeats),
        second,
        second_error,
    )


def _best(work: Callable[[], Any], repeats: int) -> float:
    """Return the seconds of the fastest of several runs; fewer runs if they take long."""
    begun, best = time.perf_counter(), float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begun > MAX_SECONDS:
            break
    return best


def _second(
    design: Design, run: DesignProgram, leaves: list[Any], result: Any, first: list[np.ndarray]
) -> tuple[Second, str]:
    """Run a second backward pass, and compare the gradients of the leaves with those of the first."""
    try:
        again = design.backward(run, leaves, result)
    except RuntimeError as error:
        return "error", str(error)
    outcomes: tuple[tuple[Second, int], ...] = (("same", 1), ("doubles", 2))
    for outcome, times in outcomes:
        if all(np.allclose(b, times * a, 1e-9, 0, equal_nan=True) for a, b in zip(first, again, strict=True)):
            return outcome, ""
    return "more", ""


def _plain(result: Any) -> Any:
    """Return the number in a result of any design."""
    if isinstance(result, model.Tensor):
        return result.item()
    return result.value if isinstance(result, duals.Dual) else result.data


def largest_difference(results: Sequence[DesignRun]) -> float:
    """Return the largest difference from the first design's gradients, among designs without a failure."""
    first, *others = (
        np.concatenate([*map(np.ravel, result.gradients.values())]) for result in results if not result.failure
    )
    with np.errstate(invalid="ignore"):
        apart = [
            np.where(np.isclose(first, other, rtol=0, atol=0, equal_nan=True), 0.0, np.abs(first - other)).max()
            for other in others
        ]
    return float(max(apart, default=0.0))
