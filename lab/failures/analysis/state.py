"""The interpreter's record of a text: its events, its scopes and the current position."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lab.failures.analysis.facts import Scope, Value, ancestors, graph_of, owner_of, storage_owner
from lab.failures.analysis.kinds import Cut, EventKind
from lab.failures.analysis.work import StepList


@dataclass(eq=False, slots=True)
class Event:
    """One action of the program on a value: a backward pass, a step, a zeroed gradient, a write, a log, a loss, ..."""

    kind: EventKind
    node: ast.AST
    value: Value
    other: Value | None
    statement: ast.stmt
    path: tuple[tuple[Sequence[ast.stmt], ast.stmt], ...]  # the enclosing blocks, each with the statement inside it
    iterations: tuple[tuple[ast.stmt, int], ...]  # (a loop, its iteration from 1), the innermost last
    arms: tuple[tuple[ast.stmt, int], ...]  # (an `if`, `try` or `match`, the number of its arm), the innermost last
    tests: tuple[ast.If, ...]  # the enclosing `if`s inside the innermost loop
    functions: tuple[ast.AST, ...]  # the functions whose calls it happens in, the innermost last
    second_call: bool  # in the second simulated call of a function that the text never calls
    recorded: bool  # False under no_grad
    required_grad: bool  # its value was a leaf with requires_grad at that time
    saved: bool  # a pending backward pass needed the numbers of its value
    detail: str = ""  # a variant of the kind: "retain", "partly", the name of a loss, ...

    @property
    def line(self) -> int:
        return self.statement.lineno

    @property
    def loops(self) -> tuple[ast.stmt, ...]:
        return tuple(loop for loop, _ in self.iterations)

    @property
    def block(self) -> Sequence[ast.stmt]:
        """The block of statements that it is part of."""
        return self.path[-1][0]

    @property
    def in_forward(self) -> bool:
        """Return whether it happens in a call of a `forward`."""
        return any(isinstance(place, ast.FunctionDef) and place.name == "forward" for place in self.functions)

    @property
    def function(self) -> ast.AST | None:
        """The function whose call it happens in; None for the module's own statements."""
        return self.functions[-1] if self.functions else None


def exclusive(one: Event, two: Event) -> bool:
    """Return whether two events are in different arms of the same `if`."""
    arms = dict(one.arms)
    return any(arms.get(test, arm) != arm for test, arm in two.arms)


@dataclass
class Frame:
    """A call that is being followed, with the values it has returned so far."""

    definition: ast.AST
    results: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)  # by a generator


@dataclass
class AnalysisState:
    """The interpreter's position in a text and its record, shared by its parts and read by the rules."""

    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))
    events: StepList[Event] = field(default_factory=StepList)
    modes: list[ast.AST | None] = field(default_factory=lambda: [None])  # nodes that switch gradients off; None: on
    loops: list[tuple[ast.stmt, int]] = field(default_factory=list)
    arms: list[tuple[ast.stmt, int]] = field(default_factory=list)
    tests: list[tuple[ast.If, int]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)  # the calls being followed, the innermost last
    path: list[tuple[Sequence[ast.stmt], ast.stmt]] = field(default_factory=list)
    statement: ast.stmt = field(default_factory=ast.Pass)
    steps: int = 0
    left_out: str = ""  # why the rest of the text was not read, as a sentence; empty if all of it was
    second_call: bool = False  # see Event.second_call
    objects: list[Value] = field(default_factory=list)  # modules, optimizers and instances
    carried: dict[ast.stmt, list[dict[str, Value]]] = field(default_factory=dict)  # what a first iteration leaves
    followed: set[ast.AST] = field(default_factory=set)  # definitions that were called

    def record_event(
        self, kind: EventKind, node: ast.AST, value: Value, other: Value | None = None, detail: str = ""
    ) -> None:
        """Record an event at the current position."""
        if kind == EventKind.BACKWARD:  # it frees what was saved for it
            for used in ancestors(value, live=False):
                used.saved = None
        self.events.append(
            Event(
                kind,
                node,
                value,
                other,
                self.statement,
                tuple(self.path),
                self.iterations(),
                tuple(self.arms),
                tuple(test for test, depth in self.tests if depth == len(self.loops)),
                tuple(call.definition for call in self.frames),
                self.second_call,
                self.modes[-1] is None,
                value.leaf and graph_of(value) is True,
                value.saved is not None or storage_owner(value).saved is not None,
                detail,
            )
        )

    def record_zero(self, tensor: Value, node: ast.AST, partly: bool = False) -> None:
        """Record that a tensor's gradient is zeroed or removed; partly: replaced, or zeroed for some elements only.

        Zeroing one parameter of a network counts as partly."""
        owner = owner_of(tensor)
        partly = partly or (owner is not tensor and tensor.name in {"weight", "bias"})
        self.record_event(EventKind.ZERO, node, owner, None, "partly" if partly else "")

    def record(self, value: Value) -> None:
        """Cut a value from its parents if gradients are switched off."""
        if self.modes[-1] is not None:
            value.graph, value.cut, value.cut_by = False, Cut.NO_GRAD, self.modes[-1]

    def iterations(self) -> tuple[tuple[ast.stmt, int], ...]:
        return tuple((loop, iteration) for loop, iteration in self.loops)


class Follower(Protocol):
    """The whole interpreter, as its parts call it."""

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> bool: ...

    def eval(self, node: ast.expr | None, scope: Scope) -> Value: ...

    def item(self, over: Value, node: ast.expr, iteration: int) -> Value: ...

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None: ...

    def assign_attribute(self, owner: Value, name: str, value: Value, node: ast.expr) -> None: ...

    def call(self, function: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value: ...

    def call_unknown(self, function: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value: ...

    def method(self, owner: Value, name: str) -> Value | None: ...
