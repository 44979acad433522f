"""What is known of one value of a program, and questions about it.

A `Value` is one object as far as it is known without running the program. What is unknown stays None or "", and a rule
that needs it stays silent.
"""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from lab.failures.analysis.kinds import Cut, Kind, Tag, words
from lab.failures.analysis.registry import FORWARD, LAYERS, USUAL_LOSSES, USUAL_NETWORKS
from lab.failures.analysis.syntax import called
from lab.failures.analysis.work import take_step

TENSORS = {Kind.TENSOR, Kind.PARAMETER}
Shape = tuple[int | None, ...] | None  # a size that is unknown is None


@dataclass(eq=False, slots=True)
class Value:
    """One object of a program, as far as the text shows it."""

    kind: Kind = Kind.UNKNOWN
    node: ast.expr | None = None  # the expression that made it
    statement: ast.stmt | None = None  # the statement in which it was made
    op: str = ""  # the operation, or the class of a layer or optimizer, that made it; a library's dotted name
    parents: tuple["Value", ...] = ()  # the values it was computed from
    branches: tuple["Value", ...] = ()  # the values it may be, one for each branch of the text
    graph: bool | None = None  # of a tensor: has a graph or requires a gradient; None: unknown
    leaf: bool = False
    cut: Cut = Cut.NONE  # what keeps the gradient from its parents
    cut_by: ast.AST | None = None  # the node that cuts
    form: str = ""  # probabilities, relu, loss, losses (one per sample)
    shape: Shape = None
    base: "Value | None" = None  # the tensor of a view or gradient, the module of a parameter, the function of a result
    saved: ast.AST | None = None  # the expression whose backward pass needs these numbers
    constant: object = None
    items: list["Value"] | None = None
    attributes: dict[str, "Value"] = field(default_factory=dict)
    moved: tuple["Value", ...] = ()  # what an optimizer was given, with what was inside it when it was made
    name: str = ""  # the first name that it was given
    iterations: tuple[tuple[ast.stmt, int], ...] = ()  # (a loop, its iteration) for each loop it was made in
    body: "Body | None" = None  # of a function, class or instance
    tags: set[Tag] = field(default_factory=set)  # what else is known

    def __format__(self, otherwise: str) -> str:
        """Return the value's name in the program, in backticks; `otherwise` if it has none."""
        return f"`{self.name}`" if self.name else otherwise


class Scope(dict[str, Value]):
    """The values of names, with the enclosing scope as `parent`."""

    def __init__(self, parent: "Scope | None" = None, start: dict[str, Value] | None = None) -> None:
        super().__init__(start or {})
        self.parent = parent

    def find(self, name: str) -> Value | None:
        if name in self:
            return self[name]
        return self.parent.find(name) if self.parent is not None else None


