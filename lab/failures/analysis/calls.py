"""Follows the calls of functions, methods and classes that the text defines, and of networks."""

import ast
from dataclasses import dataclass

from lab.failures.analysis.facts import TENSORS, Body, Scope, Value, graph_of
from lab.failures.analysis.kinds import EventKind, Kind, Tag
from lab.failures.analysis.libraries import Libraries
from lab.failures.analysis.methods import Methods
from lab.failures.analysis.registry import LAYERS, RECURRENT, function_of
from lab.failures.analysis.shapes import output_shape
from lab.failures.analysis.state import AnalysisState, Follower, Frame
from lab.failures.analysis.syntax import called, defaults
from lab.failures.analysis.tensors import Tensors

MAX_DEPTH = 8  # of calls inside calls that are followed


@dataclass
class Calls:
    """Evaluates calls, and follows each into its definition if the text has one."""

    state: AnalysisState
    tensors: Tensors
    methods: Methods
    libraries: Libraries
    follower: Follower

    def call(self, function: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        """Return the result of calling a value that stands for a function, class, module or loss."""
        if function.kind == Kind.CLASS:
            return self.instantiate(function, args, keys, node)
        if function.kind == Kind.MODULE:
            return self.forward(function, args, keys, node)
        if function.kind == Kind.FUNCTION and function.body is not None:
            return self.call_body(function.body, args, keys)
        if function.kind == Kind.PARTIAL and function.base is not None:
            return self.call(function.base, [*(function.items or []), *args], function.attributes | keys, node)
        if function.kind == Kind.LIBRARY and isinstance(node, ast.Call):
            return self.libraries.library_call(function.op, args, keys, node)
        if function.kind == Kind.INSTANCE and (method := self.method(function, "__call__")) is not None:
            return self.call(method, args, keys, node)
        return self.call_unknown(function, args, keys, node)

    def call_unknown(self, function: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        """Return the result of an unknown function, computed from all its arguments."""
        inputs = (function, *args, *keys.values())
        value = Value(
            parents=tuple(v for v in inputs if v.cut or v.kind in {Kind.UNKNOWN, Kind.MODULE, Kind.LIST} | TENSORS),
            op="call",
        )
        value.iterations, value.statement, value.base = self.state.iterations(), self.state.statement, function
        value.node = node if isinstance(node, ast.expr) else None
        self.state.record(value)
        for given in inputs[1:]:
            if given.kind == Kind.OPTIMIZER and "scal" not in function.name.lower():  # a scaler does not zero
                self.state.record_event(EventKind.LENT, node, given)
        return value

    def call_body(self, body: Body, args: list[Value], keys: dict[str, Value]) -> Value:
        definition = body.definition
        if isinstance(definition, ast.ClassDef):
            return Value()
        if len(self.state.frames) >= MAX_DEPTH or any(call.definition is definition for call in self.state.frames):
            return Value(parents=tuple(args))
        self.state.followed.add(definition)
        scope = self.parameters(body, definition.args, args, keys)
        if isinstance(definition, ast.Lambda):
            return self.follower.eval(definition.body, scope)
        modes = [m for d in definition.decorator_list if (m := self.libraries.grad_mode(d, body.scope)) is not False]
        saved = self.state.statement
        self.state.modes += modes
        self.state.frames.append(Frame(definition))
        arms = len(self.state.arms)
        self.follower.block(definition.body, scope)
        del self.state.arms[arms:]
        frame = self.state.frames.pop()
        if modes:
            del self.state.modes[-len(modes) :]
        self.state.statement = saved
        if frame.yielded:
            return Value(Kind.LIST, items=frame.yielded, tags={Tag.OPEN})
        if not frame.results:
            return Value(Kind.NONE)
        result = frame.results[0]
        for other in frame.results[1:]:
            result = self.tensors.either(result, other) if other is not result else result
        return result

    def parameters(self, body: Body, spec: ast.arguments, args: list[Value], keys: dict[str, Value]) -> Scope:
        """Return a function's scope, with the argument or default for each parameter."""
        scope = Scope(body.scope)
        names = [a.arg for a in spec.posonlyargs + spec.args]
        every = [*names, *(a.arg for a in spec.kwonlyargs)]
        if body.self is not None and names:
            scope[names.pop(0)] = body.self
        scope.update(zip(names, args, strict=False))
        scope.update({name: value for name, value in keys.items() if name in every})
        given = defaults(spec)
        for name in every:
            if name not in scope:
                scope[name] = self.follower.eval(given[name], body.scope) if name in given else Value(name=name)
        for extra in (spec.vararg, spec.kwarg):
            if extra is not None:
                scope[extra.arg] = Value(name=extra.arg)
        return scope

    @staticmethod
    def classes(owner: Value) -> list[Body]:
        """Return the class of an object and its bases in the text."""
        if owner.body is None or not isinstance(owner.body.definition, ast.ClassDef):
            return []
        kind = owner.body.scope.find(owner.body.definition.name)
        bases = [base.body for base in (kind.items or [] if kind is not None else []) if base.body is not None]
        return [owner.body, *bases]

    def method(self, owner: Value, name: str) -> Value | None:
        """Return a bound method of an object of the text's classes, or a property's value; None if it has none."""
        found = ((body, part) for body in self.classes(owner) for part in body.functions if part.name == name)
        for body, part in found:
            static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in part.decorator_list)
            bound = Body(part, body.scope, None if static else owner)
            if any(ast.unparse(d).endswith("property") for d in part.decorator_list):
                return self.call_body(bound, [], {})
            return Value(Kind.FUNCTION, body=bound, name=name)
        return None

    def instantiate(self, kind: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        """Return a new object of one of the text's classes."""
        module = Tag.MODULE in kind.tags
        value = Value(Kind.MODULE if module else Kind.INSTANCE, op="module" if module else "object", body=kind.body)
        value.node, value.statement = node if isinstance(node, ast.expr) else None, self.state.statement
        value.attributes |= kind.attributes
        self.state.objects.append(value)
        start = self.method(value, "__init__")
        if start is not None:
            self.call(start, args, keys, node)
        return value

    def forward(self, module: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        body = self.method(module, "forward") or self.method(module, "__call__")
        if body is not None:
            return self.call(body, args, keys, node)
        at = node if isinstance(node, ast.expr) else module.node or ast.Constant(None)
        if module.op == "Sequential" and module.items is not None and Tag.OPEN not in module.tags:
            value = args[0] if args else Value()
            for layer in module.items:
                value = self.call(layer, [value], {}, layer.node or at)
            return value
        first = args[0] if args else Value()
        if module.op in RECURRENT:
            return self.recurrent(module, args, at)
        if function_of(module.op):
            return self.tensors.function(function_of(module.op), args, keys | module.attributes, at)
        return self.layer_output(module, tuple(args) or (first,), at)

    def layer_output(self, module: Value, given: tuple[Value, ...], at: ast.expr) -> Value:
        """Return the output of a layer, or of a network about which nothing is known."""
        first = given[0]
        width = module.attributes.get("out", Value()).constant
        shape = output_shape(module.op, first.shape, width if isinstance(width, int) else None)
        value = self.tensors.tensor(at, module.op if module.op in LAYERS else "module", (*given, module), shape)
        if module.op not in LAYERS:
            value.graph = None if value.graph is not False or not value.cut else False
            value.op, value.base = "call", module
        self.state.record_event(EventKind.LAYER, at, value)
        copied = module.op == "Linear" and called(first.node) in {"permute", "transpose"}
        if graph_of(module) and not copied:
            self.tensors.save(first, at)
        return value

    def recurrent(self, module: Value, args: list[Value], node: ast.expr) -> Value:
        out = self.tensors.tensor(node, module.op, (*args, module))
        states = [self.tensors.tensor(node, module.op, (out,)) for _ in range(2)]  # they share the output's graph
        if module.op in {"GRUCell", "RNNCell"}:
            return out
        state = Value(Kind.LIST, items=states, node=node) if module.op == "LSTM" else states[0]
        return Value(Kind.LIST, items=[out, state], node=node)
