"""What a reading keeps: the events, the names, and where in the text it stands."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lab.failures.analysis.facts import (
    Value,
    graph_of,
    reach,
    storage_owner,
)
from lab.failures.analysis.kinds import Act, Kind


@dataclass(eq=False, slots=True)
class Event:
    """Something that happens: backward, step, zero, write, read grad, optimizer, log, where, loss, matmul, ..."""

    kind: Act
    node: ast.AST
    value: Value
    other: Value | None
    statement: ast.stmt
    path: tuple[tuple[Sequence[ast.stmt], ast.stmt], ...]  # the blocks in which it stands, and the statement of each
    turns: tuple[tuple[int, int], ...]
    arms: tuple[tuple[int, int], ...]  # which arm of which `if`
    loops: tuple[ast.stmt, ...]
    tests: tuple[ast.If, ...]  # the `if`s in which it stands, inside its loop
    functions: tuple[ast.AST, ...]  # the functions in which it stands, the innermost last
    second_call: bool  # in a second, supposed call of a function that the text never calls
    recorded: bool  # False under no_grad
    required_grad: bool  # its value was a leaf that asks for a gradient at that time
    saved: bool  # a backward pass needed the numbers of its value at that time
    detail: str = ""

    @property
    def block(self) -> Sequence[ast.stmt]:
        """The statements among which it stands."""
        return self.path[-1][0]

    @property
    def function(self) -> ast.AST | None:
        return self.functions[-1] if self.functions else None


def exclusive(one: Event, two: Event) -> bool:
    """Do the two stand in different arms of one `if`?"""
    arms = dict(one.arms)
    return any(arms.get(test, arm) != arm for test, arm in two.arms)


class Scope(dict[str, Value]):
    def __init__(self, parent: "Scope | None" = None, start: "dict[str, Value] | None" = None) -> None:
        super().__init__(start or {})
        self.parent = parent

    def find(self, name: str) -> Value | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope:
                return scope[name]
            scope = scope.parent
        return None


@dataclass
class Body:
    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
    scope: Scope
    self: Value | None = None


@dataclass
class Frame:
    """One call of a function that is followed, with what it has returned and yielded so far."""

    definition: ast.AST
    results: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)


@dataclass
class Program:
    """Where a reading stands, and what it has written down, for all parts of the interpreter and for the rules."""

    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))
    events: list[Event] = field(default_factory=list)
    modes: list[ast.AST | None] = field(default_factory=lambda: [None])  # who switched the gradient off; None: it is on
    loops: list[tuple[ast.stmt, int]] = field(default_factory=list)
    arms: list[tuple[int, int]] = field(default_factory=list)
    tests: list[tuple[ast.If, int]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)  # the calls that are followed, the innermost last
    path: list[tuple[Sequence[ast.stmt], ast.stmt]] = field(default_factory=list)
    statement: ast.stmt = field(default_factory=ast.Pass)
    steps: int = 0
    left_out: str = ""  # a sentence, where the text was not read to its end
    second_call: bool = False
    objects: list[Value] = field(default_factory=list)  # modules, optimizers, classes
    carried: dict[int, list[dict[str, Value]]] = field(default_factory=dict)  # what a loop's first turn leaves, by name
    layer_pairs: set[tuple[int, int]] = field(default_factory=set)  # a layer, and one that is called with what it gave
    rectified: set[int] = field(default_factory=set)  # layers whose output goes into a relu
    loop_counts: dict[int, int] = field(default_factory=dict)  # turns of each loop over a known range
    unrolled_loops: set[int] = field(default_factory=set)  # loops that are gone through turn by turn to their end
    layers_in: dict[int, int] = field(default_factory=dict)  # how many layers a loop over a list of layers goes through
    asked_for_gradient: set[int] = field(default_factory=set)  # tensors that were asked for a gradient
    repeats: int = 1  # how often a comprehension over a range makes its element
    nested: int = 0  # calls of modules inside calls of modules
    followed: set[int] = field(default_factory=set)  # definitions that were called

    def note(self, kind: Act, node: ast.AST, value: Value, other: Value | None = None, detail: str = "") -> None:
        if kind == Act.BACKWARD:  # what it needed is let go
            for used in reach(value, live=False):
                used.saved = None
        loops = tuple(loop for loop, _ in self.loops)
        tests = tuple(test for test, depth in self.tests if depth == len(self.loops))
        self.events.append(
            Event(
                kind,
                node,
                value,
                other,
                self.statement,
                tuple(self.path),
                self.turns(),
                tuple(self.arms),
                loops,
                tests,
                tuple(call.definition for call in self.frames),
                self.second_call,
                self.modes[-1] is None,
                value.leaf and graph_of(value) is True,
                value.saved is not None or storage_owner(value).saved is not None,
                detail,
            )
        )

    def note_zero(self, tensor: Value, node: ast.AST, partly: bool = False) -> None:
        """The gradient of a tensor is set to zero, or taken away; partly: to something else, or of some elements, as
        where one parameter of a network is to stay as it is."""
        owner = tensor.base if tensor.kind == Kind.PARAMETER and tensor.base else tensor
        partly = partly or (owner is not tensor and tensor.name in {"weight", "bias"})
        self.note(Act.ZERO, node, owner, None, "partly" if partly else "")

    def turns(self) -> tuple[tuple[int, int], ...]:
        return tuple((id(loop), turn) for loop, turn in self.loops)

    def grows_by_unknown(self, box: Value) -> bool:
        """Is it unknown how often something is put into a list here: in how many turns, and whether at all?"""
        around = [loop for loop, turn in self.loops if (id(loop), turn) not in box.turns]
        return any(id(loop) not in self.unrolled_loops for loop in around) or bool(around and self.tests)


class Follower(Protocol):
    """Who follows the text: what any part of the interpreter may ask of the whole."""

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> bool: ...

    def eval(self, node: ast.expr | None, scope: Scope) -> Value: ...

    def item(self, over: Value, node: ast.expr, turn: int) -> Value: ...

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None: ...

    def call(self, function: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value: ...

    def call_unknown(self, function: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value: ...

    def method(self, owner: Value, name: str, above: bool = False) -> Value | None: ...
