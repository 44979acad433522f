"""One expression through `model.py` and the five designs: gradients, objects made, calls, bytes kept, time.

The expression is run once on `model.py`. The graph that it leaves is then a `DesignProgram`: operations in the
order of topological_order(), which each design runs with operations of its own. Nothing is estimated: each number comes
from runs of that design's own code, and `measure` says how it was counted.
"""

from __future__ import annotations

import inspect
import operator
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Literal

import numpy as np

import model
from lab.designs import closures, duals, functions, recursive, scalars
from lab.expression import Expression

MAX_WORK = 20_000  # numbers computed in one forward pass: for each of them the design of scalars makes an object
MAX_PATHS = 10_000  # backward calls of the recursive design
ENOUGH = 0.1  # seconds of measuring one design
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
NONE = r"(?!)"  # the pattern that nothing matches
COMMON = "+ - * / ** @, exp, log, tanh, relu and sum"


class Unsuitable(ValueError):
    """An expression that cannot be compared: why, in one sentence."""


# ---------------------------------------------------------------- the program


@dataclass(frozen=True)
class ProgramLine:
    """One value of a program: a leaf (op "leaf"), a constant ("constant"), or the result of one of OPERATIONS.

    operands  numbers of the lines that it is computed from
    value     of a leaf or constant: a number, or an array of floats
    """

    op: str
    operands: tuple[int, ...] = ()
    value: Any = None
    name: str = ""


@dataclass(frozen=True)
class DesignProgram:
    """Lines, each after its operands; the last one is the result."""

    lines: tuple[ProgramLine, ...]

    @property
    def leaves(self) -> dict[str, Any]:
        return {line.name: line.value for line in self.lines if line.op == "leaf"}

    def run(self, leaves: Sequence[Any], apply: Callable[..., Any]) -> Any:
        """The result, from a value of some design for each leaf. apply(op, *operands) computes with such values."""
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
        """From the result down to each operation, on all ways together: the calls of the recursive design."""
        ways = [0] * len(self.lines)
        ways[-1] = 1
        for number in reversed(range(len(self.lines))):
            for operand in self.lines[number].operands:
                ways[operand] += ways[number]
        return sum(count for count, line in zip(ways, self.lines, strict=True) if line.operands)


def program(expression: Expression, leaves: Mapping[str, Any]) -> DesignProgram:
    """The program that an expression is, with values for its names.

    ExpressionError: the values will not do. Unsuitable: they will, but not for all of the designs.
    """
    tensors = {name: model.Tensor(value) for name, value in leaves.items()}
    result = expression(**tensors)
    if result.shape != ():
        raise Unsuitable(f"The result has shape {result.shape}: reduce it to a single number first, with sum().")
    found = of_graph(result, tensors)
    _check_size(found, model.topological_order(result))
    return found


def of_graph(result: model.Tensor, leaves: Mapping[str, model.Tensor]) -> DesignProgram:
    """The program that computed a result, of any shape, from leaves. Unsuitable: not all designs have it."""
    names = {id(tensor): name for name, tensor in leaves.items()}
    order = model.topological_order(result)
    places = {id(tensor): number for number, tensor in enumerate(order)}
    lines = []
    for tensor in order:
        if tensor._children:
            lines.append(ProgramLine(_common(tensor), tuple(places[id(child)] for child in tensor._children)))
        else:
            value = tensor.numpy() if tensor.ndim else tensor.item()
            name = names.get(id(tensor), "")
            lines.append(ProgramLine("leaf" if name else "constant", value=value, name=name))
    return DesignProgram(tuple(lines))


def _common(tensor: model.Tensor) -> str:
    """The name of a tensor's operation, if all designs have it."""
    op, children = tensor.op, tensor._children
    if op not in OPERATIONS:
        raise Unsuitable(f"The five designs have {COMMON}; this expression also uses `{op}`.")
    if op == "sum" and tensor.shape != ():
        raise Unsuitable("The five designs sum all elements, not those along one axis.")
    if op == "**" and (children[1].requires_grad or children[1].ndim):
        raise Unsuitable("The five designs raise to the power of a fixed number, such as `x**2`.")
    if op == "@" and max(child.ndim for child in children) > 2:
        raise Unsuitable("The five designs multiply vectors and matrices, not arrays of more axes.")
    return op


def _check_size(found: DesignProgram, order: Sequence[model.Tensor]) -> None:
    passes = sum(int(np.size(value)) for value in found.leaves.values())
    if passes > MAX_PASSES:
        raise Unsuitable(
            f"The names hold {passes} numbers, and forward mode takes a pass for each: {MAX_PASSES} at most."
        )
    work = sum(tensor.size * (tensor._children[0].shape[-1] if tensor.op == "@" else 1) for tensor in order)
    work += sum(tensor._children[0].size for tensor in order if tensor.op == "sum")
    if work > MAX_WORK:
        raise Unsuitable(f"This computes {work:,} numbers, an object for each in one design: {MAX_WORK:,} at most.")


# ---------------------------------------------------------------- the designs


