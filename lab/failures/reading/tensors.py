"""What operations make of values: tensors with a graph or without, their shapes and kinds."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from lab.failures.reading.book import Book
from lab.failures.reading.facts import (
    BOUNDED,
    CHOICES,
    ELEMENTWISE,
    KEEPS_INPUT,
    KEEPS_OUTPUT,
    LOSS_FUNCTIONS,
    MOVES,
    REDUCTIONS,
    TENSORS,
    Value,
    broadcast,
    graph_of,
    is_row,
    reach,
)
from lab.failures.reading.shapes import (
    column_pair,
    created_shape,
    leaves,
    matmul_shape,
    moved_shape,
    whole_numbers,
)


@dataclass
class Tensors(Book):
    """Operations on values."""

    def tensor(
        self,
        node: ast.AST,
        op: str,
        parents: Sequence[Value],
        shape: tuple[int | None, ...] | None = None,
        form: str = "",
        whole: bool | None = None,
        kind: str = "tensor",
    ) -> Value:
        """A new tensor computed from others."""
        value = Value(kind, node if isinstance(node, ast.expr) else None, self.statement, op, tuple(parents))
        value.shape, value.form, value.whole, value.turns = shape, form, whole, self.turns()
        flags = [graph_of(p) for p in parents if p.kind not in {"number", "flag", "text", "none"}]
        value.graph = True if True in flags else None if None in flags else False
        doubles = [p.double for p in parents if p.kind in TENSORS]
        value.double = doubles[0] if len(doubles) == 1 else None
        mode = self.modes[-1]
        if mode is not None:
            value.graph, value.cut, value.cut_by = False, "no_grad", mode
        if kind == "array":
            value.graph = False
        return value

    def like(self, model: Value, node: ast.expr, op: str, parents: Sequence[Value], form: str = "") -> Value:
        """A value of the same kind and shape."""
        if model.kind == "number":
            return Value("number", parents=model.parents, cut=model.cut, cut_by=model.cut_by, form=model.form, op=op)
        if model.kind in TENSORS | {"array"}:
            kind = "array" if model.kind == "array" else "tensor"
            value = self.tensor(node, op, parents, model.shape, form, model.whole, kind)
            value.double = model.double
            return value
        value = Value(
            parents=tuple(parents),
            graph=graph_of(model),
            node=node,
            turns=self.turns(),
            op=op,
            form=form,
            maybe=model.maybe,
        )
        mode = self.modes[-1]
        if mode is not None:
            value.graph, value.cut, value.cut_by = False, "no_grad", mode
        return value

    def arithmetic(self, sign: str, one: Value, two: Value, node: ast.expr) -> Value:
        kinds = {one.kind, two.kind}
        if kinds <= {"number", "flag"}:
            return self.numbers(sign, one, two)
        if kinds & {"gradient"}:
            source = one if one.kind == "gradient" else two
            flipped = sign == "-" and source is two
            value = Value("gradient", op=source.op, base=source.base, marks=set(source.marks), parents=(one, two))
            value.graph = None
            other = two if source is one else one
            if other.kind in TENSORS:  # w - lr * w.grad: the new value of w
                value.kind, value.op = "tensor", sign
                value.graph = True if other.graph and self.modes[-1] is None else None
                value.shape, value.turns = other.shape, self.turns()
                value.marks = {"updated", "down" if flipped or "turned" in source.marks else "up"}
                value.marks |= {"rebound"} if other.graph else set()
                value.marks |= other.marks & {"engine"}
            elif other.op == "neg" or (isinstance(other.constant, int | float) and other.constant < 0):
                value.marks.add("turned")
            return value
        form = ""
        if sign == "-" and one.constant in (1, 1.0) and two.form == "probabilities":
            form = "probabilities"
        if sign in "+-*/" and {"loss", "losses"} & {one.form, two.form}:
            form = "losses" if "losses" in {one.form, two.form} else "loss"
        whole = None
        if sign in "+-*" and one.whole and two.whole:
            whole = True
        elif sign == "/" or False in {one.whole, two.whole}:
            whole = False
        if kinds & TENSORS:
            if sign == "-" and column_pair(one, two):
                self.note("subtract", node, one, two)
            shape = matmul_shape(one, two) if sign == "@" else broadcast(one, two)
            value = self.tensor(node, sign, (one, two), shape, form, whole)
            if shape is None and sign in "+-*/" and (is_row(one) or is_row(two)):
                value.marks.add("row")
            if sign in "*@":
                for saved, other in ((one, two), (two, one)):
                    if graph_of(other):
                        self.save(saved, node)
            elif sign == "/" and graph_of(one):
                self.save(two, node)
            elif sign == "**" and graph_of(one):
                self.save(one, node)
            if sign == "@":
                self.note("matmul", node, one, two)
            return value
        if "array" in kinds:
            shape = matmul_shape(one, two) if sign == "@" else broadcast(one, two)
            return self.tensor(node, sign, (one, two), shape, form, whole, kind="array")
        value = self.like(one if one.kind == "" else two, node, sign, (one, two), form)
        if is_row(one) or is_row(two):
            value.marks.add("row")
        if self.modes[-1] is None:
            flags = {graph_of(v) for v in (one, two) if v.kind not in {"number", "flag", "text", "none"}}
            value.graph = True if True in flags else None if None in flags else False
        return value

    def numbers(self, sign: str, one: Value, two: Value) -> Value:
        value = Value("number", parents=tuple(v for v in (one, two) if v.cut or v.parents), op=sign)
        a, b = one.constant, two.constant
        if isinstance(a, int | float) and isinstance(b, int | float) and abs(a) < 1e9 and abs(b) < 1e9:
            try:
                value.constant = (
                    a + b if sign == "+" else a - b if sign == "-" else a * b if sign == "*" else a / b if sign == "/"
                    else a**b if sign == "**" and abs(b) < 20 else None
                )  # fmt: skip
            except (ZeroDivisionError, OverflowError):
                value.constant = None
        return value

    def save(self, value: Value, node: ast.AST) -> None:
        if self.modes[-1] is not None:  # nothing is recorded, so nothing is kept
            return
        value.saved = node
        if value.base is not None and value.op == "index":
            value.base.saved = node

    def choice(self, node: ast.expr, values: list[Value]) -> Value:
        """A comparison or an argmax: no gradient goes through it."""
        first = values[0]
        if any(v.kind in TENSORS for v in values):
            value = self.tensor(node, "choice", [v for v in values if v.kind in TENSORS], first.shape)
            inner = any(v.cut == "choice" and any(n is v.cut_by for n in ast.walk(node)) for v in value.parents)
            if value.cut != "no_grad" and (value.graph is not False or inner):
                value.cut, value.cut_by = "choice", node
            value.graph, value.whole = False, True
            return value
        if any(v.kind == "array" for v in values):
            return Value("array", op="choice", shape=first.shape, graph=False, whole=True)
        if all(v.kind in {"number", "text", "flag", "none"} for v in values):
            return Value("flag")
        return Value(parents=tuple(values), node=node, graph=False, cut="choice", cut_by=node)

    def detached(self, owner: Value, node: ast.expr) -> Value:
        value = self.tensor(node, "detach", (owner,), owner.shape, owner.form, owner.whole)
        if value.graph is not False and not value.cut:
            value.cut, value.cut_by = "detach", node
        value.graph, value.double = False, owner.double
        return value

    def to_number(self, value: Value, node: ast.expr, cut: str = "item") -> Value:
        known = value.kind in TENSORS or (value.kind == "" and value.graph)
        number = Value("number" if cut == "item" else "array", node, self.statement, cut, (value,))
        number.graph, number.form, number.shape = False, value.form, value.shape if cut == "numpy" else ()
        number.whole = value.whole
        if known and graph_of(value):
            number.cut, number.cut_by = cut, node
        elif value.cut:
            number.cut, number.cut_by = value.cut, value.cut_by
        source = value
        while source.op in {"view", "clone"} and source.parents and not source.cut:
            source = source.parents[0]
        if source.cut == "detach" and cut == "numpy":
            number.cut, number.cut_by = "numpy", node
        return number

    def loss(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.expr) -> Value:
        prediction = args[0] if args else keys.get("input", Value())
        target = args[1] if len(args) > 1 else keys.get("target", Value())
        self.note("loss", node, prediction, target, name)
        reduction = keys.get("reduction", Value(constant="mean")).constant
        whole_batch = reduction in {"mean", "batchmean", "sum"}
        value = self.tensor(node, name, (prediction, target), () if whole_batch else None)
        if reduction == "none":
            value.form = "losses"
            value.shape = (prediction.shape[0] if prediction.shape else None,)
        elif whole_batch:
            value.form = "loss"
            if reduction == "sum":
                value.marks.add("sum")
        if prediction.kind == "" and value.graph is False and self.modes[-1] is None:
            value.graph = None
        return value

    def function(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.expr) -> Value:
        """A function of tensors, by name: F.relu(x), torch.exp(x), x.exp()."""
        first = args[0] if args else Value()
        name = name.removeprefix("_")
        if keys.get("inplace", Value()).constant is True:
            self.note("write", node, first, None, "argument")
        if name in LOSS_FUNCTIONS:
            return self.loss(name, args, keys, node)
        if name in {"linear", "conv2d"} or name in {"matmul", "mm", "bmm", "mv", "dot"}:
            if name in {"matmul", "mm"} and len(args) > 1:
                return self.arithmetic("@", args[0], args[1], node)
            return self.tensor(node, "matmul", args)
        if name in {"add", "sub", "subtract", "mul", "multiply", "div"} and len(args) > 1:
            sign = {"a": "+", "s": "-", "m": "*", "d": "/"}[name[0]]
            return self.arithmetic(sign, args[0], args[1], node)
        if name == "where" and len(args) == 3 and args[1].kind == args[2].kind == "number":
            return self.choice(node, args[:1])
        if name == "where" and len(args) == 3:
            return self.tensor(node, "where", args[1:], broadcast(args[1], args[2]))
        if name in CHOICES:
            return self.choice(node, args[:1])
        if name in {"maximum", "minimum", "max", "min"}:
            shape = broadcast(args[0], args[1]) if len(args) > 1 and args[1].kind in TENSORS else None
            return self.tensor(node, name, args, shape if keys or len(args) > 1 else ())
        if name in {"stack", "cat", "concatenate", "concat"}:
            return self.tensor(node, name, first.items or [first])
        if name in REDUCTIONS:
            return self.reduce(name, first, args[1:], keys, node)
        if name in {"softmax", "sigmoid"}:
            value = self.like(first, node, name, (first,), "probabilities")
            return self.kept(value, value, node)
        if name in {"relu", "log_softmax"}:
            value = self.like(first, node, name, (first,), "relu" if name == "relu" else "log probabilities")
            return self.kept(value, value, node)
        if name == "log":
            self.note("log", node, first)
            return self.kept(self.like(first, node, "log", (first,)), first, node)
        if name == "sqrt":
            self.note("root", node, first)
        if name in KEEPS_OUTPUT:
            value = self.like(first, node, name, (first,))
            return self.kept(value, value, node)
        if name in KEEPS_INPUT:
            return self.kept(self.like(first, node, name, (first,)), first, node)
        if name in BOUNDED | ELEMENTWISE:
            low = keys.get("min", args[1] if len(args) > 1 else Value()).constant
            zero = name in {"clamp", "clip", "clamp_min"} and low in (0, 0.0) and low is not False
            return self.like(first, node, name, (first,), "relu" if zero else "")
        if name == "gather" and len(args) > 2:  # the shape of its index
            index = args[2].node
            stood_up = isinstance(index, ast.Call) and ast.unparse(index.func).endswith(".unsqueeze")
            column = stood_up and args[1].constant == 1
            value = self.tensor(node, "gather", (first,), args[2].shape or ((None, 1) if column else None))
            value.graph, value.form = graph_of(first), first.form
            return value
        if name in MOVES:
            return self.move(name, first, args[1:], keys, node)
        if first.kind == "array" and not any(a.kind in TENSORS for a in args):
            return self.tensor(node, name, args, kind="array")
        value = self.tensor(node, name, [a for a in args if a.kind in TENSORS | {"", "list"}])
        value.graph = None if value.graph else value.graph
        return value

    def kept(self, value: Value, what: Value, node: ast.expr) -> Value:
        if value.graph:
            self.save(what, node)
        return value

    def reduce(self, name: str, first: Value, rest: list[Value], keys: dict[str, Value], node: ast.expr) -> Value:
        axis = keys.get("dim") or keys.get("axis") or (rest[0] if rest else None)
        shape: tuple[int | None, ...] | None = ()
        if axis is not None:
            shape = None
            if isinstance(axis.constant, int) and first.shape and -len(first.shape) <= axis.constant < len(first.shape):
                keep = keys.get("keepdim") or keys.get("keepdims")
                sizes = list(first.shape)
                sizes[axis.constant : axis.constant % len(sizes) + 1] = [1] if keep and keep.constant else []
                shape = tuple(sizes)
        value = self.like(first, node, name, (first,), "loss" if name in {"mean", "sum"} and shape == () else "")
        value.shape = shape
        if value.kind == "":
            value.shape = None
        if name == "sum":
            value.marks.add("sum")
        return value

    def move(self, name: str, first: Value, rest: list[Value], keys: dict[str, Value], node: ast.expr) -> Value:
        value = self.like(first, node, "view" if name != "clone" else "clone", (first,), first.form)
        numbers = [r.constant for r in (rest[0].items or [] if rest and rest[0].items is not None else rest)]
        value.shape = moved_shape(name, first.shape, numbers)
        if name in {"float", "double", "half"}:
            value.whole, value.double = False, name == "double"
            if first.whole:
                value.op = "float"
        elif name in {"to", "type", "astype"}:
            value.whole = None if rest and first.whole else first.whole
            value.double = None if rest else first.double
        value.marks |= first.marks & {"sum"}
        return value

    def create(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call, kind: str) -> Value:
        first = args[0] if args else Value()
        told = [
            a
            for a in args
            if a.cut
            or any(v.cut for v in a.parents if a.op == "call")
            or a.kind in TENSORS | {"array"}
            or any(v.cut or v.graph or v.op == "item" for v in leaves([a]))
            or (a.kind == "number" and any(v.cut or v.op == "item" for v in reach(a, live=False)))
        ]
        value = self.tensor(node, name, told, kind=kind)
        wants = keys.get("requires_grad")
        value.leaf = True
        value.shape = created_shape(name, args, keys)
        if name == "from_numpy":
            value.shape, value.whole = first.shape, first.whole
        value.whole = whole_numbers(name, args, keys, node) if name != "from_numpy" else first.whole
        dtype = keys.get("dtype")
        value.double = None if dtype is not None else False
        written = next((k.value for k in node.keywords if k.arg == "dtype"), None)
        if isinstance(written, ast.Attribute):
            value.double = {"double": True, "float64": True, "float": False, "float32": False}.get(written.attr)
        if kind == "tensor":
            behind = (p for part in value.parents for p in reach(part, live=False))
            lost = next((p for p in behind if p.graph or p.cut or p.op == "item"), None)
            value.graph = None if wants is not None and wants.constant is None else bool(wants and wants.constant)
            if lost is not None and name in {"tensor", "from_numpy", "as_tensor", "Tensor", "FloatTensor"}:
                value.cut, value.cut_by = "wrapped", node
            elif name.endswith("_like"):
                value.parents = ()
        if wants is None and value.cut != "no_grad":
            value.graph = False
        if value.whole and value.graph and kind == "tensor":
            self.note("whole leaf", node, value)
        return value

    @staticmethod
    def either(one: Value, two: Value) -> Value:
        if two.kind in {"none", ""} and not two.parents and one.kind in {"module", "optimizer", "scaler"}:
            return one
        if one.kind == two.kind and one.kind in {"module", "optimizer", "class", "function", "library"}:
            return one
        value = Value(one.kind if one.kind == two.kind else "", maybe=(one, two), name=one.name)
        value.graph = one.graph if one.graph is two.graph else None
        value.shape = one.shape if one.shape == two.shape else None
        return value
