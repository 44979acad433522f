"""Evaluates the expressions of a text to `Value`s."""

import ast
import builtins
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from lab.failures.analysis.calls import Calls
from lab.failures.analysis.facts import TENSORS, Body, Scope, Value
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.libraries import Libraries, named_items
from lab.failures.analysis.methods import Methods
from lab.failures.analysis.registry import LAYERS
from lab.failures.analysis.shapes import index_shape, known_turns
from lab.failures.analysis.state import AnalysisState, Follower
from lab.failures.analysis.tensors import Tensors
from lab.failures.analysis.work import TextTooLong

MAX_EXPRESSIONS = 15_000  # evaluated in one text; the rest is not read
MAX_ELEMENTS = 16  # of a comprehension that are evaluated one by one
SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, two: isinstance(two, tuple) and one in two,
    ast.NotIn: lambda one, two: isinstance(two, tuple) and one not in two,
}
Builtin = Callable[["Expressions", list[Value], dict[str, Value], ast.Call], Value | None]


@dataclass
class Expressions:
    """Evaluates expressions."""

    state: AnalysisState
    tensors: Tensors
    methods: Methods
    libraries: Libraries
    calls: Calls
    follower: Follower

    def eval(self, node: ast.expr | None, scope: Scope) -> Value:
        """Return the value of an expression. Raises TextTooLong after MAX_EXPRESSIONS of them."""
        self.state.steps += 1
        if self.state.steps > MAX_EXPRESSIONS:
            raise TextTooLong(f"{MAX_EXPRESSIONS:,} expressions")
        if node is None:
            return Value(Kind.NONE)
        visit = getattr(self, f"visit_{type(node).__name__}", None)
        value: Value = visit(node, scope) if visit is not None else Value()
        value.node, value.statement = value.node or node, value.statement or self.state.statement
        return value

    def visit_Constant(self, node: ast.Constant, scope: Scope) -> Value:
        constant = node.value
        if constant is None:
            return Value(Kind.NONE)
        if isinstance(constant, bool):
            return Value(Kind.FLAG, constant=constant)
        return Value(Kind.TEXT if isinstance(constant, str | bytes) else Kind.NUMBER, constant=constant, node=node)

    def visit_BinOp(self, node: ast.BinOp, scope: Scope) -> Value:
        one, two = self.eval(node.left, scope), self.eval(node.right, scope)
        sign = SIGNS.get(type(node.op), "?")
        if sign == "+" and {one.kind, two.kind} <= {Kind.LIST, Kind.PARAMETERS}:
            items = (one.items or []) + (two.items or [])
            return Value(Kind.LIST, items=items, tags=(one.tags | two.tags) & {Tag.OPEN})
        if Kind.LIST in {one.kind, two.kind} and sign in "+*":
            return Value(Kind.LIST, items=(one if one.kind == Kind.LIST else two).items, tags={Tag.OPEN})
        return self.tensors.arithmetic(sign, one, two, node)

    def visit_UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Value:
        inner = self.eval(node.operand, scope)
        if not isinstance(node.op, ast.USub):
            known = isinstance(inner.constant, bool) and isinstance(node.op, ast.Not)
            return Value(Kind.FLAG, constant=not inner.constant if known else None)
        if isinstance(inner.constant, int | float):
            return Value(Kind.NUMBER, constant=-inner.constant)
        return self.tensors.like(inner, node, "neg", (inner,), inner.form if inner.form == "losses" else "")

    def visit_Compare(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self.eval(v, scope) for v in (node.left, *node.comparators)]
        one, two, sign = values[0], values[-1], type(node.ops[0])
        if len(values) == 2 and sign in {ast.Is, ast.IsNot} and two.kind == Kind.NONE and one.kind != Kind.UNKNOWN:
            return Value(Kind.FLAG, constant=(one.kind == Kind.NONE) is (sign is ast.Is))
        other = tuple(v.constant for v in two.items or ()) if two.kind == Kind.LIST else two.constant
        constants = {one.constant, *(other if isinstance(other, tuple) else [other])}
        if len(values) == 2 and sign in COMPARISONS and None not in constants and Tag.OPEN not in two.tags:
            return Value(Kind.FLAG, constant=COMPARISONS[sign](one.constant, other))
        return self.tensors.choice(node, values)

    def visit_IfExp(self, node: ast.IfExp, scope: Scope) -> Value:
        known = self.eval(node.test, scope).constant
        if isinstance(known, bool):
            return self.eval(node.body if known else node.orelse, scope)
        return self.tensors.either(self.eval(node.body, scope), self.eval(node.orelse, scope))

    def visit_Tuple(self, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Value:
        items, opened = [], False
        for part in node.elts:
            if isinstance(part, ast.Starred):
                inner = self.eval(part.value, scope)
                items += inner.items or [Value()]
                opened = opened or not inner.items or Tag.OPEN in inner.tags
            else:
                items.append(self.eval(part, scope))
        return Value(Kind.LIST, items=items, tags={Tag.OPEN} if opened else set(), iterations=self.state.iterations())

    visit_List = visit_Set = visit_Tuple

    def visit_Dict(self, node: ast.Dict, scope: Scope) -> Value:
        found = [self.eval(v, scope) for v in node.values]
        value = Value(Kind.DICT, items=found)
        for key, item in zip(node.keys, found, strict=True):
            if isinstance(key, ast.Constant):
                value.attributes[str(key.value)] = item
        return value

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, scope: Scope) -> Value:
        if isinstance(node, ast.DictComp):
            pairs, _ = self.comprehend(node.generators, [node.key, node.value], Scope(scope))
            return named_items([Value(Kind.LIST, items=[Value(Kind.LIST, items=[*pair]) for pair in pairs])], {})
        found, complete = self.comprehend(node.generators, [node.elt], Scope(scope))
        return Value(Kind.LIST, items=[item for (item,) in found], tags=set() if complete else {Tag.OPEN})

    visit_GeneratorExp = visit_SetComp = visit_DictComp = visit_ListComp

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Value:
        given = self.eval(node.value, scope)
        if self.state.frames:
            self.state.frames[-1].yielded += [given] if isinstance(node, ast.Yield) else given.items or []
        return Value()

    visit_YieldFrom = visit_Yield

    def visit_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.eval(node.value, scope)
        self.follower.bind(node.target, value, scope)
        return value

    def visit_Name(self, node: ast.Name, scope: Scope) -> Value:
        if (found := scope.find(node.id)) is not None:
            return found
        value = Value(name=node.id)  # the text never binds it: the same value at each use
        if not hasattr(builtins, node.id):
            while scope.parent is not None:
                scope = scope.parent
            scope[node.id] = value
        return value

    def visit_BoolOp(self, node: ast.BoolOp, scope: Scope) -> Value:
        return Value(branches=tuple(self.eval(value, scope) for value in node.values))

    def visit_Lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Value(Kind.FUNCTION, body=Body(node, scope))

    def comprehend(
        self, parts: list[ast.comprehension], elements: list[ast.expr], scope: Scope
    ) -> tuple[list[tuple[Value, ...]], bool]:
        """Return the elements of a comprehension, and whether these are all: two stand for an unknown number."""
        if not parts:
            return [tuple(self.eval(element, scope) for element in elements)], True
        part, *rest = parts
        over = self.eval(part.iter, scope)
        known = min(known_turns(over, MAX_ELEMENTS), MAX_ELEMENTS)
        iterations = known or (0 if over.items == [] and over.kind == Kind.LIST else 2)
        complete = iterations == known_turns(over, MAX_ELEMENTS) and not part.ifs
        found = []
        for iteration in range(1, iterations + 1):
            self.follower.bind(part.target, self.follower.item(over, part.iter, iteration), scope)
            inner, inner_complete = self.comprehend(rest, elements, scope)
            found += inner
            complete = complete and inner_complete
        return found, complete

    def visit_Attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute_of(self.eval(node.value, scope), node)

    def attribute_of(self, owner: Value, node: ast.Attribute) -> Value:
        name = node.attr
        if owner.kind == Kind.LIBRARY:
            return Value(Kind.LIBRARY, op=f"{owner.op}.{name}")
        if name in self.of_values and (value := self.of_values[name](self, owner, node)) is not None:
            return value
        if name in owner.attributes:
            return owner.attributes[name]
        method = self.calls.method(owner, name) if owner.kind in {Kind.MODULE, Kind.INSTANCE} else None
        return method if method is not None else self.unknown_attribute(owner, node)

    def unknown_attribute(self, owner: Value, node: ast.Attribute) -> Value:
        name = node.attr
        if owner.kind == Kind.MODULE and re.fullmatch(r"(weight|bias)(_[ih]h_l\d+)?", name):
            value = Value(
                Kind.PARAMETER, node, self.state.statement, name, graph=True, leaf=True, base=owner, name=name
            )
            owner.attributes[name] = value
            return value
        parents = (owner,) if owner.op == "call" or (owner.kind == Kind.UNKNOWN and owner.parents) else ()
        owner.attributes[name] = value = Value(parents=parents, name=f"{owner.name}.{name}", node=node)
        return value

    def grad(self, owner: Value, node: ast.Attribute) -> Value:
        if owner.kind not in TENSORS | {Kind.UNKNOWN}:
            return Value()
        self.state.record_event(EventKind.READ_GRAD, node, owner)
        return Value(Kind.GRADIENT, base=owner, op="grad", node=node)

    def data(self, owner: Value, node: ast.Attribute) -> Value | None:
        if owner.kind in TENSORS or owner.op == "call":
            return self.tensors.detached(owner, node)
        return owner if owner.kind == Kind.GRADIENT else None

    def transposed(self, owner: Value, node: ast.Attribute) -> Value | None:
        return self.tensors.function(node.attr, [owner], {}, node) if owner.kind in TENSORS | {Kind.ARRAY} else None

    def visit_Subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        base, index = self.eval(node.value, scope), node.slice
        key = self.eval(index, scope) if not isinstance(index, ast.Slice) else Value()
        count = len(base.items) if base.items is not None and Tag.OPEN not in base.tags else 0
        if base.items is not None and isinstance(key.constant, int) and -count <= key.constant < count:
            return base.items[key.constant]
        if (base.kind == Kind.DICT or base.op == "ModuleDict") and str(key.constant) in base.attributes:
            return base.attributes[str(key.constant)]
        if base.kind == Kind.MODULE and base.items is not None:
            kinds = {layer.op for layer in base.items}
            op = kinds.pop() if len(kinds) == 1 and kinds <= LAYERS else "any"
            return Value(Kind.MODULE, op=op, base=base, tags={Tag.ANY})
        if base.kind == Kind.LIST and isinstance(index, ast.Slice):
            return self.sliced(base, index, scope)
        if base.items and (base.kind == Kind.LIST or (base.kind == Kind.DICT and all(v.leaf for v in base.items))):
            return base.items[0]
        if base.kind in TENSORS | {Kind.ARRAY}:
            computed = key.kind == Kind.TENSOR and (key.cut or key.graph)
            value = self.tensors.like(base, node, "index", (base, key) if computed else (base,), base.form)
            value.shape, value.base = index_shape(base.shape, index, key), base
            return value
        return Value(
            parents=(base,) if base.parents or base.kind == Kind.UNKNOWN else (), graph=base.graph, node=node, op="part"
        )

    def sliced(self, base: Value, index: ast.Slice, scope: Scope) -> Value:
        """Return a slice of a list; with unknown ends an open list of all its items."""
        ends = [self.eval(end, scope).constant if end else None for end in (index.lower, index.upper, index.step)]
        known = [end if type(end) is int else None for end in ends]
        if base.items is None or Tag.OPEN in base.tags or known != ends or known[2] == 0:
            return Value(Kind.LIST, items=base.items, tags=base.tags | {Tag.OPEN})
        return Value(Kind.LIST, items=base.items[slice(*known)])

    def visit_Call(self, node: ast.Call, scope: Scope) -> Value:
        if isinstance(node.func, ast.Name) and scope.find(node.func.id) is None:
            special = self.builtin(node, node.func.id, scope)
            if special is not None:
                return special
        if isinstance(node.func, ast.Attribute) and not self.libraries.library_name(node.func, scope):
            owner = self.eval(node.func.value, scope)
            args, keys = self.arguments(node, scope)
            return self.methods.method_call(owner, node.func.attr, args, keys, node)
        function = self.eval(node.func, scope)
        args, keys = self.arguments(node, scope)
        value = self.calls.call(function, args, keys, node)
        named = isinstance(node.func, ast.Name) and "zero_grad" in node.func.id
        if named or function.name.endswith(".zero_grad"):
            self.state.record_event(EventKind.ZERO, node, Value())  # its name says what it is for
        return value

    def arguments(self, node: ast.Call, scope: Scope) -> tuple[list[Value], dict[str, Value]]:
        args: list[Value] = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                inner = self.eval(part.value, scope)
                args += inner.items if inner.items else [Value(tags={Tag.OPEN}, parents=(inner,))]
            else:
                args.append(self.eval(part, scope))
        keys: dict[str, Value] = {}
        for key in node.keywords:
            value = self.eval(key.value, scope)
            keys |= {key.arg: value} if key.arg else value.attributes if value.kind == Kind.DICT else {}
        return args, keys

    def builtin(self, node: ast.Call, name: str, scope: Scope) -> Value | None:
        if name in {"float", "int"} and len(node.args) == 1:
            value = self.eval(node.args[0], scope)
            return value if value.kind in {Kind.NUMBER, Kind.TEXT} else self.tensors.to_number(value, node)
        if name not in self.builtins:
            return None
        args, keys = self.arguments(node, scope)
        return self.builtins[name](self, args, keys, node)

    def set_by_name(self, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        """Follow setattr(net, "fc", layer)."""
        if len(args) == 3:  # an unknown name becomes one that no text can have
            owner, name, value = args
            self.follower.assign_attribute(owner, str(name.constant or len(owner.attributes)), value, node)
        return Value(Kind.NONE)

    # Attributes of tensors and their like; a handler returns None if the owner's own attribute is meant.
    of_values: ClassVar[dict[str, Callable[["Expressions", Value, ast.Attribute], Value | None]]] = {
        "grad": grad,
        "data": data,
        "T": transposed,
        "mT": transposed,
        "real": transposed,
    }
    builtins: ClassVar[dict[str, Builtin]] = {
        **dict.fromkeys(
            ("list", "tuple", "sorted", "reversed", "iter", "set", "tqdm"),
            lambda self, args, keys, node: args[0] if args else Value(Kind.LIST, items=[]),
        ),
        "dict": lambda self, args, keys, node: named_items(args, keys),
        "next": lambda self, args, keys, node: self.follower.item(args[0], node, 1) if args else None,
        "enumerate": lambda self, args, keys, node: Value(Kind.ENUMERATE, items=args),
        "zip": lambda self, args, keys, node: Value(Kind.ZIP, items=args),
        "range": lambda self, args, keys, node: Value(
            Kind.RANGE, constant=args[0].constant if len(args) == 1 else None
        ),
        "sum": lambda self, args, keys, node: Value(parents=tuple(args[0].items or args[:1])) if args else None,
        "setattr": set_by_name,
        "abs": lambda self, args, keys, node: self.tensors.like(args[0], node, "abs", (args[0],)) if args else None,
        "len": lambda self, args, keys, node: Value(Kind.NUMBER),
    }
