"""Follows a program's text as it would run, with `Value`s for objects, and records what happens to them.

Each loop is followed for two iterations at least, so that the second meets what the first left behind. The arms of an
`if` are followed separately. Functions and methods are followed where they are called, with the caller's values; those
that are never called follow at the end, with unknown arguments. Nothing is run.
"""

import ast
from collections.abc import Sequence

from lab.failures.analysis.calls import Calls
from lab.failures.analysis.expressions import Expressions
from lab.failures.analysis.facts import TENSORS, Body, Scope, Value, close_ancestors
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.libraries import Libraries
from lab.failures.analysis.methods import Methods
from lab.failures.analysis.registry import LIBRARIES, OPTIMIZERS
from lab.failures.analysis.shapes import known_turns, leaves
from lab.failures.analysis.state import AnalysisState
from lab.failures.analysis.syntax import called
from lab.failures.analysis.tensors import Tensors
from lab.failures.analysis.work import TextTooLong, limited, walk

USUAL_NAMES = {  # what a fragment means by a name that it does not import
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "plt": "matplotlib.pyplot",
    "Variable": "torch.autograd.Variable",
    "Function": "torch.autograd.Function",
    "DataLoader": "torch.utils.data.DataLoader",
    "TensorDataset": "torch.utils.data.TensorDataset",
    **{name: f"torch.optim.{name}" for name in OPTIMIZERS},
}

MAX_TURNS = 16  # followed in a loop over listed items


