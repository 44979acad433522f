"""Follows a program's text as it would run, with `Value`s for objects, and writes down what happens to them.

Loops are gone through twice, so that the second turn meets what the first one left; both arms of an `if` are followed,
each for itself; functions, methods and `forward` are followed where they are called, with the caller's values, and
those that nobody calls at the end, with values of which nothing is known. Nothing is run.
"""

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field

from lab.failures.reading.facts import (
    ACTIVATIONS,
    BOUNDED,
    CHOICES,
    CONTAINERS,
    CREATORS,
    ELEMENTWISE,
    KEEPS_INPUT,
    KEEPS_OUTPUT,
    LAYERS,
    LIBRARIES,
    LOSS_FUNCTIONS,
    LOSSES,
    MOVES,
    OPTIMIZERS,
    RECURRENT,
    REDUCTIONS,
    Value,
    broadcast,
    modules,
    reach,
)

DEEPEST = 8  # calls inside calls that are followed
MOST_STEPS = 15_000  # expressions looked at in one text: what is beyond is not read
USUAL = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "np": "numpy"}
TENSORS = {"tensor", "parameter"}


class TooMuch(Exception):
    """The text is larger than is followed."""


@dataclass(eq=False, slots=True)
class Event:
    """Something that happens: backward, step, zero, write, read grad, optimizer, log, where, loss, matmul, ..."""

    kind: str
    node: ast.AST
    value: Value
    other: Value | None
    statement: ast.stmt
    block: Sequence[ast.stmt]  # the statements among which it stands
    turns: tuple[tuple[int, int], ...]
    arms: tuple[tuple[int, int], ...]  # which arm of which `if`
    loops: tuple[ast.stmt, ...]
    tests: tuple[ast.If, ...]  # the `if`s in which it stands, inside its loop
    place: ast.AST | None  # the function in which it stands
    again: bool  # in a second, supposed call of a function that the text never calls
    recorded: bool  # False under no_grad
    detail: str = ""


