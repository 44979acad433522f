"""What operations make of values: tensors with or without a graph, and their shapes and kinds."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lab.failures.analysis.facts import (
    TENSORS,
    Shape,
    Value,
    ancestors,
    broadcast,
    graph_of,
    has_many_elements,
    is_network_output,
    modules,
    storage_owner,
    without,
)
from lab.failures.analysis.kinds import Cut, EventKind, Kind, Tag, words
from lab.failures.analysis.registry import EFFECTS, UNKNOWN, Effect, Result, Saves
from lab.failures.analysis.shapes import created_shape, joined_shape, leaves, matmul_shape, moved_shape, reduced_shape
from lab.failures.analysis.state import AnalysisState

INTEGERS = words("int8 uint8 int16 int32 int64 short int long")  # types of tensors
FLOATS = words("float16 float32 float64 bfloat16 float double half")


def of_integers(name: str, args: list[Value], keys: dict[str, Value]) -> bool:
    """Return whether a creator makes a tensor of integers."""
    if "dtype" in keys:
        return keys["dtype"].op.split(".")[-1] in INTEGERS
    numbers = [part.constant for part in leaves(args)]
    literal = name in {"tensor", "as_tensor", "arange", "full"} and {type(n) for n in numbers} == {int}
    copied = name in {"tensor", "as_tensor"} and bool(args) and args[0].form == "integers"
    return literal or copied or name in {"randint", "randperm", "LongTensor", "IntTensor"}


def is_root(power: Value) -> bool:
    """Return whether an exponent gives a power an infinite slope at 0."""
    return isinstance(power.constant, float) and 0 < power.constant < 1


@dataclass(frozen=True, slots=True)
class Operation:
    """A call of a tensor function, or of a method of its first argument; `effect` is its row of the table."""

    name: str
    args: list[Value]
    keys: dict[str, Value]
    node: ast.expr
    effect: Effect = UNKNOWN

    @property
    def first(self) -> Value:
        return self.args[0] if self.args else Value()

    def argument(self, place: int, *names: str) -> Value | None:
        """Return the argument of one of these names, or the one at a place; None if there is none."""
        named = next((self.keys[name] for name in names if name in self.keys), None)
        return named if named is not None or place >= len(self.args) else self.args[place]


@dataclass
class Tensors:
    """Evaluates operations on values."""

    state: AnalysisState

    def tensor(
        self,
        node: ast.AST,
        op: str,
        parents: Sequence[Value],
        shape: Shape = None,
        form: str = "",
        kind: Kind = Kind.TENSOR,
    ) -> Value:
        """Return a new tensor computed from `parents`."""
        value = Value(kind, node if isinstance(node, ast.expr) else None, self.state.statement, op, tuple(parents))
        value.shape, value.form, value.iterations = shape, form, self.state.iterations()
        value.graph = graph_of(Value(Kind.LIST, items=[*parents]))
        self.state.record(value)
        if kind == Kind.ARRAY:
            value.graph = False
        return value

    def like(self, model: Value, node: ast.expr, op: str, parents: Sequence[Value], form: str = "") -> Value:
        """Return a new value of the same kind and shape as `model`."""
        if model.kind == Kind.NUMBER:
            return Value(Kind.NUMBER, parents=model.parents, cut=model.cut, cut_by=model.cut_by, form=model.form, op=op)
        if model.kind in TENSORS | {Kind.ARRAY}:
            kind = Kind.ARRAY if model.kind == Kind.ARRAY else Kind.TENSOR
            return self.tensor(node, op, parents, model.shape, form, kind)
        value = self.tensor(node, op, parents, form=form, kind=Kind.UNKNOWN)
        value.branches = model.branches
        return value

    def part(self, whole: Value, node: ast.expr, shape: Shape) -> Value:
        """Return a part of a tensor or array, such as an item of a loop over it."""
        kind = Kind.ARRAY if whole.kind == Kind.ARRAY else Kind.TENSOR
        return self.tensor(node, "part", (whole,), shape, kind=kind)

    def batch(self, sample: Value, size: object, node: ast.expr) -> Value:
        """Return what a loader makes of samples: each tensor or number gets an axis of that size in front."""
        if sample.kind in TENSORS | {Kind.ARRAY, Kind.NUMBER}:
            inner = () if sample.kind == Kind.NUMBER else sample.shape
            shape = None if inner is None else (size if isinstance(size, int) else None, *inner)
            return self.tensor(node, "part", () if sample.kind == Kind.NUMBER else (sample,), shape)
        if sample.kind == Kind.LIST:
            return Value(Kind.LIST, items=[self.batch(part, size, node) for part in sample.items or []])
        return Value()

    def arithmetic(self, sign: str, one: Value, two: Value, node: ast.expr) -> Value:
        kinds = {one.kind, two.kind}
        if kinds <= {Kind.NUMBER, Kind.FLAG}:
            return self.numbers(sign, one, two, node)
        if Kind.GRADIENT in kinds:
            return self.gradient_arithmetic(sign, one, two)
        form = ""
        if sign == "/" and one.op == "exp" and two.op == "sum" and two.parents and two.parents[0].op == "exp":
            form = "probabilities"  # a softmax by hand
        if sign == "/" and one.form == two.form == "probabilities":
            form = "probabilities"
        if sign in "+-*/" and {"loss", "losses"} & {one.form, two.form}:
            form = "losses" if "losses" in {one.form, two.form} else "loss"
        if kinds & (TENSORS | {Kind.ARRAY}):
            return self.of_tensors_or_arrays(sign, one, two, node, form)
        return self.like(one if one.kind == Kind.UNKNOWN else two, node, sign, (one, two), form)

    def of_tensors_or_arrays(self, sign: str, one: Value, two: Value, node: ast.expr, form: str) -> Value:
        shape = matmul_shape(one, two) if sign == "@" else broadcast(one, two)
        if not {one.kind, two.kind} & TENSORS:
            return self.tensor(node, sign, (one, two), shape, form, Kind.ARRAY)
        if sign == "-":
            self.state.record_event(EventKind.SUBTRACT, node, one, two)
        value = self.tensor(node, sign, (one, two), shape, form)
        if sign == "**" and is_root(two):
            self.state.record_event(EventKind.ROOT, node, one)
        if sign == "/" and two.form == "relu":
            self.state.record_event(EventKind.DIVIDE, node, two)
        for saved, other in {
            "*": ((one, two), (two, one)),
            "@": ((one, two), (two, one)),
            "/": ((two, one),),
            "**": ((one, one),),
        }.get(sign, ()):
            if graph_of(other):
                self.save(saved, node)
        return value

    def gradient_arithmetic(self, sign: str, one: Value, two: Value) -> Value:
        source, other = (one, two) if one.kind == Kind.GRADIENT else (two, one)
        flipped = sign == "-" and source is two
        value = Value(Kind.GRADIENT, op=source.op, base=source.base, tags=set(source.tags), parents=(one, two))
        value.graph = None
        if other.kind in TENSORS:  # w - lr * w.grad: the new value of w
            value.kind, value.op = Kind.TENSOR, sign
            value.graph = True if other.graph and self.state.modes[-1] is None else None
            value.tags = {Tag.UPDATED} if flipped or Tag.NEGATED in source.tags else {Tag.UPDATED, Tag.UP}
        elif other.op == "neg" or (isinstance(other.constant, int | float) and other.constant < 0):
            value.tags.add(Tag.NEGATED)
        return value

    def numbers(self, sign: str, one: Value, two: Value, node: ast.expr) -> Value:
        return Value(Kind.NUMBER, parents=tuple(v for v in (one, two) if v.cut or v.parents or v.branches), op=sign)

    def save(self, value: Value, node: ast.AST) -> None:
        """Mark a value as saved for the backward pass of `node`."""
        if self.state.modes[-1] is not None:  # without recording, nothing is saved
            return
        value.saved = storage_owner(value).saved = node
        if value.base is not None and value.op == "index":
            value.base.saved = node

    def choice(self, node: ast.expr, values: list[Value]) -> Value:
        """Return the result of a comparison or an argmax, through which no gradient flows."""
        first = values[0]
        if any(v.kind in TENSORS for v in values):
            value = self.tensor(node, "choice", [v for v in values if v.kind in TENSORS], first.shape)
            if value.cut != Cut.NO_GRAD and value.graph is not False:
                value.cut, value.cut_by = Cut.CHOICE, node
            value.graph = False
            return value
        if not any(v.kind == Kind.UNKNOWN for v in values):
            return Value(Kind.FLAG)
        return Value(parents=tuple(values), node=node, graph=False, cut=Cut.CHOICE, cut_by=node)

    def detached(self, owner: Value, node: ast.expr) -> Value:
        value = self.tensor(node, "detach", (owner,), owner.shape, owner.form)
        if value.graph is not False and not value.cut:
            value.cut, value.cut_by = Cut.DETACH, node
        value.graph = False
        return value

    def to_number(self, value: Value, node: ast.expr, cut: Cut = Cut.ITEM) -> Value:
        known = value.kind in TENSORS or (value.kind == Kind.UNKNOWN and value.graph)
        number = Value(Kind.NUMBER if cut == Cut.ITEM else Kind.ARRAY, node, self.state.statement, cut, (value,))
        number.graph, number.form, number.shape = False, value.form, value.shape if cut == Cut.NUMPY else ()
        if known and graph_of(value):
            number.cut, number.cut_by = cut, node
        source = value
        while source.op in {"view", "clone"} and source.parents and not source.cut:
            source = source.parents[0]
        if source.cut == Cut.DETACH and cut == Cut.NUMPY:
            number.cut, number.cut_by = Cut.NUMPY, node
        return number

    def loss(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.expr) -> Value:
        op = Operation(name, args, keys, node)
        prediction, target = op.argument(0, "input") or Value(), op.argument(1, "target") or Value()
        self.state.record_event(EventKind.LOSS, node, prediction, target, name)
        reduction = keys.get("reduction", Value(constant="mean")).constant
        if keys.get("reduce", Value()).constant is False:
            reduction = "none"
        whole_batch = reduction in {"mean", "batchmean", "sum"}
        value = self.tensor(node, name, (prediction, target), () if whole_batch else None)
        if reduction == "none":
            value.form = "losses"
        elif whole_batch:
            value.form = "loss"
            if reduction == "sum":
                value.tags.add(Tag.SUM)
        return value

    def function(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.expr) -> Value:
        """Return the result of a tensor function by name, as its row says: F.relu(x), torch.exp(x), x.exp()."""
        if keys.get("inplace", Value()).constant is True:
            self.state.record_event(EventKind.WRITE, node, args[0] if args else Value(), None, "argument")
        effect = EFFECTS.get(name, UNKNOWN)
        return self.transfers[effect.result](self, Operation(name, args, keys, node, effect))

    def keeps_shape(self, op: Operation) -> Value:
        if op.effect.notes:
            self.state.record_event(op.effect.notes, op.node, op.first)
        same = op.first.form if op.name == "clone" else ""
        value = self.like(op.first, op.node, op.name, (op.first,), op.effect.form or same)
        if value.graph and op.effect.saves is not Saves.NOTHING:
            self.save(value if op.effect.saves is Saves.OUTPUT else op.first, op.node)
        return value

    def power(self, op: Operation) -> Value:
        if len(op.args) > 1 and is_root(op.args[1]):
            self.state.record_event(EventKind.ROOT, op.node, op.first)
        return self.keeps_shape(op)

    def signed(self, op: Operation) -> Value:
        if len(op.args) > 1:
            return self.arithmetic(op.effect.sign, op.args[0], op.args[1], op.node)
        return self.some_tensor(op)

    def either_of_two(self, op: Operation) -> Value:
        if len(op.args) != 3:
            return self.keeps_shape(op)
        if op.args[1].kind == op.args[2].kind == Kind.NUMBER:
            return self.choice(op.node, op.args[:1])
        value = self.tensor(op.node, "where", op.args[1:], broadcast(op.args[1], op.args[2]))
        self.state.record_event(EventKind.WHERE, op.node, value, op.first)
        return value

    def extreme(self, op: Operation) -> Value:
        two = len(op.args) > 1
        shape = broadcast(op.args[0], op.args[1]) if two and op.args[1].kind in TENSORS else None
        return self.tensor(op.node, op.name, op.args, shape if op.keys or two else ())

    def joined(self, op: Operation) -> Value:
        parts = op.first.items or [op.first]
        axis = op.argument(1, "dim", "axis") or Value(constant=0)
        shape = joined_shape(op.name, [part.shape for part in op.first.items or ()], axis.constant)
        value = self.tensor(op.node, "stack", parts, shape)
        if (op.name == "stack" and len(parts) > 1) or any(map(has_many_elements, parts)):
            value.tags.add(Tag.MANY)
        return value

    def computed(self, op: Operation) -> Value:
        every = (*op.args, *op.keys.values())
        given = [v for part in every for v in (part.items or [] if part.kind == Kind.LIST else [part])]
        arrays = bool(given) and all(v.kind == Kind.ARRAY for v in given)
        return self.tensor(op.node, op.name, given, kind=Kind.ARRAY if arrays else Kind.TENSOR)

    def some_tensor(self, op: Operation) -> Value:
        value = self.tensor(op.node, op.name, [a for a in op.args if a.kind in TENSORS | {Kind.UNKNOWN, Kind.LIST}])
        value.graph = None if value.graph else value.graph
        return value

    def reduced(self, op: Operation) -> Value:
        name, first, axis = op.name, op.first, op.argument(1, "dim", "axis")
        shape: Shape = ()
        if axis is not None:
            shape = first.shape
            places = [part.constant for part in axis.items] if axis.items is not None else [axis.constant]
            for place in sorted(places, key=str, reverse=True):
                shape = reduced_shape(shape, place, op.keys.get("keepdim") or op.keys.get("keepdims"))
        value = self.like(first, op.node, name, (first,), "loss" if name in {"mean", "sum"} and shape == () else "")
        value.shape = shape if value.kind != Kind.UNKNOWN else None
        if first.form == "relu" and axis is not None and name in {"sum", "std", "norm", "amax"}:
            value.form = "relu"  # it is still 0 where all of them are 0
        if name == "sum":
            value.tags.add(Tag.SUM)
        return value

    def moved(self, op: Operation) -> Value:
        name, first, rest = op.name, op.first, op.args[1:] or [*op.keys.values()]
        turned = name in {"t", "T", "mT"} and first.kind in TENSORS
        value = self.like(first, op.node, "T" if turned else "view", (first,), first.form)
        numbers = [r.constant for r in (rest[0].items or [] if rest and rest[0].items is not None else rest)]
        value.shape = moved_shape(name, first.shape, numbers)
        kind = next((part.op.split(".")[-1] for part in (*rest, *op.keys.values()) if part.kind == Kind.LIBRARY), name)
        if kind in INTEGERS:
            value.form = "integers"
        elif value.form == "integers" and (kind in FLOATS or name in {"type", "type_as", "astype"}):
            value.form = ""
        return value

    transfers: ClassVar[dict[Result, Callable[["Tensors", Operation], Value]]] = {
        Result.LIKE: keeps_shape,
        Result.POWER: power,
        Result.WHERE: either_of_two,
        Result.EXTREME: extreme,
        Result.REDUCED: reduced,
        Result.CHOICE: lambda self, op: self.choice(op.node, [op.first]),
        Result.MOVED: moved,
        Result.ARITHMETIC: signed,
        Result.JOINED: joined,
        Result.LOSS: lambda self, op: self.loss(op.name, op.args, op.keys, op.node),
        Result.COMPUTED: computed,
        Result.UNKNOWN: some_tensor,
    }

    def create(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call, kind: Kind) -> Value:
        first = args[0] if args else Value()

        def computed(value: Value) -> bool:
            return bool(value.cut or value.graph or value.op == "item" or is_network_output(value))

        behind = {a: [v for leaf in leaves([a]) for v in ancestors(leaf, live=False)] for a in args}
        sources = [a for a in args if a.kind in TENSORS | {Kind.ARRAY} or any(map(computed, behind[a]))]
        value = self.tensor(node, name, sources, kind=kind)
        wants = keys.get("requires_grad")
        value.leaf = True
        value.shape = created_shape(name, args, keys)
        if kind == Kind.TENSOR:
            lost = any(computed(v) for source in value.parents for v in behind[source])
            value.graph = None if wants is not None and wants.constant is None else bool(wants and wants.constant)
            if lost and name in {"tensor", "from_numpy", "as_tensor", "Tensor", "FloatTensor"}:
                value.cut, value.cut_by = Cut.WRAPPED, node
            elif name.endswith("_like"):
                value.parents = ()
        if value.graph and first.kind == Kind.UNKNOWN:
            self.state.record_event(EventKind.ASK, node, value)
        if kind == Kind.TENSOR and of_integers(name, args, keys):
            value.form = "integers"
            if wants is not None and wants.constant is True:
                self.state.record_event(EventKind.INTEGERS, node, value)
        return value

    def integers_asked(self, value: Value) -> None:
        """Record it if what is asked for a gradient holds integers: at what made them, if that is a tensor alone."""
        module = value.base if value.op == "parameter" else None
        parts = [value] if module is None else [part for part in modules(module) if part.kind == Kind.PARAMETER]
        of = next((part for part in parts if part.form == "integers"), None)
        if of is not None and not any(depth == len(self.state.loops) for _, depth in self.state.tests):
            made = without(of, {"view", "clone", "detach"})
            at = made.node if of is value and made.leaf and made.node is not None else self.state.statement
            self.state.record_event(EventKind.INTEGERS, at, of)

    @staticmethod
    def either(one: Value, two: Value) -> Value:
        value = Value(one.kind if one.kind == two.kind else Kind.UNKNOWN, branches=(one, two), name=one.name)
        value.leaf = one.leaf and two.leaf
        if value.kind == Kind.TENSOR:  # if ...: x = f(x) is computed from x in any case
            value.parents = tuple(a for a, b in ((one, two), (two, one)) if a in ancestors(b))
        value.graph = one.graph if one.graph is two.graph and one.leaf is two.leaf else None
        value.shape = one.shape if one.shape == two.shape else None
        return value