@dataclass(frozen=True)
class Design:
    """One way to build an engine.

    node   the class whose objects are the nodes of a graph
    makes  the functions of the module that make such an object: their qualified names, as a pattern
    rules  the functions that pass a gradient through one operation. The `backward` of a Tensor or Value is none of
           them: it starts the pass, or hands a gradient on
    """

    key: str
    title: str
    module: ModuleType
    node: type
    makes: str
    rules: str
    idea: str

    @property
    def file(self) -> str:
        return f"{self.module.__name__.replace('.', '/')}.py"

    @property
    def source(self) -> str:
        """The whole file."""
        return inspect.getsource(self.module)

    def forward(self, run: DesignProgram) -> tuple[list[Any], Any]:
        """Fresh leaves, and the result computed from them."""
        leaves = [self.node(value) for value in run.leaves.values()]
        return leaves, run.run(leaves, apply)

    def whole(self, run: DesignProgram) -> None:
        """All that the gradients take, from the leaves on."""
        leaves, result = self.forward(run)
        self.backward(run, leaves, result)

    def passes(self, run: DesignProgram) -> int:
        """Runs of the program, forward, that all gradients take."""
        return 1

    def backward(self, run: DesignProgram, leaves: list[Any], result: Any) -> list[np.ndarray]:
        """One backward pass, and a copy of the gradients that the leaves then hold."""
        result.backward()
        return [np.array(leaf.grad) for leaf in leaves]


class Scalar(Design):
    """Arrays of Values: NumPy only carries them to and fro, each number is computed by a Value's own operation."""

    def forward(self, run: DesignProgram) -> tuple[list[Any], Any]:
        leaves = [np.frompyfunc(scalars.Value, 1, 1)(value) for value in run.leaves.values()]
        return leaves, run.run(leaves, _apply_to_values)

    def backward(self, run: DesignProgram, leaves: list[Any], result: Any) -> list[np.ndarray]:
        result.backward()
        return [np.array(np.frompyfunc(lambda value: value.grad, 1, 1)(leaf), dtype=float) for leaf in leaves]


class ForwardMode(Design):
    """No backward pass: the gradients are had by running the program, once for each input element."""

    def whole(self, run: DesignProgram) -> None:
        self.backward(run, [], None)

    def passes(self, run: DesignProgram) -> int:
        return sum(int(np.size(value)) for value in run.leaves.values())

    def backward(self, run: DesignProgram, leaves: list[Any], result: Any) -> list[np.ndarray]:
        return duals.gradient(lambda *inputs: run.run(inputs, apply), list(run.leaves.values()))


def apply(op: str, *operands: Any) -> Any:
    """One of OPERATIONS, on values of any design that has arrays."""
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
    r"Tensor\.(__init__|_node|_constant)",
    r"Tensor\.\w+\.<locals>\._backward",
    "Closures with a guard against writes, every operation, and a graph that the pass frees.",
)
FIVE = (
    Design(
        "closures",
        "Closures",
        closures,
        closures.Tensor,
        r"Tensor\.__init__",
        r"Tensor\.\w+\.<locals>\.(_backward|<lambda>)",
        "Each result keeps a function that captured what its derivative needs.",
    ),
    Design(
        "functions",
        "Function objects",
        functions,
        functions.Tensor,
        r"Tensor\.__init__",
        r"(?!Tensor)\w+\.backward",
        "Each operation is a class with forward and backward; the object is the result's creator.",
    ),
    Design(
        "recursive",
        "Recursion",
        recursive,
        recursive.Tensor,
        r"Tensor\.__init__",
        r"\w+Backward\.backward",
        "Whoever receives a gradient passes it on at once: no order.",
    ),
    Scalar(
        "scalars",
        "Scalar Values",
        scalars,
        scalars.Value,
        r"Value\.__init__",
        r"Value\.\w+\.<locals>\._backward",
        "An object for each number, and no arrays.",
    ),
    ForwardMode(
        "duals",
        "Dual numbers",
        duals,
        duals.Dual,
        r"Dual\.__init__",
        NONE,
        "Forward mode: each value carries its derivative along, and nothing is kept.",
    ),
)
DESIGNS: Mapping[str, Design] = {design.key: design for design in (ENGINE, *FIVE)}


# ---------------------------------------------------------------- counting and measuring