class Interpreter:
    """The interpreter of one text; `state` holds its record."""

    def __init__(self) -> None:
        self.state = state = AnalysisState()
        self.tensors = tensors = Tensors(state)
        self.methods = methods = Methods(state, tensors, self)
        self.libraries = libraries = Libraries(state, tensors, methods, self)
        self.calls = calls = Calls(state, tensors, methods, libraries, self)
        self.eval = Expressions(state, tensors, methods, libraries, calls, self).eval
        self.call, self.method, self.call_unknown = calls.call, calls.method, calls.call_unknown

    def read(self, tree: ast.Module) -> None:
        """Follow a whole program; `state.left_out` says why if not all of it was read."""
        self.state.tree = tree
        scope = Scope(start={name: Value(Kind.LIBRARY, op=full) for name, full in USUAL_NAMES.items()})
        try:
            with limited():
                self.block(tree.body, scope)
                self.follow_uncalled(scope, tree)
        except TextTooLong as error:
            self.state.left_out = str(error)
        except RecursionError:
            self.state.left_out = (
                "Its functions call each other too deeply, so the rest was not read. Check a part of it."
            )

    def follow_uncalled(self, scope: Scope, tree: ast.Module) -> None:
        """Make an object of each unused class and call each uncalled function twice, as a loop would."""
        bases = {base for v in scope.values() if v.kind == Kind.CLASS for base in v.items or []}
        for value in list(scope.values()):
            made = any(v.body is value.body for v in self.state.objects)
            if value.kind == Kind.CLASS and not made and value not in bases:
                start = self.method(Value(Kind.INSTANCE, body=value.body), "__init__")
                given = self.unknown_arguments(start.body) if start is not None and start.body is not None else {}
                self.calls.instantiate(value, [], given, value.node or ast.Constant(None))
        for instance in [v for v in self.state.objects if v.body is not None]:
            names = dict.fromkeys(part.name for body in self.calls.classes(instance) for part in body.functions)
            self.call_twice([self.method(instance, name) for name in names if name != "__init__"])
        self.call_twice([v for v in scope.values() if v.kind == Kind.FUNCTION])

    def call_twice(self, functions: "list[Value | None]") -> None:
        """Call each function that was not followed yet twice, beginning with those that none of the others calls."""
        followed = self.state.followed
        bodies = [(f, f.body) for f in functions if f and f.kind == Kind.FUNCTION and f.body is not None]
        left = [(function, body) for function, body in bodies if body.definition not in followed]
        inside = {called(node) for _, body in left for node in walk(body.definition)} - {""}
        for function, body in sorted(left, key=lambda pair: pair[0].name in inside):
            if body.definition in followed:
                continue
            arguments = self.unknown_arguments(body)
            for self.state.second_call in (False, True):
                self.call(function, [], arguments, body.definition)
            self.state.second_call = False

    @staticmethod
    def unknown_arguments(body: Body) -> dict[str, Value]:
        """Return an unknown value for each parameter but self."""
        assert not isinstance(body.definition, ast.ClassDef)
        spec = body.definition.args
        every = spec.posonlyargs + spec.args
        return {a.arg: Value(name=a.arg) for a in every[body.self is not None :] + spec.kwonlyargs}

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> bool:
        """Follow statements; return True if what comes after them is not reached (return, break, raise)."""
        depth = len(self.state.path)
        try:
            for statement in statements:
                self.state.statement = statement
                self.state.path[depth:] = [(statements, statement)]
                if self.follow(statement, scope):
                    return True
                self.state.statement = statement
            return False
        finally:
            del self.state.path[depth:]

    def follow(self, statement: ast.stmt, scope: Scope) -> bool:
        visit = getattr(self, f"visit_{type(statement).__name__}", None)
        return bool(visit is not None and visit(statement, scope))

    def visit_Raise(self, statement: ast.Raise | ast.Break | ast.Continue, scope: Scope) -> bool:
        return True

    visit_Break = visit_Continue = visit_Raise

    def visit_Expr(self, statement: ast.Expr | ast.Assert, scope: Scope) -> None:
        node = statement.value if isinstance(statement, ast.Expr) else statement.test
        self.eval(node, scope)

    visit_Assert = visit_Expr

    def visit_Assign(self, statement: ast.Assign, scope: Scope) -> None:
        first = ast.unparse(statement.targets[0])
        names = (node for node in walk(statement.value) if isinstance(node, ast.Name | ast.Attribute))
        again = next((node for node in names if ast.unparse(node) == first), None)  # total = total + loss
        old = self.eval(again, scope) if again is not None else None
        result = self.eval(statement.value, scope)
        if old and result.op == "+" and (old in close_ancestors(result) or old.kind == Kind.NUMBER):
            self.state.record_event(EventKind.GATHER, statement, result, result)
        for target in statement.targets:
            self.bind(target, result, scope)

    def visit_AnnAssign(self, statement: ast.AnnAssign, scope: Scope) -> None:
        if statement.value is not None:
            self.bind(statement.target, self.eval(statement.value, scope), scope)

    def visit_Try(self, statement: ast.Try | ast.TryStar, scope: Scope) -> bool:
        blocks = [[*statement.body, *statement.orelse], *(handler.body for handler in statement.handlers)]
        ended = self.ways(statement, blocks, scope)
        return self.block(statement.finalbody, scope) or ended

    visit_TryStar = visit_Try

    def visit_FunctionDef(self, statement: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        function = Value(Kind.FUNCTION, name=statement.name, body=Body(statement, scope))
        scope[statement.name] = function

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Import(self, statement: ast.Import, scope: Scope) -> None:
        for alias in statement.names:
            if alias.name.split(".")[0] in LIBRARIES:
                full = alias.name if alias.asname else alias.name.split(".")[0]
                scope[alias.asname or full] = Value(Kind.LIBRARY, op=full)

    def visit_ImportFrom(self, statement: ast.ImportFrom, scope: Scope) -> None:
        for alias in statement.names:
            known = (statement.module or "").split(".")[0] in LIBRARIES and alias.name != "*"
            scope[alias.asname or alias.name] = (
                Value(Kind.LIBRARY, op=f"{statement.module}.{alias.name}") if known else Value(name=alias.name)
            )

    def visit_Return(self, statement: ast.Return, scope: Scope) -> bool:
        result = self.eval(statement.value, scope) if statement.value else Value(Kind.NONE)
        if self.state.frames:
            self.state.frames[-1].results.append(result)
        return True

    def visit_Match(self, statement: ast.Match, scope: Scope) -> None:
        self.ways(statement, [case.body for case in statement.cases], scope)

    def visit_Delete(self, statement: ast.Delete, scope: Scope) -> None:
        for target in statement.targets:
            if isinstance(target, ast.Attribute) and target.attr == "grad":
                self.state.record_zero(self.eval(target.value, scope), target)
            elif isinstance(target, ast.Subscript) and (box := self.eval(target.value, scope)).kind == Kind.LIST:
                name = "clear" if ast.unparse(target.slice) == ":" else "pop"
                self.methods.method_call(box, name, [], {}, target)

    def visit_ClassDef(self, statement: ast.ClassDef, scope: Scope) -> None:
        bases = [self.eval(base, scope) for base in statement.bases]
        body = Body(statement, scope)
        value = Value(Kind.CLASS, name=statement.name, body=body)
        names = {base.op.split(".")[-1] for base in bases if base.kind == Kind.LIBRARY}
        known = names & {"Module", "LightningModule"} or any(Tag.MODULE in base.tags for base in bases)
        unknown = any(base.kind == Kind.UNKNOWN for base in bases)
        if known or (unknown and "forward" in {f.name for f in body.functions}):
            value.tags.add(Tag.MODULE)
        value.items = [base for base in bases if base.kind == Kind.CLASS]
        value.statement = statement
        scope[statement.name] = value

    def visit_If(self, statement: ast.If, scope: Scope) -> bool:
        known = self.eval(statement.test, scope).constant
        if isinstance(known, bool):
            return self.block(statement.body if known else statement.orelse, scope)
        self.state.tests.append((statement, len(self.state.loops)))
        ended = self.ways(statement, [statement.body, statement.orelse], scope)
        self.state.tests.pop()
        return ended

    def ways(self, statement: ast.stmt, blocks: list[list[ast.stmt]], scope: Scope) -> bool:
        """Follow blocks of which one is run: a name that they give different values may be any of these.
        Returns whether what comes after them is not reached."""
        left = []
        depth = len(self.state.arms)
        for arm, block in enumerate(blocks):
            way = Scope(scope.parent, scope)
            self.state.arms.append((statement, arm))
            if not self.block(block, way):
                left.append((way, self.state.arms[depth:]))
            del self.state.arms[depth:]
        for name in dict.fromkeys(name for way, _ in left for name in way):
            values = list(dict.fromkeys(way[name] for way, _ in left if name in way))
            for other in values[1:]:
                values[0] = self.tensors.either(values[0], other)
            scope[name] = values[0]
        if len(left) == 1:  # the rest of the loop's iteration, or of the function, is in this arm
            self.state.arms += left[0][1]
        return not left

    def visit_For(self, statement: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> None:
        if not isinstance(statement, ast.While):
            over = self.eval(statement.iter, scope)
        known = 0 if isinstance(statement, ast.While) else known_turns(over)
        iterations, start = max(2, min(known, MAX_TURNS)), len(self.state.events)
        for iteration in range(1, iterations + 1):
            if iteration == 2:
                first = (statement, 1)
                left = {
                    name: v for name, v in scope.items() if any(first in part.iterations for part in (v, *leaves([v])))
                }
                self.state.carried.setdefault(statement, []).append(left)
            self.state.loops.append((statement, iteration))
            if isinstance(statement, ast.While):
                self.eval(statement.test, scope)
            else:
                self.bind(statement.target, self.item(over, statement.iter, iteration), scope)
            depth = len(self.state.arms)
            self.block(statement.body, scope)
            del self.state.arms[depth:]
            self.state.loops.pop()
        for event in self.state.events[start:] if iterations != known else ():
            if event.kind == EventKind.APPEND and statement not in dict(event.value.iterations):
                event.value.tags.add(Tag.OPEN)
        self.block(statement.orelse, scope)

    visit_AsyncFor = visit_While = visit_For

    def item(self, over: Value, node: ast.expr, iteration: int) -> Value:
        """Return the item that a loop over `over` binds in one iteration."""
        if over.kind == Kind.ENUMERATE and over.items:
            place = Value(Kind.NUMBER, constant=iteration - 1 if known_turns(over) else None)
            return Value(Kind.LIST, items=[place, self.item(over.items[0], node, iteration)])
        if over.kind == Kind.ZIP and over.items is not None:
            return Value(Kind.LIST, items=[self.item(v, node, iteration) for v in over.items])
        if over.kind in {Kind.RANGE, Kind.NUMBER}:  # a number from x.tolist()
            return Value(Kind.NUMBER)
        if over.kind == Kind.LOADER and over.base is not None:
            return self.tensors.batch(over.base, over.constant, node)
        if over.kind == Kind.DICT:
            over = self.methods.keys(over)
        if over.items:
            return over.items[min(iteration, len(over.items)) - 1]
        if over.kind in TENSORS | {Kind.ARRAY}:
            return self.tensors.part(over, node, over.shape[1:] if over.shape else None)
        return Value(
            parents=(over,) if over.kind == Kind.UNKNOWN and over.parents else (),
            node=node,
            iterations=self.state.iterations(),
        )

    def visit_With(self, statement: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        entered = 0
        for item in statement.items:
            mode = self.libraries.grad_mode(item.context_expr, scope)
            if mode is not False:
                self.state.modes.append(mode)
                entered += 1
            self.eval(item.context_expr, scope)
        ended = self.block(statement.body, scope)
        if entered:
            del self.state.modes[-entered:]
        return ended

    visit_AsyncWith = visit_With

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                if value.kind not in {Kind.LIBRARY, Kind.FUNCTION, Kind.CLASS}:
                    value.name = value.name or name
                    value.statement = value.statement or self.state.statement
                scope[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                items = value.items or []
                known = len(items) == len(parts)
                for i, part in enumerate(parts):
                    given = items[i] if known else self.unpacked_part(value, target)
                    self.bind(part.value if isinstance(part, ast.Starred) else part, given, scope)
            case ast.Attribute(value=owner, attr=name):
                self.assign_attribute(self.eval(owner, scope), name, value, target)
            case ast.Subscript(value=owner):
                base = self.eval(owner, scope)
                key = self.eval(target.slice, scope).constant
                if base.kind in TENSORS or base.kind == Kind.UNKNOWN:
                    self.state.record_event(EventKind.WRITE, target, base, value, "index")
                    self.rebind_written(owner, base, value, target, scope)
                elif base.kind in {Kind.DICT, Kind.LIST}:
                    self.assign_item(base, key, value)
                    if value.kind in {Kind.TENSOR, Kind.LIST}:
                        self.state.record_event(EventKind.ATTRIBUTE, target, base, value, "item")

    @staticmethod
    def assign_item(box: Value, key: object, value: Value) -> None:
        """Store a value in a dict; what a list, or a dict with an unknown key, holds afterwards is not followed."""
        if key is not None and box.kind == Kind.DICT:
            old = box.attributes.get(str(key))
            box.items = [*(item for item in box.items or [] if item is not old), value]
            box.attributes[str(key)] = value
        else:
            box.items = None

    def rebind_written(self, owner: ast.expr, base: Value, value: Value, node: ast.expr, scope: Scope) -> None:
        """Bind the name of a tensor that was written to in part to a new value of the graph."""
        if isinstance(owner, ast.Name) and base.kind == Kind.TENSOR and not (base.leaf and base.graph):
            new = self.tensors.tensor(node, "written", (base, value), base.shape)
            new.saved, new.name = base.saved, base.name
            scope[owner.id] = new

    def unpacked_part(self, value: Value, node: ast.expr) -> Value:
        """Return one of the parts that a value is unpacked into."""
        if value.kind in TENSORS:
            return self.tensors.tensor(node, "part", (value,), value.shape[1:] if value.shape else None)
        return self.tensors.like(value, node, "part", (value,))

    def assign_attribute(self, owner: Value, name: str, value: Value, node: ast.expr) -> None:
        if name == "grad":
            self.state.record_zero(owner, node, not is_zero(value))
        elif name == "data":
            if value.op in {"+", "-"} and value.parents and any(p.base is owner for p in close_ancestors(value)):
                self.state.record_event(EventKind.UPDATE, node, owner, value, value.op)
        elif name == "requires_grad":
            if value.constant is False:
                self.methods.freeze(owner)
            elif owner.kind == Kind.PARAMETER and value.constant is True:
                self.tensors.integers_asked(owner)
            elif owner.kind in {Kind.TENSOR, Kind.UNKNOWN}:
                self.methods.ask_for_gradient(owner, [value], node)
        else:
            if owner.kind == Kind.MODULE and value.kind in {Kind.MODULE, Kind.PARAMETER}:
                value.tags.add(Tag.REGISTERED)
            self.state.record_event(EventKind.ATTRIBUTE, node, owner, value, name)
            value.name = value.name or name
            owner.attributes[name] = value

    def visit_AugAssign(self, statement: ast.AugAssign, scope: Scope) -> None:
        value = self.eval(statement.value, scope)
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(statement.op), "?")
        target = statement.target
        old = self.eval(target, scope)
        if old.kind in {Kind.LIST, Kind.TEXT, Kind.DICT}:
            old.items = None  # what it holds now is not followed
            return
        if old.kind == Kind.GRADIENT and value.constant != 0:
            self.state.record_event(EventKind.CLIP, statement, old.base or Value(), detail="changed")
            return
        element = isinstance(target, ast.Subscript) and self.eval(target.value, scope).kind in TENSORS | {Kind.ARRAY}
        by_hand = value.kind == Kind.GRADIENT and value.base is old  # a parameter from a list, perhaps
        if (old.kind in TENSORS and not element) or by_hand:
            self.state.record_event(EventKind.WRITE, statement, old, value, sign)
        if isinstance(target, ast.Subscript) and (base := self.eval(target.value, scope)).kind != Kind.DICT:
            if base.kind in TENSORS:
                self.state.record_event(EventKind.WRITE, statement, base, value, "index")
                self.rebind_written(target.value, base, value, target.value, scope)
            return
        if by_hand or (old.leaf and old.graph) or (old.kind in TENSORS and self.state.modes[-1] is not None):
            return  # an update in place: the name keeps its tensor
        result = self.tensors.arithmetic(sign, old, value, statement.value)
        self.state.record_event(EventKind.GATHER, statement, result, value, sign)
        self.bind(target, result, scope)


def is_zero(value: Value) -> bool:
    """Return whether a value is None, 0 or an array of zeros."""
    return value.kind == Kind.NONE or value.constant == 0 or value.op in {"zeros", "zeros_like"}