def apart(one: Event, two: Event) -> bool:
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
class Walk:
    """One reading of one text. `events` is what it leaves."""

    events: list[Event] = field(default_factory=list)
    modes: list[ast.AST | None] = field(default_factory=lambda: [None])  # who switched the gradient off; None: it is on
    loops: list[tuple[ast.stmt, int]] = field(default_factory=list)
    arms: list[tuple[int, int]] = field(default_factory=list)
    tests: list[tuple[ast.If, int]] = field(default_factory=list)
    calls: list[tuple[ast.AST, list[Value]]] = field(default_factory=list)
    blocks: list[Sequence[ast.stmt]] = field(default_factory=list)
    statement: ast.stmt = field(default_factory=ast.Pass)
    steps: int = 0
    again: bool = False
    everything: list[Value] = field(default_factory=list)  # modules, optimizers, classes
    followed: set[int] = field(default_factory=set)  # definitions that were called

    # The text as a whole.

    def read(self, tree: ast.Module) -> None:
        scope = Scope(start={name: Value("library", op=full) for name, full in USUAL.items()})
        try:
            self.block(tree.body, scope)
            self.uncalled(scope, tree)
        except (TooMuch, RecursionError):
            return

    def uncalled(self, scope: Scope, tree: ast.Module) -> None:
        """Classes that nobody makes are made, functions that nobody calls are called, twice, as a loop would."""
        for value in list(scope.values()):
            if value.kind == "class" and not self.knows_made(value):
                self.make(value, [], {}, value.node or ast.Constant(None))
        for instance in [v for v in self.everything if isinstance(v.body, Body)]:
            assert isinstance(instance.body, Body)
            self.twice(
                [self.method(instance, name) for name in self.methods(instance.body) if name != "__init__"],
            )
        self.twice([v for v in scope.values() if v.kind == "function"])

    def twice(self, functions: "list[Value | None]") -> None:
        left = [
            f for f in functions
            if f and f.kind == "function" and isinstance(f.body, Body) and id(f.body.definition) not in self.followed
        ]  # fmt: skip
        inside = {name for f in left for name in self.names_called(f)}
        for function in sorted(left, key=lambda f: f.name in inside):
            assert isinstance(function.body, Body)
            if id(function.body.definition) in self.followed:
                continue
            arguments = self.strangers(function.body)
            for self.again in (False, True):
                self.call(function, [], arguments, function.body.definition)
            self.again = False

    @staticmethod
    def names_called(function: Value) -> set[str]:
        assert isinstance(function.body, Body)
        calls = [n.func for n in ast.walk(function.body.definition) if isinstance(n, ast.Call)]
        return {
            f.attr if isinstance(f, ast.Attribute) else f.id for f in calls if isinstance(f, ast.Attribute | ast.Name)
        }

    @staticmethod
    def strangers(body: Body) -> dict[str, Value]:
        """A value of which nothing is known for each parameter without a default."""
        assert not isinstance(body.definition, ast.ClassDef)
        spec = body.definition.args
        every = spec.posonlyargs + spec.args
        free = every[: len(every) - len(spec.defaults)] + [
            a for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is None
        ]
        return {a.arg: Value(name=a.arg) for a in free if not (body.self and a is every[0])}

    def knows_made(self, kind: Value) -> bool:
        return any(v.body is kind.body for v in self.everything)

    def note(self, kind: str, node: ast.AST, value: Value, other: Value | None = None, detail: str = "") -> None:
        if kind == "backward":  # what it needed is let go
            for used in reach(value, live=False):
                used.saved = None
        loops = tuple(loop for loop, _ in self.loops)
        tests = tuple(test for test, depth in self.tests if depth == len(self.loops))
        self.events.append(
            Event(
                kind, node, value, other, self.statement, self.blocks[-1], self.turns(), tuple(self.arms), loops, tests,
                self.calls[-1][0] if self.calls else None, self.again, self.modes[-1] is None, detail,
            )
        )  # fmt: skip

    def turns(self) -> tuple[tuple[int, int], ...]:
        return tuple((id(loop), turn) for loop, turn in self.loops)

    # Statements.

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> bool:
        """Follow statements; True when the rest of the text around them is not reached (return, break, raise)."""
        self.blocks.append(statements)
        try:
            for statement in statements:
                self.statement = statement
                if self.follow(statement, scope):
                    return True
                self.statement = statement
            return False
        finally:
            self.blocks.pop()

    def follow(self, statement: ast.stmt, scope: Scope) -> bool:
        match statement:
            case ast.Expr(value=value):
                self.eval(value, scope)
            case ast.Assign(targets=targets, value=value):
                old = scope.find(targets[0].id) if isinstance(targets[0], ast.Name) else None
                result = self.eval(value, scope)
                if old is not None and result.op == "+" and (old in reach_all(result) or old.kind == "number"):
                    if any(isinstance(n, ast.Name) and n.id == ast.unparse(targets[0]) for n in ast.walk(value)):
                        self.note("gather", statement, result, result)
                for target in targets:
                    self.bind(target, result, scope)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.bind(target, self.eval(value, scope), scope)
            case ast.AugAssign():
                self.augment(statement, scope)
            case ast.If():
                return self.branch(statement, scope)
            case ast.For() | ast.AsyncFor() | ast.While():
                self.loop(statement, scope)
            case ast.With() | ast.AsyncWith():
                return self.within(statement, scope)
            case ast.Try() | ast.TryStar():
                self.block(statement.body, scope)
                for handler in statement.handlers:
                    self.block(handler.body, Scope(scope))
                self.block(statement.orelse, scope)
                return self.block(statement.finalbody, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                function = Value("function", name=statement.name, body=Body(statement, scope))
                function.statement = statement
                scope[statement.name] = function
            case ast.ClassDef():
                self.define(statement, scope)
            case ast.Import(names=names):
                for alias in names:
                    if alias.name.split(".")[0] in LIBRARIES:
                        full = alias.name if alias.asname else alias.name.split(".")[0]
                        scope[alias.asname or full] = Value("library", op=full)
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    known = (module or "").split(".")[0] in LIBRARIES and alias.name != "*"
                    scope[alias.asname or alias.name] = (
                        Value("library", op=f"{module}.{alias.name}") if known else Value(name=alias.name)
                    )
            case ast.Return(value=value):
                result = self.eval(value, scope) if value else Value("none")
                if self.calls:
                    self.calls[-1][1].append(result)
                return True
            case ast.Break() | ast.Continue():
                return True
            case ast.Raise():
                return True
            case ast.Match():
                for case in statement.cases:
                    self.block(case.body, Scope(scope))
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name):
                        scope.pop(target.id, None)
        return False

    def define(self, statement: ast.ClassDef, scope: Scope) -> None:
        bases = [self.eval(base, scope) for base in statement.bases]
        value = Value("class", name=statement.name, body=Body(statement, scope))
        names = {base.op.split(".")[-1] for base in bases if base.kind == "library"}
        if names & {"Module", "LightningModule"} or any("module" in base.marks for base in bases):
            value.marks.add("module")
        if names & {"Function"}:
            value.marks.add("autograd function")
        value.items = [base for base in bases if base.kind == "class"]
        value.statement = statement
        scope[statement.name] = value

    def branch(self, statement: ast.If, scope: Scope) -> bool:
        self.eval(statement.test, scope)
        if "__name__" in ast.dump(statement.test):
            return self.block(statement.body, scope)
        ends, ways = [], []
        for arm, body in enumerate((statement.body, statement.orelse)):
            way = Scope(scope.parent, scope)
            self.arms.append((id(statement), arm))
            self.tests.append((statement, len(self.loops)))
            ends.append(self.block(body, way))
            self.tests.pop()
            self.arms.pop()
            ways.append(way)
        if all(ends):
            return True
        if any(ends):
            scope.update(ways[ends.index(False)])
            return False
        for name in {**ways[0], **ways[1]}:
            one, two = ways[0].get(name), ways[1].get(name)
            if one is None or two is None or one is two:
                scope[name] = one or two or Value()
            else:
                scope[name] = self.either(one, two)
        return False

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

    def loop(self, statement: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> None:
        if not isinstance(statement, ast.While):
            over = self.eval(statement.iter, scope)
        for turn in (1, 2):
            self.loops.append((statement, turn))
            if isinstance(statement, ast.While):
                self.eval(statement.test, scope)
            else:
                self.bind(statement.target, self.item(over, statement.iter, turn), scope)
            self.block(statement.body, scope)
            self.loops.pop()
        self.block(statement.orelse, scope)

    def item(self, over: Value, node: ast.expr, turn: int) -> Value:
        """What a loop over a value gives in one turn."""
        if over.kind == "parameters" and over.items:
            return over.items[min(turn, len(over.items)) - 1] if over.base is None else over.items[0]
        if over.kind == "named" and over.items:
            return Value("list", items=[Value("text"), over.items[0]])
        if over.kind == "enumerate" and over.items:
            return Value("list", items=[Value("number"), self.item(over.items[0], node, turn)])
        if over.kind == "zip" and over.items is not None:
            return Value("list", items=[self.item(v, node, turn) for v in over.items])
        if over.kind == "range":
            return Value("number")
        if over.kind == "loader" and over.items:
            size = over.constant if isinstance(over.constant, int) else None
            parts = [self.tensor(node, "part", (v,), (size, *v.shape[1:]) if v.shape else None) for v in over.items]
            return Value("list", items=parts)
        if over.kind == "modules":
            return Value("module", op="any", marks={"any"})
        if over.kind == "module" and over.items:
            return over.items[min(turn, len(over.items)) - 1]
        if over.items:
            return over.items[min(turn, len(over.items)) - 1]
        if over.kind in TENSORS | {"array"}:
            shape = over.shape[1:] if over.shape else None
            return self.tensor(node, "part", (over,), shape, kind=over.kind if over.kind == "array" else "tensor")
        return Value(parents=(over,) if over.kind == "" and over.parents else (), node=node, turns=self.turns())

    def within(self, statement: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        entered = 0
        for item in statement.items:
            mode = self.mode(item.context_expr, scope)
            if mode is not False:
                self.modes.append(mode)
                entered += 1
            value = self.eval(item.context_expr, scope)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value if value.kind == "" else Value(), scope)
        ended = self.block(statement.body, scope)
        if entered:
            del self.modes[-entered:]
        return ended

    def mode(self, node: ast.expr, scope: Scope) -> "ast.AST | bool | None":
        """The node that switches the gradient off, None where it is switched on, False where neither."""
        call = node.func if isinstance(node, ast.Call) else node
        name = self.library(call, scope).split(".")[-1]
        if name in {"no_grad", "inference_mode"}:
            return node
        if name == "enable_grad":
            return None
        if name == "set_grad_enabled" and isinstance(node, ast.Call) and node.args:
            flag = node.args[0]
            return node if isinstance(flag, ast.Constant) and flag.value is False else None
        return False

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                if value.kind not in {"library", "function", "class"}:
                    value.name = value.name or name
                    value.statement = value.statement or self.statement
                scope[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                given = value.items if value.items is not None and len(value.items) == len(parts) else None
                for i, part in enumerate(parts):
                    self.bind(
                        part.value if isinstance(part, ast.Starred) else part,
                        given[i] if given else self.piece(value, target),
                        scope,
                    )
            case ast.Attribute(value=owner, attr=name):
                self.assign_attribute(self.eval(owner, scope), name, value, target)
            case ast.Subscript(value=owner):
                base = self.eval(owner, scope)
                self.eval(target.slice, scope)
                if base.kind in TENSORS or base.kind == "":
                    self.write(base, target, value, "index")
                    self.settle(owner, base, value, target, scope)

    def settle(self, owner: ast.expr, base: Value, value: Value, node: ast.expr, scope: Scope) -> None:
        """After a write into a part of a tensor, its name stands for a new value of the graph."""
        if isinstance(owner, ast.Name) and base.kind == "tensor" and not (base.leaf and base.graph):
            new = self.tensor(node, "written", (base, value), base.shape)
            new.saved, new.name = base.saved, base.name
            scope[owner.id] = new

    def piece(self, value: Value, node: ast.expr) -> Value:
        """One of several things unpacked from a value of which they are parts."""
        if value.kind in TENSORS:
            return self.tensor(node, "part", (value,))
        return Value(parents=(value,), maybe=value.maybe, graph=value.graph, node=node, turns=self.turns(), op="part")

    def assign_attribute(self, owner: Value, name: str, value: Value, node: ast.expr) -> None:
        if name == "grad":
            self.note("zero", node, owner.base if owner.kind == "parameter" and owner.base else owner)
        elif name == "data":
            if value.op in {"+", "-"} and value.parents and any(p.base is owner for p in reach_all(value)):
                self.note("update", node, owner, value, value.op)
        elif name == "requires_grad":
            if value.constant is False:
                target = owner.base if owner.kind == "parameter" and owner.base else owner
                target.marks.add("frozen")
                owner.marks.add("frozen")
            elif owner.kind in {"tensor", ""}:
                owner.graph, owner.leaf, owner.cut = True, True, ""
        else:
            if value.kind == "module":
                value.marks.add("registered" if owner.kind == "module" else "kept")
            self.note("attribute", node, owner, value, name)
            if value.kind not in {"library", "function", "class"}:
                value.name = value.name or name
            owner.attributes[name] = value

    def augment(self, statement: ast.AugAssign, scope: Scope) -> None:
        value = self.eval(statement.value, scope)
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(statement.op), "?")
        target = statement.target
        old = self.eval(target, scope)
        if isinstance(target, ast.Attribute) and target.attr == "data":
            owner = self.eval(target.value, scope)
            self.note("update", target, owner, value, sign)
            return
        if old.kind in {"list", "text", "dict"}:
            if old.kind == "list" and value.kind == "list" and old.items is not None:
                old.items = old.items + (value.items or [])
                old.marks |= value.marks & {"open"}
            return
        if old.kind in TENSORS and not isinstance(target, ast.Subscript):
            self.write(old, statement, value, sign)
        if isinstance(target, ast.Subscript):
            base = self.eval(target.value, scope)
            if base.kind in TENSORS:
                self.write(base, statement, value, "index")
                self.settle(target.value, base, value, target.value, scope)
            return
        if old.leaf and old.graph:  # an update: the leaf stays what it is
            return
        result = self.arithmetic(sign, old, value, statement.value)
        self.note("gather", statement, result, value, sign)
        self.bind(target, self.renamed(result, old), scope)

    @staticmethod
    def renamed(value: Value, old: Value) -> Value:
        value.name = old.name
        return value

    def write(self, value: Value, node: ast.AST, new: Value, how: str) -> None:
        self.note("write", node, value, new, f"{how} saved" if value.saved is not None else how)

    # Expressions.

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
                    return self.like(inner, node, "neg", (inner,))
                return Value("flag")
            case ast.Compare(left=left, comparators=others):
                values = [self.eval(v, scope) for v in (left, *others)]
                return self.choice(node, values)
            case ast.BoolOp(values=parts):
                return Value(maybe=tuple(self.eval(v, scope) for v in parts))
            case ast.IfExp(test=test, body=body, orelse=other):
                self.eval(test, scope)
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
        found = []
        for turn in range(1, min(len(over.items or []), 16) + 1) if written else (1,):
            self.bind(part.target, self.item(over, part.iter, turn), scope)
            for test in part.ifs:
                self.eval(test, scope)
            found += self.comprehend(rest, elements, scope)
        return found

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
                value.marks = {"updated", "down" if flipped else "up"}
            elif other.op == "neg" or (isinstance(other.constant, int | float) and other.constant < 0):
                value.marks.add("turned")
            return value
        form = ""
        if sign == "-" and one.constant in (1, 1.0) and two.form == "probabilities":
            form = "probabilities"
        if "loss" in {one.form, two.form} and sign in "+-*/":
            form = "loss"
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
            shape = broadcast(one, two)
            return self.tensor(node, sign, (one, two), shape, form, whole, kind="array")
        value = self.like(one if one.kind == "" else two, node, sign, (one, two), form)
        value.graph = True if True in (graph_of(one), graph_of(two)) and self.modes[-1] is None else value.graph
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

    @staticmethod
    def save(value: Value, node: ast.AST) -> None:
        value.saved = node
        if value.base is not None and value.op == "index":
            value.base.saved = node

    def choice(self, node: ast.expr, values: list[Value]) -> Value:
        """A comparison or an argmax: no gradient goes through it."""
        first = values[0]
        if any(v.kind in TENSORS for v in values):
            value = self.tensor(node, "choice", [v for v in values if v.kind in TENSORS], first.shape)
            if value.cut != "no_grad" and value.graph is not False:
                value.cut, value.cut_by = "choice", node
            value.graph, value.whole = False, True
            return value
        if any(v.kind == "array" for v in values):
            return Value("array", op="choice", shape=first.shape, graph=False, whole=True)
        return Value(
            "flag" if all(v.kind in {"number", "text", "flag", "none"} for v in values) else "", parents=tuple(values)
        )

    def attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        owner, name = self.eval(node.value, scope), node.attr
        if owner.kind == "library":
            return Value("library", op=f"{owner.op}.{name}")
        if name == "grad":
            if owner.kind in TENSORS or owner.kind == "":
                self.note("read grad", node, owner)
                return Value("gradient", base=owner, op="grad", node=node)
            return Value()
        if name == "data" and owner.kind in TENSORS:
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

    def detached(self, owner: Value, node: ast.expr) -> Value:
        value = self.tensor(node, "detach", (owner,), owner.shape, owner.form, owner.whole)
        if value.graph is not False and not value.cut:
            value.cut, value.cut_by = "detach", node
        value.graph, value.double = False, owner.double
        return value

    def subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        base, index = self.eval(node.value, scope), node.slice
        key = self.eval(index, scope) if not isinstance(index, ast.Slice) else Value("slice")
        if base.items is not None and isinstance(key.constant, int) and "open" not in base.marks:
            if -len(base.items) <= key.constant < len(base.items):
                return base.items[key.constant]
        if base.kind == "dict" and str(key.constant) in base.attributes:
            return base.attributes[str(key.constant)]
        if base.kind == "module" and base.items is not None:
            if isinstance(index, ast.Slice):
                ends = [self.eval(e, scope).constant if e else None for e in (index.lower, index.upper)]
                if all(e is None or isinstance(e, int) for e in ends):
                    return Value("module", op="Sequential", items=base.items[slice(*ends)], node=node)  # type: ignore[misc]
            return Value("module", op="any", parents=(), marks={"any"})
        if base.items and base.kind == "list":
            return base.items[0]
        if base.kind in TENSORS | {"array"}:
            value = self.like(base, node, "index", (base,), base.form)
            value.shape, value.base = index_shape(base.shape, index), base
            return value
        if base.kind == "gradient":
            return base
        return Value(parents=(base,) if base.parents or base.kind == "" else (), graph=base.graph, node=node, op="part")

    # Calls.

    def library(self, node: ast.expr, scope: Scope) -> str:
        """The full name of what a dotted name of a library stands for; empty where it is none."""
        if isinstance(node, ast.Name):
            found = scope.find(node.id)
            return found.op if found is not None and found.kind == "library" else ""
        if isinstance(node, ast.Attribute):
            root = self.library(node.value, scope)
            return f"{root}.{node.attr}" if root else ""
        return ""

    def called(self, node: ast.Call, scope: Scope) -> Value:
        if isinstance(node.func, ast.Name) and scope.find(node.func.id) is None:
            special = self.builtin(node, node.func.id, scope)
            if special is not None:
                return special
        if isinstance(node.func, ast.Attribute) and not self.library(node.func, scope):
            if isinstance(node.func.value, ast.Call) and isinstance(node.func.value.func, ast.Name):
                if node.func.value.func.id == "super":
                    return self.call_super(node, scope)
            owner = self.eval(node.func.value, scope)
            args, keys = self.arguments(node, scope)
            return self.method_call(owner, node.func.attr, args, keys, node, scope)
        function = self.eval(node.func, scope)
        args, keys = self.arguments(node, scope)
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
                self.eval(key.value, scope)
        return args, keys

    def builtin(self, node: ast.Call, name: str, scope: Scope) -> Value | None:
        if name in {"float", "int"} and len(node.args) == 1:
            value = self.eval(node.args[0], scope)
            if value.kind == "number" or value.kind == "text":
                return Value(
                    "number", constant=value.constant, parents=value.parents, cut=value.cut, cut_by=value.cut_by
                )
            return self.to_number(value, node)
        args, keys = [], {}
        if name in {"list", "tuple", "sorted", "reversed", "iter", "set", "next", "enumerate", "zip", "range", "sum", "len",
                    "dict", "print", "abs", "max", "min", "isinstance", "filter", "map", "super", "tqdm"}:  # fmt: skip
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
            return Value("range")
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

    def call(self, function: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        if function.kind == "class":
            return self.make(function, args, keys, node)
        if function.kind == "module":
            return self.forward(function, args, keys, node)
        if function.kind == "loss" and isinstance(node, ast.expr):
            return self.loss(function.op, args, keys | function.attributes, node)
        if function.kind == "function" and isinstance(function.body, Body):
            return self.call_body(function, function.body, args, keys)
        inputs = (function, *args, *keys.values())
        value = Value(parents=tuple(v for v in inputs if v.kind in {"", "module", "list"} | TENSORS), op="call")
        value.turns, value.node, value.statement = (
            self.turns(),
            node if isinstance(node, ast.expr) else None,
            self.statement,
        )
        mode = self.modes[-1]
        if mode is not None:
            value.graph, value.cut, value.cut_by = False, "no_grad", mode
        for v in inputs[1:]:
            v.marks.add("given away")
        return value

    def call_body(self, function: Value, body: Body, args: list[Value], keys: dict[str, Value]) -> Value:
        definition = body.definition
        if isinstance(definition, ast.ClassDef):
            return Value()
        if len(self.calls) >= DEEPEST or any(d is definition for d, _ in self.calls):
            return Value(parents=tuple(args))
        self.followed.add(id(definition))
        scope = Scope(body.scope)
        spec = definition.args
        names = [a.arg for a in spec.posonlyargs + spec.args]
        if body.self is not None and names:
            scope[names.pop(0)] = body.self
        if any("open" in a.marks for a in args):
            args = []
        bound = set()
        for name, value in [*zip(names, args, strict=False), *keys.items()]:
            scope[name] = value
            bound.add(name)
        defaults = dict(
            zip(reversed([a.arg for a in spec.posonlyargs + spec.args]), reversed(spec.defaults), strict=False)
        )
        defaults |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
        for name in [*names, *(a.arg for a in spec.kwonlyargs)]:
            if name not in bound:
                # A default says what may come, not what comes: only a number is taken at its word.
                given = self.eval(defaults[name], body.scope) if name in defaults else Value(name=name)
                scope[name] = given if given.kind in {"number", "none", "text"} else Value(name=name)
                if given.kind == "none":
                    scope[name] = Value(name=name)
        for extra in (spec.vararg, spec.kwarg):
            if extra is not None:
                scope[extra.arg] = Value(name=extra.arg)
        if isinstance(definition, ast.Lambda):
            return self.eval(definition.body, scope)
        modes = [m for d in definition.decorator_list if (m := self.mode(d, body.scope)) is not False]
        saved = self.statement
        self.modes += modes
        self.calls.append((definition, []))
        self.block(definition.body, scope)
        _, results = self.calls.pop()
        if modes:
            del self.modes[-len(modes) :]
        self.statement = saved
        if not results:
            return Value("none")
        result = results[0]
        for other in results[1:]:
            result = self.either(result, other) if other is not result else result
        return result

    def methods(self, body: Body) -> list[str]:
        assert isinstance(body.definition, ast.ClassDef)
        return [s.name for s in body.definition.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]

    def method(self, owner: Value, name: str, above: bool = False) -> Value | None:
        """A method of an object of one of the text's classes, bound to it."""
        if not isinstance(owner.body, Body) or not isinstance(owner.body.definition, ast.ClassDef):
            return None
        stack = [] if above else [owner.body]
        kind = owner.body.scope.find(owner.body.definition.name)
        if kind is not None:
            stack += [base.body for base in kind.items or [] if isinstance(base.body, Body)]
        for body in stack:
            assert isinstance(body.definition, ast.ClassDef)
            for part in body.definition.body:
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name == name:
                    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in part.decorator_list)
                    bound = Body(part, body.scope, None if static else owner)
                    if any(isinstance(d, ast.Name) and d.id == "property" for d in part.decorator_list):
                        return self.call_body(Value(), bound, [], {})
                    return Value("function", body=bound, name=name)
        return None

    def call_super(self, node: ast.Call, scope: Scope) -> Value:
        args, keys = self.arguments(node, scope)
        assert isinstance(node.func, ast.Attribute)
        owner = scope.find("self")
        if owner is not None and (method := self.method(owner, node.func.attr, above=True)) is not None:
            return self.call(method, args, keys, node)
        return Value()

    def make(self, kind: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        """An object of one of the text's classes."""
        module = "module" in kind.marks
        value = Value("module" if module else "instance", op="module" if module else "object", body=kind.body)
        value.node, value.statement = node if isinstance(node, ast.expr) else None, self.statement
        if "autograd function" in kind.marks:
            value.kind = "autograd function"
            return value
        self.everything.append(value)
        start = self.method(value, "__init__")
        if start is not None:
            self.call(start, args, keys, node)
        assert isinstance(kind.body, Body)
        value.name = ""
        return value

    def forward(self, module: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        module.marks.add("called")
        body = self.method(module, "forward") or self.method(module, "__call__")
        if body is not None:
            result = self.call(body, args, keys, node)
            if result.kind == "" and not result.parents:
                result.parents = (module,)
            return result
        place = module.node if isinstance(node, ast.stmt) or not isinstance(node, ast.expr) else node
        at = place if isinstance(place, ast.expr) else ast.Constant(None)
        if module.op == "Sequential" and module.items is not None and "open" not in module.marks:
            value = args[0] if args else Value()
            for layer in module.items:
                value = self.call(layer, [value], {}, layer.node if inline(layer, module) else at)
            return value
        first = args[0] if args else Value()
        if module.op in RECURRENT:
            return self.recurrent(module, args, at)
        if module.op in {"Dropout", "Identity"}:
            return first
        if module.op in ACTIVATIONS:
            return self.function(ACTIVATIONS[module.op], args, keys, at)
        if module.op in LOSSES:
            return self.loss(LOSSES[module.op], args, keys | module.attributes, at)
        if module.op in {"Flatten"}:
            return self.method_call(first, "flatten", [Value("number", constant=1)], {}, at, None)
        shape = None
        if module.op in {"Linear", "MLP"}:
            width = module.attributes.get("out")
            out = width.constant if width is not None and isinstance(width.constant, int) else None
            shape = (*first.shape[:-1], out) if first.shape else None
            if first.kind == "tensor" and first.whole and module.op == "Linear":
                self.note("whole input", at, first, module)
        value = self.tensor(at, module.op if module.op in LAYERS else "module", (first, module), shape)
        if module.op not in LAYERS:
            value.graph = None if value.graph is not False or not value.cut else False
            value.op = "call"
        if graph_of(module):
            self.save(first, at)
        return value

    def recurrent(self, module: Value, args: list[Value], node: ast.expr) -> Value:
        out = self.tensor(node, module.op, (*args, module))
        states = [self.tensor(node, module.op, (out,)) for _ in range(2)]  # of the same graph as the output
        if module.op in {"GRUCell", "RNNCell"}:
            return out
        if module.op == "LSTMCell":
            return Value("list", items=states, node=node)
        state = Value("list", items=states, node=node) if module.op == "LSTM" else states[0]
        return Value("list", items=[out, state], node=node)

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
        if name in LOSS_FUNCTIONS:
            return self.loss(name, args, keys, node)
        if name in {"linear", "conv2d"} or name in {"matmul", "mm", "bmm", "mv", "dot"}:
            if name in {"matmul", "mm"} and len(args) > 1:
                return self.arithmetic("@", args[0], args[1], node)
            return self.tensor(node, "matmul", args)
        if name in {"add", "sub", "subtract", "mul", "multiply", "div"} and len(args) > 1:
            sign = {"a": "+", "s": "-", "m": "*", "d": "/"}[name[0]]
            return self.arithmetic(sign, args[0], args[1], node)
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
        if name in KEEPS_OUTPUT:
            value = self.like(first, node, name, (first,))
            return self.kept(value, value, node)
        if name in KEEPS_INPUT:
            return self.kept(self.like(first, node, name, (first,)), first, node)
        if name in BOUNDED | ELEMENTWISE:
            return self.like(first, node, name, (first,))
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

    def library_call(self, full: str, args: list[Value], keys: dict[str, Value], node: ast.Call, scope: Scope) -> Value:
        name = full.split(".")[-1]
        root = full.split(".")[0]
        if root == "math":
            return Value("number")
        if name in LAYERS | CONTAINERS | ACTIVATIONS.keys() | LOSSES.keys() | {
            "Dropout",
            "Identity",
            "Flatten",
            "Dropout2d",
        }:
            return self.layer(name, args, keys, node)
        if name in OPTIMIZERS and (root == "model" or ".optim" in full):
            return self.optimizer(name, args, keys, node)
        if name in {"GradScaler"}:
            return Value("scaler")
        if "lr_scheduler" in full:
            value = Value("scheduler")
            self.note("scheduler", node, value)
            return value
        if name in {"Parameter"}:
            value = args[0] if args and args[0].kind == "tensor" else Value("tensor", node)
            return Value("parameter", node, self.statement, value.op, graph=True, leaf=True, shape=value.shape)
        if name == "gradcheck":
            self.note("gradcheck", node, args[1] if len(args) > 1 else keys.get("inputs", Value()))
            return Value("flag")
        if ".init." in full and name.endswith("_"):
            self.note("init", node, args[0] if args else Value(), args[1] if len(args) > 1 else None, name)
            return args[0] if args else Value()
        if name == "set_grad_enabled":
            flag = node.args[0] if node.args else None
            if isinstance(self.statement, ast.Expr) and self.statement.value is node and isinstance(flag, ast.Constant):
                self.modes[-1] = None if flag.value else node
            return Value("none")
        if full.endswith("autograd.backward") and args:
            self.note("backward", node, args[0], detail="functional")
            return Value("none")
        if full.endswith("autograd.grad"):
            if args:
                self.note("used", node, args[0])
            return Value("list", items=[Value()], marks={"open"})
        if name in {"deepcopy"}:
            return Value("module", op="any", marks={"any", "eval"})
        if name == "TensorDataset":
            return Value("dataset", items=args)
        if name == "DataLoader" and args and args[0].kind == "dataset":
            size = keys.get("batch_size", args[1] if len(args) > 1 else Value())
            return Value("loader", items=args[0].items, constant=size.constant)
        if root == "torchvision" or "hub" in full or name in {"Categorical", "DataLoader", "Compose"}:
            return Value(parents=tuple(a for a in args if a.graph), op="call", name="")
        if root == "model" and name in {"Tensor"}:
            first = args[0] if args else Value()
            shape = first.shape if first.kind in {"array", "tensor"} else () if first.kind == "number" else None
            value = self.tensor(node, "Tensor", (first,) if first.cut else (), shape)
            value.graph, value.leaf, value.double = True, True, True
            value.marks.add("engine")
            return value
        if (name in CREATORS and root in {"torch", "numpy"}) or (root == "numpy" and "random" in full):
            return self.create(name, args, keys, node, "array" if root == "numpy" else "tensor")
        if root == "numpy":
            kinds = [a for a in args if a.kind in {"array", "tensor"}]
            value = self.function(name, args, keys, node)
            if value.kind == "tensor" and not any(a.kind in TENSORS for a in kinds):
                value.kind = "array"
            return value
        if name in {"manual_seed", "device", "save", "load", "is_available", "autocast", "no_grad", "Generator"}:
            return Value("text")
        if root in {"torch", "model"}:
            known = (
                LOSS_FUNCTIONS | CHOICES | REDUCTIONS | BOUNDED | ELEMENTWISE | MOVES | KEEPS_OUTPUT
                | {"linear", "matmul", "mm", "bmm", "mv", "dot", "add", "sub", "mul", "div", "stack", "cat", "min"}
            )  # fmt: skip
            if name == "where" and len(node.args) == 3:
                tested = {n.id: scope.find(n.id) for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)}
                risky = [n for n, v in tested.items() if v is not None and v.op not in BOUNDED and v.graph is not False]
                self.note("where", node, args[0], None, " ".join(risky))
            if name in known:
                return self.function(name, args, keys, node)
            return self.call(Value("library", op=full), args, keys, node)
        return self.call(Value(), args, keys, node)

    def layer(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        value = Value("module", node, self.statement, name, attributes={}, graph=True if name in LAYERS else None)
        if name in {"Linear", "MLP"}:
            out = args[1] if len(args) > 1 else keys.get("out_features", keys.get("n_out"))
            if name == "MLP":
                sizes = args[0].items if args else None
                out = sizes[-1] if sizes and args and "open" not in args[0].marks else None
            if out is not None:
                value.attributes["out"] = out
            if "init" in keys and keys["init"].constant == "zeros":
                self.note("zero layer", node, value, None, name)
        if name in CONTAINERS:
            if len(args) == 1 and args[0].kind in {"list", "dict"}:
                value.items = args[0].items
                value.marks |= args[0].marks & {"open"}
            else:
                value.items = args
            if any("open" in a.marks for a in args):
                value.marks.add("open")
            for item in value.items or []:
                item.marks.add("registered")
        if name in LOSSES:
            value.attributes = {k: v for k, v in keys.items() if k == "reduction"}
        self.everything.append(value)
        return value

    def optimizer(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        given = args[0] if args else keys.get("params", keys.get("parameters", Value()))
        value = Value("optimizer", node, self.statement, name, (given,))
        rate = keys.get("lr", args[1] if len(args) > 1 else Value())
        value.attributes["lr"] = rate
        value.items = owners(given)
        self.everything.append(value)
        self.note("optimizer", node, value, given)
        return value

    def create(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call, kind: str) -> Value:
        first = args[0] if args else Value()
        value = self.tensor(
            node, name, [a for a in args if a.cut or a.graph or a.kind in TENSORS | {"array"}], kind=kind
        )
        wants = keys.get("requires_grad")
        value.leaf = True
        value.shape = created_shape(name, args, keys)
        if name == "from_numpy":
            value.shape, value.whole = first.shape, first.whole
        value.whole = whole_numbers(name, args, keys, node) if name != "from_numpy" else first.whole
        dtype = keys.get("dtype")
        value.double = None if dtype is not None else False
        if dtype is not None and any(
            isinstance(n, ast.Attribute) and n.attr in {"double", "float64"} for n in ast.walk(node)
        ):
            value.double = True
        if kind == "tensor":
            lost = next((p for part in value.parents for p in reach(part, live=False) if p.graph or p.cut), None)
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

    def method_call(
        self, owner: Value, name: str, args: list[Value], keys: dict[str, Value], node: ast.AST, scope: Scope | None
    ) -> Value:
        at = node if isinstance(node, ast.expr) else ast.Constant(None)
        found = owner.attributes.get(name)
        if found is not None and found.kind in {"module", "function", "optimizer"}:
            return self.call(found, args, keys, node)
        if owner.kind in {"module", "instance"} and (method := self.method(owner, name)) is not None:
            return self.call(method, args, keys, node)
        if owner.kind in TENSORS | {"", "number", "array", "list"} and name == "backward":
            if args and args[0].kind in {"tensor", ""} and args[0].graph is not False and owner.kind == "":
                self.note("backward", at, args[0], None, "given")  # accelerator.backward(loss)
                return Value("none")
            keep = keys.get("retain_graph")
            detail = "retain" if keep is not None and keep.constant is not False else ""
            detail += " given" if args or "gradient" in keys or "grad" in keys else ""
            self.note("backward", at, owner, None, detail)
            return Value("none")
        if name == "zero_grad":
            self.note("zero", at, owner)
            if owner.kind == "":
                owner.marks.add("trained")
            return Value("none")
        if name == "step":
            return self.take_step(owner, args, at)
        if name in {"scale"} and (owner.kind == "scaler" or (owner.kind == "" and "scaler" in owner.name.lower())):
            return args[0] if args else Value()
        if owner.kind == "gradient":
            if name in {"zero_", "fill_"}:
                target = owner.base or Value()
                self.note("zero", at, target.base if target.kind == "parameter" and target.base else target)
            if name == "sign":
                return Value("gradient", base=owner.base, op="sign", marks={*owner.marks, "sign"})
            return (
                Value("gradient", base=owner.base, op=owner.op, marks=owner.marks)
                if name in {"data", "clone", "detach", "clamp"}
                else Value()
            )
        if name in {"parameters", "named_parameters", "state_dict", "load_state_dict", "train", "eval", "modules", "apply",
                    "requires_grad_", "register_buffer", "add_module", "register_module", "cuda", "to", "double", "children",
                    "named_modules", "compile", "register_parameter"} and owner.kind in {"module", ""}:  # fmt: skip
            return self.module_call(owner, name, args, keys, at)
        if owner.kind == "module" and owner.items is not None and name in {"append", "extend"} and args:
            args[0].marks.add("registered")
            owner.items = [*owner.items, *(args[:1] if name == "append" else args[0].items or [])]
            owner.marks.add("open")
            return owner
        if owner.kind in {"list", "dict"}:
            return self.list_call(owner, name, args, keys, at)
        if owner.kind == "number" or owner.kind == "text":
            return Value(owner.kind)
        if owner.kind == "array":
            if name in {"argmax", "argmin"}:
                return Value("array", graph=False, whole=True)
            return self.function(name, [owner, *args], keys, at)
        if owner.kind in TENSORS or (owner.kind == "" and owner.graph):
            return self.tensor_call(owner, name, args, keys, at, scope)
        return self.unknown_call(owner, name, args, keys, at)

    def unknown_call(self, owner: Value, name: str, args: list[Value], keys: dict[str, Value], at: ast.expr) -> Value:
        if owner.kind == "autograd function":
            return self.tensor(at, "function", args)
        if owner.kind == "class":
            return Value(parents=tuple(args))
        if name in {"item", "numpy", "tolist"}:
            return self.to_number(owner, at, "numpy" if name == "numpy" else "item")
        if name in {"detach"}:
            value = self.detached(owner, at)
            value.kind = ""
            value.graph = False
            return value
        if name in {"float", "long", "int", "double", "mean", "sum", "squeeze", "view", "reshape", "log_softmax", "softmax",
                    "sigmoid", "log", "exp", "relu", "tanh", "flatten", "unsqueeze", "argmax", "cpu", "clone", "sqrt"}:  # fmt: skip
            if name in {"argmax", "long", "int"}:
                return Value(parents=(owner,), op=name)
            value = self.function(name, [owner, *args], keys, at)
            value.whole = None
            return value
        value = self.call(Value(parents=(owner,)), args, keys, at)
        if owner.kind in {"module", ""}:
            value.parents = (owner, *value.parents)
        return value

    def take_step(self, owner: Value, args: list[Value], at: ast.expr) -> Value:
        if owner.kind == "scheduler" or "sched" in owner.name.lower():
            self.note("scheduler", at, owner)
            return Value("none")
        scaler = owner.kind == "scaler" or "scaler" in owner.name.lower()
        if scaler and args:
            self.note("step", at, args[0])
            return Value("none")
        if args and args[0].kind == "function":
            self.call(args[0], [], {}, at)
            self.note("step", at, owner, None, "closure")
            return Value()
        if owner.kind == "optimizer" or (owner.kind == "" and not args):
            self.note("step", at, owner)
            return Value()
        return Value(parents=tuple(args))

    def module_call(self, owner: Value, name: str, args: list[Value], keys: dict[str, Value], at: ast.expr) -> Value:
        if owner.kind == "" and owner.graph is not None and name in {"cuda", "to", "double"}:
            return self.tensor_call(owner, name, args, keys, at, None)
        if owner.kind == "" and name in {"cuda", "to"}:
            return owner
        if owner.kind == "" and name == "double":
            return Value(parents=(owner,), double=True)
        if owner.kind == "" and name not in {"apply", "compile"}:
            if name == "requires_grad_":
                owner.graph, owner.leaf = True, True
                return owner
            owner.kind, owner.op = "module", "any"
            owner.marks.add("any")
        if name in {"parameters", "named_parameters", "state_dict"}:
            one = Value("parameter", at, self.statement, "parameter", graph=True, leaf=True, base=owner)
            owner.marks.add("exposed" if name == "parameters" else "copied")
            return Value("named" if name != "parameters" else "parameters", items=[one], base=owner)
        if name in {"eval", "load_state_dict"}:
            owner.marks.add("eval")
            self.note("eval", at, owner)
        if name == "train" and not args:
            self.note("train", at, owner)
        if name == "requires_grad_" and args and args[0].constant is False:
            owner.marks.add("frozen")
        if name in {"modules", "children", "named_modules"}:
            return Value("modules" if name != "named_modules" else "", base=owner)
        if name == "apply" and args and args[0].kind == "function":
            self.call(args[0], [Value("module", op="any", marks={"any"})], {}, at)
        if name in {"add_module", "register_module"} and len(args) > 1:
            args[1].marks.add("registered")
            owner.attributes[str(args[0].constant)] = args[1]
            return Value("none")
        if name == "register_buffer" and len(args) > 1:
            owner.attributes[str(args[0].constant)] = args[1]
            return Value("none")
        return owner

    def list_call(self, owner: Value, name: str, args: list[Value], keys: dict[str, Value], at: ast.expr) -> Value:
        if name == "append" and args:
            self.note("append", at, owner, args[0])
            owner.items = [*(owner.items or []), args[0]][:64]
            if self.loops:
                owner.marks |= {"open", "partly"}
        elif name == "extend" and args:
            owner.items = [*(owner.items or []), *(args[0].items or [])][:64]
            owner.marks |= {"open", "partly"} if self.loops or not args[0].items else {"open"}
        elif name in {"values"}:
            return Value("list", items=owner.items, marks={"open"})
        elif name == "items":
            return Value("named", items=owner.items) if owner.items else Value()
        elif name == "detach":
            return Value("list", items=[self.detached(v, at) for v in owner.items or []])
        return (
            Value("list", items=owner.items, marks={"open"})
            if name in {"copy"}
            else Value(parents=tuple(owner.items or []))
        )

    def tensor_call(
        self, owner: Value, name: str, args: list[Value], keys: dict[str, Value], at: ast.expr, scope: Scope | None
    ) -> Value:
        if name == "detach":
            return self.detached(owner, at)
        if name in {"item", "tolist"}:
            return self.to_number(owner, at)
        if name in {"numpy", "__array__"}:
            return self.to_number(owner, at, "numpy")
        if name == "requires_grad_":
            if args and args[0].constant is False:
                owner.marks.add("frozen")
                return owner
            value = owner
            value.graph, value.leaf = True, True
            if value.whole:
                self.note("whole leaf", at, value)
            return value
        if name == "retain_grad":
            owner.marks.add("retained")
            return Value("none")
        if name in {"size", "dim", "numel", "nelement"}:
            dim = args[0].constant if args else None
            if name == "size" and isinstance(dim, int) and owner.shape and -len(owner.shape) <= dim < len(owner.shape):
                return Value("number", constant=owner.shape[dim])
            return Value("number" if name != "size" or args else "list")
        if name == "detach_":
            owner.parents, owner.graph, owner.cut = (), False, ""
            return owner
        if name.endswith("_") and not name.endswith("__"):
            if name in {"cpu_", "share_memory_"}:
                return owner
            other = args[0] if args else Value("none")
            self.note("write", at, owner, other, {"add_": "+", "sub_": "-"}.get(name, "method"))
            if owner.kind == "parameter" or owner.leaf:
                return owner
            return self.function(name.rstrip("_"), [owner, *args], keys, at)
        if name in {"long", "int", "bool", "byte"}:
            value = self.like(owner, at, "whole", (owner,))
            value.whole, value.graph = True, False
            return value
        if name in {"new_zeros", "new_ones", "new_tensor", "new_full"}:
            return Value("tensor", at, self.statement, name, graph=False)
        if name in {"max", "min"} and (args or keys):
            both = self.tensor(at, name, (owner,))
            return Value("list", items=[both, self.choice(at, [owner])])
        if name in {"topk", "sort"}:
            return Value("list", items=[self.tensor(at, name, (owner,)), self.choice(at, [owner])])
        if name in {"chunk", "split", "unbind"}:
            return Value("list", items=[self.tensor(at, "part", (owner,))], marks={"open"})
        if name == "register_hook":
            return Value()
        return self.function(name, [owner, *args], keys, at)


def reach_all(value: Value) -> list[Value]:
    return [value, *value.parents, *(p for parent in value.parents for p in parent.parents)]


def graph_of(value: Value) -> bool | None:
    if value.kind == "module":
        if "frozen" in value.marks:
            return None
        return True if value.op in LAYERS else None
    if value.kind == "parameter":
        return None if "frozen" in value.marks or (value.base and "frozen" in value.base.marks) else True
    if value.kind in {"number", "flag", "text", "none", "array", "gradient"}:
        return False
    if value.kind == "list":
        flags = [graph_of(v) for v in value.items or []]
        return True if True in flags else None if None in flags or value.items is None else False
    return value.graph


def inline(layer: Value, container: Value) -> bool:
    """Is the layer written out inside the container's own call?"""
    return (
        container.node is not None and layer.node is not None and any(n is layer.node for n in ast.walk(container.node))
    )


def owners(given: Value) -> list[Value] | None:
    """The modules and leaves that an optimizer was given; None where that is not known for certain."""
    if given.kind == "parameters" and given.base is not None:
        return [given.base]
    if given.kind in TENSORS:
        return [given.base if given.kind == "parameter" and given.op == "parameter" and given.base else given]
    if given.kind == "dict" and "params" in given.attributes:
        return owners(given.attributes["params"])
    if given.kind == "list" and given.items is not None and "partly" not in given.marks:
        found: list[Value] = []
        for item in given.items:
            inner = owners(item)
            if inner is None:
                return None
            found += inner
        return found
    if given.kind == "named" and given.base is not None:
        return [given.base]
    return None


def column_pair(one: Value, two: Value) -> bool:
    return one.shape is not None and two.shape is not None and {len(one.shape), len(two.shape)} == {1, 2}


def matmul_shape(one: Value, two: Value) -> tuple[int | None, ...] | None:
    if one.shape is None or two.shape is None or not one.shape or not two.shape:
        return None
    if len(two.shape) == 1:
        return one.shape[:-1]
    return (*one.shape[:-1], two.shape[-1]) if len(one.shape) > 1 else two.shape[1:]


def index_shape(shape: tuple[int | None, ...] | None, index: ast.expr) -> tuple[int | None, ...] | None:
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    if shape is None or len(parts) > len(shape):
        return None
    left: list[int | None] = []
    for size, part in zip(shape, parts, strict=False):
        if isinstance(part, ast.Slice):
            left.append(size if part.lower is part.upper is part.step is None else None)
        elif (isinstance(part, ast.Constant) and isinstance(part.value, int) and not isinstance(part.value, bool)) or (
            isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant)
        ):
            continue
        else:
            return None
    return (*left, *shape[len(parts) :])


def moved_shape(
    name: str, shape: tuple[int | None, ...] | None, numbers: list[object]
) -> tuple[int | None, ...] | None:
    sizes = [n if isinstance(n, int) and not isinstance(n, bool) else None for n in numbers]
    if name in {"view", "reshape"}:
        if not numbers:
            return None
        if sizes == [-1]:
            total: int | None = 1
            for n in shape or (None,):
                total = total * n if total is not None and n is not None else None
            return (total,) if shape is not None else (None,)
        return tuple(None if n == -1 else n for n in sizes)
    if shape is None:
        return None
    axis = sizes[0] if sizes else None
    if name == "unsqueeze" and axis is not None:
        at = axis % (len(shape) + 1)
        return (*shape[:at], 1, *shape[at:])
    if name == "squeeze":
        if axis is None:
            return tuple(n for n in shape if n != 1) if None not in shape and not numbers else None
        at = axis % len(shape) if shape else 0
        return tuple(n for i, n in enumerate(shape) if not (i == at and n == 1))
    if name in {"to", "cuda", "cpu", "clone", "contiguous", "float", "double", "half", "type", "astype", "bfloat16"}:
        return shape
    if name == "flatten" and len(shape) == 2 and axis == 1:
        return shape
    return None


def created_shape(name: str, args: list[Value], keys: dict[str, Value]) -> tuple[int | None, ...] | None:
    first = args[0] if args else Value()
    if name.endswith("_like"):
        return first.shape
    if name in {"tensor", "as_tensor", "array", "Tensor", "FloatTensor"}:
        return literal_shape(first)
    if name in {"arange", "randperm"}:
        stop = first.constant if len(args) == 1 else None
        return (int(stop) if isinstance(stop, int | float) else None,)
    if name in {"linspace", "logspace"}:
        count = args[2].constant if len(args) > 2 else None
        return (count if isinstance(count, int) else None,)
    if name == "randint":
        sizes = keys.get("size") or (args[-1] if args else Value())
    elif name in {"zeros", "ones", "randn", "rand", "empty", "full"}:
        sizes = first if first.kind == "list" or name == "full" else Value("list", items=args)
    elif name == "normal" and "size" in keys:
        sizes = keys["size"]
    else:
        return None
    if sizes.kind == "number":
        sizes = Value("list", items=[sizes])
    if sizes.items is None or "open" in sizes.marks:
        return None
    return tuple(v.constant if isinstance(v.constant, int) else None for v in sizes.items)


def literal_shape(value: Value) -> tuple[int | None, ...] | None:
    if value.kind == "number":
        return ()
    if value.kind == "list" and value.items and "open" not in value.marks:
        inner = literal_shape(value.items[0])
        return None if inner is None else (len(value.items), *inner)
    return value.shape if value.kind in {"array", "tensor"} else None


def whole_numbers(name: str, args: list[Value], keys: dict[str, Value], node: ast.Call) -> bool | None:
    dtype = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    if dtype is not None:
        word = dtype.attr if isinstance(dtype, ast.Attribute) else ""
        return word.startswith(("int", "long", "uint")) if word else None
    if name in {"randint", "randperm"}:
        return True
    if name in {"arange", "tensor"}:
        found = leaves(args)
        if not found or any(not isinstance(v.constant, int | float) for v in found):
            return None
        return all(isinstance(v.constant, int) for v in found)
    return False if name in {"zeros", "ones", "randn", "rand", "eye", "linspace"} else None


def leaves(values: list[Value]) -> list[Value]:
    return [leaf for v in values for leaf in (leaves(v.items) if v.items is not None else [v])]