def calls_of(module: ModuleType, work: Callable[[], Any]) -> Counter[str]:
    """How often each function of a module was called while `work` ran, by its qualified name.

    Python itself reports each call (sys.setprofile, for this thread alone): nothing in the module is replaced.
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
    """How many of the calls were of functions whose qualified name matches."""
    return sum(count for name, count in calls.items() if re.fullmatch(pattern, name))


@dataclass(frozen=True)
class Retained:
    """What stays alive because a result does.

    numbers  bytes of the values in all arrays and numbers that can be reached from it, each once
    memory   bytes of all Python objects that can be reached, as sys.getsizeof gives them: with the arrays also the
             tensors, closures, tuples, lists...
    """

    numbers: int
    memory: int


def kept_by(result: Any) -> Retained:
    """Follow all references from a result: attributes, slots, elements, what closures have captured, bases of views."""
    seen: dict[int, Any] = {}
    pending, numbers, memory = [result], 0, 0
    while pending:
        thing = pending.pop()
        if id(thing) in seen or thing is None or isinstance(thing, (type, ModuleType, CodeType, np.dtype, str, int)):
            continue  # there without this result, too
        seen[id(thing)] = thing
        memory += sys.getsizeof(thing)
        if isinstance(thing, np.ndarray) and thing.base is not None:
            pending.append(thing.base)  # a view: the numbers are those of the other array
        elif isinstance(thing, (np.ndarray, np.generic)):
            numbers += thing.nbytes
        elif isinstance(thing, float):
            numbers += 8
        else:
            pending += _references(thing)
    return Retained(numbers, memory)


def _references(thing: Any) -> list[Any]:
    if isinstance(thing, FunctionType):  # not its module, which is there anyway
        return [cell.cell_contents for cell in thing.__closure__ or ()]
    if isinstance(thing, MethodType):
        return [thing.__self__]
    if isinstance(thing, (tuple, list, set, frozenset)):
        return [*thing]
    if isinstance(thing, dict):
        return [*thing.values()]
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ()) if name != "__weakref__"]
    return [*getattr(thing, "__dict__", {}).values(), *(getattr(thing, name, None) for name in slots)]


Second = Literal["error", "same", "doubles", "more"]


@dataclass(frozen=True)
class DesignRun:
    """What one design did with a program.

    value, gradients  the result, and the gradient of each leaf by name
    nodes             objects made for values: leaves, constants, results. Of forward mode, over all its passes
    calls             of the rules that pass a gradient through one operation, in one backward pass
    passes            runs of the program, forward, that the gradients take
    kept              alive between the forward and the backward pass, because the result is
    seconds           forward and backward together, the best of several
    second            what a second backward pass does: "error"; "same"; "doubles", the gradients then are twice those
                      of one pass; "more", they are neither
    said              what the error of the second pass says
    failure           it did not get through: why, in one sentence. All else is then empty
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
    said: str = ""
    failure: str = ""


def measure(design: Design, run: DesignProgram, repeats: int = 5) -> DesignRun:
    """Run a program in one design, several times: once to see the gradients and what is kept, once more to go backward
    twice, once with every call counted, and up to `repeats` times against the clock."""
    if design.module is recursive and (paths := run.paths()) > MAX_PATHS:
        return DesignRun(design, failure=f"Not run: {paths:,} backward calls, one for each path through the graph.")
    try:
        with np.errstate(all="ignore"):
            return _measured(design, run, repeats)
    except RecursionError:
        return DesignRun(design, failure="Stopped with a RecursionError: functions nested too deep for Python.")
    except (ArithmeticError, ValueError) as error:  # the floats of Python refuse what NumPy answers with inf or nan
        return DesignRun(design, failure=f"Stopped with {type(error).__name__}: {error}.")


def _measured(design: Design, run: DesignProgram, repeats: int) -> DesignRun:
    leaves, result = design.forward(run)
    kept = kept_by(result)
    first = design.backward(run, leaves, result)
    second, said = _second(design, run, leaves, result, first)
    calls = calls_of(design.module, lambda: design.whole(run))
    names = list(run.leaves)
    return DesignRun(
        design,
        float(_plain(result)),
        dict(zip(names, first, strict=True)),
        matching(calls, design.makes),
        matching(calls, design.rules),
        design.passes(run),
        kept,
        _best(lambda: design.whole(run), repeats),
        second,
        said,
    )


def _best(work: Callable[[], Any], repeats: int) -> float:
    """The seconds of the fastest of several runs; of fewer where they take long."""
    begun, best = time.perf_counter(), float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begun > ENOUGH:
            break
    return best


def _second(
    design: Design, run: DesignProgram, leaves: list[Any], result: Any, first: list[np.ndarray]
) -> tuple[Second, str]:
    """Really go backward a second time, and compare what the leaves then hold with what they held before."""
    try:
        again = design.backward(run, leaves, result)
    except RuntimeError as error:
        return "error", str(error)
    pairs = list(zip(first, again, strict=True))
    if all(np.allclose(b, a, rtol=1e-9, atol=0, equal_nan=True) for a, b in pairs):
        return "same", ""
    if all(np.allclose(b, 2 * a, rtol=1e-9, atol=0, equal_nan=True) for a, b in pairs):
        return "doubles", ""
    return "more", ""


def _plain(result: Any) -> Any:
    """The number in a result of any design."""
    if isinstance(result, model.Tensor):
        return result.item()
    return result.value if isinstance(result, duals.Dual) else result.data


def largest_difference(results: Sequence[DesignRun]) -> float:
    """Between any gradient and that of the first design; of those that got through. Equal infinities do not differ."""
    arrived = [result.gradients for result in results if not result.failure]
    with np.errstate(invalid="ignore"):
        apart = [
            np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b)).max()
            for gradients in arrived[1:]
            for a, b in zip(arrived[0].values(), gradients.values(), strict=True)
        ]
    return float(max(apart, default=0.0))