@dataclass
class Body:
    """A definition with the scope it stands in; `self` is the object that a method is bound to."""

    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
    scope: Scope
    self: Value | None = None

    @property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions that a class defines."""
        parts = self.definition.body if isinstance(self.definition, ast.ClassDef) else []
        return [part for part in parts if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]


def traverse(start: Value, following: Callable[[Value], Iterable[Value]]) -> Iterator[Value]:
    """Yield `start` and every value reachable from it through `following`, each once."""
    seen, stack = {start}, [start]
    while stack:
        here = stack.pop()
        take_step()
        yield here
        new = [value for value in following(here) if value not in seen]
        seen.update(new)
        stack += dict.fromkeys(new)


def ancestors(value: Value, live: bool = True, sure: bool = False) -> Iterator[Value]:
    """Yield every value that a gradient of `value` reaches; with live=False also those behind cuts and in branches,
    with sure=True none behind a call that is not followed. The one that made `value` hands it to its arguments."""

    def before(here: Value) -> Iterable[Value]:
        inside = here.items or [] if here.kind == Kind.LIST else []
        stops = (live and here.cut) or (sure and here is not value and is_unknown_call(here))
        return () if stops else (*here.parents, *inside, *(() if live else here.branches))

    return traverse(value, before)


def without(value: Value, ops: Collection[str]) -> Value:
    """Return what a value was before operations of these kinds: x of x.view(-1).mean() without view and mean."""
    while value.op in ops and value.parents:
        value = value.parents[0]
    return value


def is_square(value: Value) -> bool:
    by_itself = value.op == "*" and value.parents[:1] == value.parents[1:]
    return bool(value.parents) and (by_itself or value.op in {"**", "pow", "square"})


def modules(value: Value) -> Iterator[Value]:
    """Yield a module and all modules and parameters inside it."""

    def inside(here: Value) -> Iterator[Value]:
        yield from (v for v in here.attributes.values() if v.kind in {Kind.MODULE, Kind.PARAMETER})
        yield from (v for v in here.items or [] if v.kind in {Kind.MODULE, Kind.PARAMETER})

    return traverse(value, inside)


def owner_of(value: Value) -> Value:
    """Return the module that a parameter belongs to; the value itself if there is none."""
    return value.base if value.kind == Kind.PARAMETER and value.base is not None else value


def has_parameters(module: Value) -> bool:
    return any(part.op in LAYERS or part.kind == Kind.PARAMETER for part in modules(module))


def broadcast(a: Value, b: Value) -> Shape:
    """Return the shape that two values broadcast to; None if unknown."""
    shapes = [() if v.kind == Kind.NUMBER else v.shape for v in (a, b)]
    one, two = shapes
    if one is None or two is None:
        return None
    longest = max(len(one), len(two))
    pairs = zip((1,) * (longest - len(one)) + one, (1,) * (longest - len(two)) + two, strict=True)
    return tuple(n if m == 1 else m if n == 1 else (m if m is not None else n) for m, n in pairs)


def column_against_row(a: Value, b: Value) -> Value | None:
    """Return the (N, 1) operand of a pair of shapes (N, 1) and (N,) with N not 1; None for any other pair."""
    for column, row in ((a, b), (b, a)):
        if column.shape and row.shape and len(column.shape) == 2 and len(row.shape) == 1:
            n, one = column.shape
            if one == 1 and n != 1 and row.shape[0] != 1 and (n == row.shape[0] or None in {n, row.shape[0]}):
                return column
    return None


def has_many_elements(value: Value) -> bool:
    """Return True if a value certainly has more than one element."""
    return Tag.MANY in value.tags or any(size is not None and size > 1 for size in value.shape or ())


MAY_COPY = words("reshape flatten contiguous to cuda cpu float double half type")  # what is a view otherwise


def storage_owner(value: Value) -> Value:
    """Return the tensor whose memory a view shares: x for x[0] and x.view(-1); indexing by a tensor or list copies."""
    while value.parents and (value.op == "view" or (value.op == "index" and len(value.parents) == 1)):
        if called(value.node) in MAY_COPY:
            break
        picks = value.node.slice if isinstance(value.node, ast.Subscript) else None
        parts = picks.elts if isinstance(picks, ast.Tuple) else [picks]
        if any(isinstance(part, ast.Name | ast.List | ast.Compare | ast.Call) for part in parts):
            break
        value = value.parents[0]
    return value


def leaf_of(value: Value) -> Value:
    """Return the leaf that a value is a view of, if that leaf requires a gradient; else the value itself."""
    source = storage_owner(value)
    return source if source.leaf and graph_of(source) is True else value


def graph_of(value: Value) -> bool | None:
    """Return whether a value has a graph or requires a gradient; None if unknown."""
    if value.kind == Kind.MODULE:
        if Tag.FROZEN in value.tags:
            return None
        return True if value.op in LAYERS else None
    if value.kind == Kind.PARAMETER:
        return None if Tag.FROZEN in value.tags or (value.base and Tag.FROZEN in value.base.tags) else True
    if value.kind in {Kind.NUMBER, Kind.FLAG, Kind.TEXT, Kind.NONE, Kind.ARRAY, Kind.GRADIENT}:
        return False
    if value.kind == Kind.LIST:
        flags = [graph_of(v) for v in value.items or []]
        return True if True in flags else None if None in flags or value.items is None else False
    return value.graph


def is_unknown_loss(value: Value) -> bool:
    """Return whether a value is the result of an unknown function that is named like a loss."""
    function = value.base
    return (
        value.op == "call"
        and function is not None
        and function.kind == Kind.UNKNOWN
        and function.name.split(".")[-1].lower() in USUAL_LOSSES
    )


def is_network_output(value: Value) -> bool:
    """Return whether a value is the result of something that is named like a network in training."""
    function = value.base
    if value.op != "call" or function is None or function.tags & {Tag.FROZEN, Tag.EVAL}:
        return False
    if any(Tag.TRAINED in part.tags for part in function.attributes.values()):  # networks of their own, perhaps
        return False
    *owner, name = function.name.split(".")
    return (owner[-1] if owner and name in FORWARD else name).lower() in USUAL_NETWORKS


def is_unknown_call(value: Value) -> bool:
    """Return whether a value is the result of a function that may do anything, such as detach its arguments."""
    function = value.base
    if value.op != "call" or function is None or function.kind in {Kind.MODULE, Kind.LIBRARY}:
        return False
    of_output = any(is_network_output(owner) for owner in function.parents)  # policy(x).log_prob(action)
    return not (of_output or is_unknown_loss(value) or is_network_output(value))


def owners(given: Value) -> list[Value] | None:
    """Return the modules and leaves that an optimizer was given; None unless all of them are known."""
    if given.kind == Kind.PARAMETERS and given.base is not None:
        return [given.base]
    if given.kind in TENSORS:
        return [given.base if given.kind == Kind.PARAMETER and given.op == "parameter" and given.base else given]
    if given.kind == Kind.LIST and given.items is not None:
        found: list[Value] = []
        for item in given.items:
            inner = owners(item)
            if inner is None:
                return None
            found += inner
        return found
    return None


def close_ancestors(value: Value) -> list[Value]:
    """Return a value with its parents and their parents."""
    return [value, *value.parents, *(p for parent in value.parents for p in parent.parents)]
