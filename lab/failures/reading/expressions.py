"""What the expressions of a text stand for."""

import ast
import builtins
from dataclasses import dataclass

from lab.failures.reading import tables
from lab.failures.reading.book import Body, Scope
from lab.failures.reading.calls import Calls
from lab.failures.reading.facts import (
    LAYERS,
    TENSORS,
    Value,
)
from lab.failures.reading.shapes import (
    index_shape,
)

MOST_STEPS = 15_000  # expressions looked at in one text: what is beyond is not read
MOST_ALIKE = 4  # elements that a comprehension over a range makes each for itself; of more, one stands for all
FOLLOWED = {
    "list", "tuple", "sorted", "reversed", "iter", "set", "next", "enumerate", "zip", "range", "sum", "len", "dict",
    "print", "abs", "max", "min", "isinstance", "filter", "map", "super", "tqdm",
}  # fmt: skip


class TooMuch(Exception):
    """The text is larger than is followed."""


@dataclass
class Expressions(Calls):
    """Expressions, each to its value."""

    def eval(self, node: ast.expr | None, scope: Scope) -> Value:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooMuch
        if node is None:
            return Value("none")
        value = self.expression(node, scope)
        if value.node is None and value.kind not in {"library", "function", "class"}:
            value.node = node
        if value.statement is None and value.kind not in {"library"}:
            value.statement = self.statement
        return value

    def expression(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.Constant(value=constant):
                if constant is None:
                    return Value("none")
                if isinstance(constant, bool):
                    return Value("flag", constant=constant)
                return Value("text" if isinstance(constant, str | bytes) else "number", constant=constant, node=node)
            case ast.Name(id=name):
                return scope.find(name) or self.stranger(name, scope)
            case ast.Attribute():
                return self.attribute(node, scope)
            case ast.Call():
                return self.called(node, scope)
            case ast.BinOp(left=left, op=op, right=right):
                one, two = self.eval(left, scope), self.eval(right, scope)
                sign = {
                    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**",
                }.get(type(op), "?")  # fmt: skip
                if sign == "+" and "parameters" in {one.kind, two.kind}:
                    return Value(
                        "list", items=[p for v in (one, two) for p in (v.items or [v] if v.kind == "list" else [v])]
                    )
                if sign == "+" and one.kind == "list" and two.kind == "list":
                    items = (one.items or []) + (two.items or [])
                    return Value("list", items=items, marks=(one.marks | two.marks) & {"open"})
                if sign in "+*" and one.kind == "list":
                    return Value("list", items=one.items, marks={"open"})
                return self.arithmetic(sign, one, two, node)
            case ast.UnaryOp(op=op, operand=operand):
                inner = self.eval(operand, scope)
                if isinstance(op, ast.USub):
                    if isinstance(inner.constant, int | float):
                        return Value("number", constant=-inner.constant)
                    return self.like(inner, node, "neg", (inner,), inner.form if inner.form == "losses" else "")
                return Value("flag")
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [self.eval(v, scope) for v in (left, *others)]
                if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops):
                    known = values[-1].kind == "none" and values[0].kind != "" and len(ops) == 1
                    same = values[0].kind == "none"
                    return Value("flag", constant=same is isinstance(ops[0], ast.Is) if known else None)
                return self.choice(node, values)
            case ast.BoolOp(values=parts):
                return Value(maybe=tuple(self.eval(v, scope) for v in parts))
            case ast.IfExp(test=test, body=body, orelse=other):
                if isinstance(flag := self.eval(test, scope).constant, bool):
                    return self.eval(body if flag else other, scope)
                one, two = self.eval(body, scope), self.eval(other, scope)
                return (
                    one if one.kind == two.kind == "number" and one.constant == two.constant else self.either(one, two)
                )
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                items, opened = [], False
                for part in parts:
                    if isinstance(part, ast.Starred):
                        inner = self.eval(part.value, scope)
                        items += inner.items or [Value()]
                        opened = opened or not inner.items or "open" in inner.marks
                    else:
                        items.append(self.eval(part, scope))
                return Value("list", items=items, marks={"open"} if opened else set())
            case ast.Dict(keys=keys, values=values):
                found = [self.eval(v, scope) for v in values]
                value = Value("dict", items=found)
                for key, item in zip(keys, found, strict=True):
                    if isinstance(key, ast.Constant):
                        value.attributes[str(key.value)] = item
                return value
            case (
                ast.ListComp(elt=elt, generators=parts)
                | ast.GeneratorExp(elt=elt, generators=parts)
                | ast.SetComp(elt=elt, generators=parts)
            ):
                return Value("list", items=self.comprehend(parts, [elt], Scope(scope)), marks={"open"})
            case ast.DictComp(key=key, value=value_node, generators=parts):
                return Value("dict", items=self.comprehend(parts, [key, value_node], Scope(scope)), marks={"open"})
            case ast.Subscript():
                return self.subscript(node, scope)
            case ast.Lambda():
                return Value("function", body=Body(node, scope), node=node)
            case ast.NamedExpr(target=target, value=inner):
                value = self.eval(inner, scope)
                self.bind(target, value, scope)
                return value
            case ast.JoinedStr(values=parts):
                for part in parts:
                    if isinstance(part, ast.FormattedValue):
                        self.eval(part.value, scope)
                return Value("text")
            case ast.Starred(value=inner) | ast.Await(value=inner):
                return self.eval(inner, scope)
            case ast.Yield(value=inner):
                if inner is not None:
                    self.eval(inner, scope)
                return Value()
        return Value(node=node)

    @staticmethod
    def stranger(name: str, scope: Scope) -> Value:
        """A name that the text never gives a meaning; it is the same thing wherever it stands."""
        value = Value(name=name)
        if not hasattr(builtins, name):
            while scope.parent is not None:
                scope = scope.parent
            scope[name] = value
        return value

    def comprehend(self, parts: list[ast.comprehension], elements: list[ast.expr], scope: Scope) -> list[Value]:
        """What a comprehension makes: each element of a list that is written out, else one that stands for all."""
        if not parts:
            return [self.eval(element, scope) for element in elements][-1:]
        part, *rest = parts
        over = self.eval(part.iter, scope)
        written = over.items is not None and over.kind == "list" and "open" not in over.marks
        repeats = self.repeats
        if over.kind == "range" and isinstance(over.constant, int):
            self.repeats *= over.constant
        found = []
        turns = min(len(over.items or []), 16) if written else 1
        if over.kind == "range" and isinstance(over.constant, int) and 1 < over.constant <= MOST_ALIKE:
            turns = over.constant
        for turn in range(1, turns + 1):
            self.bind(part.target, self.item(over, part.iter, turn), scope)
            for test in part.ifs:
                self.eval(test, scope)
            found += self.comprehend(rest, elements, scope)
        self.repeats = repeats
        return found

    def attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        owner, name = self.eval(node.value, scope), node.attr
        if owner.kind == "library":
            return Value("library", op=f"{owner.op}.{name}")
        if owner.kind == "table":
            return tables.attribute(owner, name)
        if name == "grad":
            if owner.kind in TENSORS or owner.kind == "":
                self.note("read grad", node, owner)
                return Value("gradient", base=owner, op="grad", node=node)
            return Value()
        if name == "data" and (owner.kind in TENSORS or owner.op == "call"):
            return self.detached(owner, node)
        if name == "data" and owner.kind == "gradient":
            return owner
        if name == "T" and owner.kind in TENSORS | {"array"}:
            value = self.like(owner, node, "T", (owner,), owner.form)
            value.shape = owner.shape[::-1] if owner.shape else None
            return value
        if name in {"shape", "size", "dtype", "device", "ndim"} and owner.kind in TENSORS | {"array"}:
            if name == "shape" and owner.shape is not None:
                return Value("list", items=[Value("number", constant=n) for n in owner.shape])
            return Value("text" if name != "ndim" else "number")
        if name in {"values", "indices"} and owner.kind == "list" and len(owner.items or []) == 2:
            return (owner.items or [])[name == "indices"]
        if name in {"values", "indices"} and owner.kind in TENSORS:
            return owner if name == "values" else self.choice(node, [owner])
        if name in owner.attributes:
            return owner.attributes[name]
        method = self.method(owner, name) if owner.kind in {"module", "instance"} else None
        if method is not None:
            return method
        if owner.kind == "module" and name in {"weight", "bias"}:
            value = Value("parameter", node, self.statement, name, graph=True, leaf=True, base=owner, name=name)
            owner.attributes[name] = value
            return value
        value = Value(
            parents=(owner,) if owner.kind == "" and owner.parents else (), name=f"{owner.name}.{name}", node=node
        )
        if owner.kind in {"instance", "module", ""}:
            owner.attributes[name] = value
            if owner.kind == "module" and "any" not in owner.marks and isinstance(owner.body, Body):
                value.marks.add("unknown attribute")
        return value

    def subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        base, index = self.eval(node.value, scope), node.slice
        if base.kind == "table":
            return tables.column(base, index)
        key = self.eval(index, scope) if not isinstance(index, ast.Slice) else Value("slice")
        count = len(base.items) if base.items is not None and "open" not in base.marks else 0
        if base.items is not None and isinstance(key.constant, int) and -count <= key.constant < count:
            return base.items[key.constant]
        if base.kind == "dict" and str(key.constant) in base.attributes:
            return base.attributes[str(key.constant)]
        if base.kind == "module" and base.items is not None:
            if isinstance(index, ast.Slice):
                ends = [self.eval(e, scope).constant if e else None for e in (index.lower, index.upper)]
                known = [e if isinstance(e, int) else None for e in ends]
                if "open" in base.marks:
                    return Value("module", op="Sequential", items=base.items, node=node, marks={"open"})
                if known == ends:
                    return Value("module", op="Sequential", items=base.items[known[0] : known[1]], node=node)
            if base.items and all(item.op in LAYERS for item in base.items):
                return base.items[0]
            return Value("module", op="any", parents=(), marks={"any"})
        if base.items and (base.kind == "list" or (base.kind == "dict" and all(v.leaf for v in base.items))):
            return base.items[0]
        if base.kind in TENSORS | {"array"}:
            value = self.like(base, node, "index", (base,), base.form)
            value.shape, value.base = index_shape(base.shape, index), base
            return value
        if base.kind == "gradient":
            return base
        return Value(parents=(base,) if base.parents or base.kind == "" else (), graph=base.graph, node=node, op="part")

    def called(self, node: ast.Call, scope: Scope) -> Value:
        if isinstance(node.func, ast.Name) and scope.find(node.func.id) is None:
            special = self.builtin(node, node.func.id, scope)
            if special is not None:
                return special
        if isinstance(node.func, ast.Attribute) and not self.library(node.func, scope):
            above = node.func.value.func if isinstance(node.func.value, ast.Call) else None
            if isinstance(above, ast.Name) and above.id == "super":
                return self.call_super(node, scope)
            owner = self.eval(node.func.value, scope)
            args, keys = self.arguments(node, scope)
            return self.method_call(owner, node.func.attr, args, keys, node)
        function = self.eval(node.func, scope)
        args, keys = self.arguments(node, scope)
        if isinstance(node.func, ast.Name) and "zero_grad" in node.func.id:
            self.note("zero", node, Value())  # whatever it does, its name says what for
        if function.kind == "library":
            return self.library_call(function.op, args, keys, node, scope)
        return self.call(function, args, keys, node)

    def arguments(self, node: ast.Call, scope: Scope) -> tuple[list[Value], dict[str, Value]]:
        args: list[Value] = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                inner = self.eval(part.value, scope)
                args += inner.items if inner.items else [Value(marks={"open"}, parents=(inner,))]
                if "open" in inner.marks and args:
                    args.append(Value(marks={"open"}))
            else:
                args.append(self.eval(part, scope))
        keys = {k.arg: self.eval(k.value, scope) for k in node.keywords if k.arg}
        for key in node.keywords:
            if key.arg is None:
                keys = self.eval(key.value, scope).attributes | keys
        return args, keys

    def builtin(self, node: ast.Call, name: str, scope: Scope) -> Value | None:
        if name in {"float", "int"} and len(node.args) == 1:
            value = self.eval(node.args[0], scope)
            if value.kind == "number" or value.kind == "text":
                return Value(
                    "number", constant=value.constant, parents=value.parents, cut=value.cut, cut_by=value.cut_by
                )
            return self.to_number(value, node)
        if name not in FOLLOWED:
            return None
        args, keys = self.arguments(node, scope)
        if name in {"list", "tuple", "sorted", "reversed", "iter", "set", "tqdm", "dict"}:
            if name == "dict" and not args:
                return Value("dict", items=[], attributes=keys)
            return args[0] if args else Value("list", items=[])
        if name == "filter" and len(args) > 1:
            return args[1]
        if name == "next" and args:
            return self.item(args[0], node, 1)
        if name in {"enumerate", "zip"}:
            return Value(name, items=args)
        if name == "range":
            return Value("range", constant=args[0].constant if len(args) == 1 else None)
        if name == "sum" and args:
            items = args[0].items
            if items:
                first = items[0]
                return self.like(first, node, "+", (*items, first), "loss" if first.form == "loss" else "")
            return Value(parents=(args[0],), node=node)
        if name == "abs" and args:
            return self.like(args[0], node, "abs", (args[0],))
        if name == "print" or name == "isinstance":
            return Value("none")
        if name == "len":
            return Value("number")
        if name in {"max", "min"}:
            return Value("number") if all(a.kind == "number" for a in args) else Value(parents=tuple(args))
        return None

    def call_super(self, node: ast.Call, scope: Scope) -> Value:
        args, keys = self.arguments(node, scope)
        assert isinstance(node.func, ast.Attribute)
        owner = scope.find("self")
        if owner is not None and (method := self.method(owner, node.func.attr, above=True)) is not None:
            return self.call(method, args, keys, node)
        return Value()
