"""What calls do: functions and methods of the text, and those of the libraries."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lab.failures.reading import tables
from lab.failures.reading.facts import (
    ACTIVATIONS,
    BOUNDED,
    CHOICES,
    CONTAINERS,
    CREATORS,
    DISTRIBUTIONS,
    ELEMENTWISE,
    KEEPS_OUTPUT,
    LAYERS,
    LOSS_FUNCTIONS,
    LOSSES,
    MODULE_METHODS,
    MOVES,
    OPTIMIZERS,
    RECURRENT,
    REDUCTIONS,
    TENSOR_METHODS,
    TENSORS,
    Value,
    graph_of,
    inline,
    owners,
)
from lab.failures.reading.tensors import Body, Scope, Tensors

DEEPEST = 8  # calls inside calls that are followed


@dataclass
class Calls(Tensors):
    """Calls, followed into the text where it defines what is called."""

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> bool:
        raise NotImplementedError

    def eval(self, node: ast.expr | None, scope: Scope) -> Value:
        raise NotImplementedError

    def item(self, over: Value, node: ast.expr, turn: int) -> Value:
        raise NotImplementedError

    def call(self, function: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        if function.kind == "class":
            return self.make(function, args, keys, node)
        if function.kind == "module":
            return self.forward(function, args, keys, node)
        if function.kind == "loss" and isinstance(node, ast.expr):
            return self.loss(function.op, args, keys | function.attributes, node)
        if function.kind == "function" and isinstance(function.body, Body):
            return self.call_body(function, function.body, args, keys)
        if function.kind == "instance" and (method := self.method(function, "__call__")) is not None:
            return self.call(method, args, keys, node)
        if function.kind == "" and (known := tables.made(function.name.split(".")[-1], args, keys)) is not None:
            return known
        inputs = (function, *args, *keys.values())
        value = Value(parents=tuple(v for v in inputs if v.kind in {"", "module", "list"} | TENSORS), op="call")
        value.turns, value.statement, value.base = self.turns(), self.statement, function
        value.node = node if isinstance(node, ast.expr) else None
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
                scope[name] = given if given.kind in {"number", "text"} else Value(name=name)
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

    def make(self, kind: Value, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        """An object of one of the text's classes."""
        module = "module" in kind.marks
        value = Value("module" if module else "instance", op="module" if module else "object", body=kind.body)
        value.node, value.statement = node if isinstance(node, ast.expr) else None, self.statement
        if "autograd function" in kind.marks:
            value.kind = "autograd function"
            return value
        if "optimizer" in kind.marks and isinstance(node, ast.Call):
            return self.optimizer(kind.name, args, keys, node)
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
                value = self.call(layer, [value], {}, layer.node if layer.node and inline(layer, module) else at)
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
            shape = (*first.shape[:-1], out) if first.shape else (None, 1) if out == 1 and first.shape is None else None
            if first.kind == "tensor" and first.whole and module.op == "Linear":
                self.note("whole input", at, first, module)
        before = first
        while before.parents and before.op not in LAYERS and before.kind in {"", "tensor"}:
            before = before.parents[0]
        if before.op in LAYERS and before.parents:
            self.behind.add((id(before.parents[-1]), id(module)))
        given = (*args, *keys.values()) or (first,)
        value = self.tensor(at, module.op if module.op in LAYERS else "module", (*given, module), shape)
        if module.op not in LAYERS:
            value.graph = None if value.graph is not False or not value.cut else False
            value.op, value.base = "call", module
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
        if name == "Parameter":
            value = args[0] if args and args[0].kind == "tensor" else Value("tensor", node)
            return Value("parameter", node, self.statement, value.op, graph=True, leaf=True, shape=value.shape)
        if name == "Variable" and args:
            return self.create("as_tensor", args, keys, node, "tensor") if "requires_grad" in keys else args[0]
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
            by = args[1] if len(args) > 1 else keys.get("inputs", Value())
            for value in by.items if by.kind == "list" and by.items else [by]:
                self.note("differentiate", node, value)
            return Value("list", items=[Value()], marks={"open"})
        if name in {"deepcopy"}:
            return Value("module", op="any", marks={"any", "eval"})
        if name == "TensorDataset":
            return Value("dataset", items=args)
        if name == "DataLoader" and args and args[0].kind == "dataset":
            size = keys.get("batch_size", args[1] if len(args) > 1 else Value())
            return Value("loader", items=args[0].items, constant=size.constant)
        if name in DISTRIBUTIONS and "distributions" in full:
            return Value("distribution", node, op=name, parents=(*args, *keys.values()))
        if root == "torchvision" or "hub" in full or name in {"DataLoader", "Compose"}:
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
        if name in {"max", "min", "topk", "sort"} and root == "torch" and args:
            if "dim" in keys or (len(args) > 1 and args[1].kind == "number"):
                return self.tensor_call(args[0], name, args[1:], keys, node, scope)
        if root in {"torch", "model"}:
            known = (
                LOSS_FUNCTIONS | CHOICES | REDUCTIONS | BOUNDED | ELEMENTWISE | MOVES | KEEPS_OUTPUT
                | {"linear", "matmul", "mm", "bmm", "mv", "dot", "add", "sub", "mul", "div", "stack", "cat", "min"}
            )  # fmt: skip
            if name == "where" and len(node.args) == 3:
                tested = {n.id: scope.find(n.id) for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)}
                unsafe = {
                    id(v): n
                    for n, v in tested.items()
                    if v is not None and v.op not in BOUNDED
                    and (graph_of(v) or (v.graph is None and v.kind != "parameter" and v.op != "call"))
                }  # fmt: skip
                risky = list(unsafe.values())
                for part in (n.id for arm in node.args[1:] for n in ast.walk(arm) if isinstance(n, ast.Name)):
                    found = scope.find(part)  # what was tested, times something, is 0 where that is
                    if found is not None and found.op == "*" and any(id(p) in unsafe for p in found.parents):
                        risky.append(part)
                value = self.function(name, args, keys, node)
                self.note("where", node, value, None, " ".join(risky))
                return value
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
        value.constant = self.times()
        self.everything.append(value)
        return value

    def times(self) -> int:
        """How often the statement is run by a loop over range(5); 1 where that is not known."""
        match self.loops[-1:]:
            case [(ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int() as times)])), _)]:
                return times
        return 1

    def optimizer(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        given = args[0] if args else keys.get("params", keys.get("parameters", Value()))
        value = Value("optimizer", node, self.statement, name, (given,))
        rate = keys.get("lr", args[1] if len(args) > 1 else Value())
        value.attributes["lr"] = rate
        value.items = owners(given)
        self.everything.append(value)
        self.note("optimizer", node, value, given)
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
        if name in MODULE_METHODS and owner.kind in {"module", ""}:
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
        if owner.kind == "table":
            return tables.method(owner, name)
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
        if owner.kind == "distribution":
            drawn = name == "sample"  # no gradient comes back to what a sample was drawn with
            return self.tensor(at, name, () if drawn else owner.parents)
        if owner.kind == "class":
            return Value(parents=tuple(args))
        if owner.kind == "" and (known := tables.made(name, args, keys)) is not None:
            return known
        if name == "append" and args and not bounded(owner):
            self.note("append", at, owner, args[0])
        if name in {"item", "numpy", "tolist"}:
            return self.to_number(owner, at, "numpy" if name == "numpy" else "item")
        if name in {"detach"}:
            value = self.detached(owner, at)
            value.kind = ""
            value.graph = False
            return value
        if name in CHOICES:
            return self.choice(at, [owner])
        if name in {"max", "min", "topk", "sort"} and (args or keys):
            return self.tensor_call(owner, name, args, keys, at, None)
        if name in TENSOR_METHODS:
            if name in {"long", "int"}:
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
            for _ in range(2):  # the optimizer calls it again and again
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
                return self.asked(owner, args)
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
        elif name == "clear":
            owner.items = []
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
            value = self.asked(owner, args)
            if value.whole and value.graph:
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
            how = {"add_": "+", "sub_": "-"}.get(name, "method")
            if owner.op == "detach" and isinstance(owner.node, ast.Attribute):  # p.data.add_(...)
                self.note("update", at, owner.parents[0], other, how)
            else:
                self.note("write", at, owner, other, how)
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
            axis = keys.get("dim", args[0] if args else Value()).constant
            scores = axis in (1, -1) and "keepdim" not in keys and len(args) < 2 and owner.shape is None
            both = self.tensor(at, name, (owner,), (None,) if scores and owner.op in LAYERS | {"call"} else None)
            return Value("list", items=[both, self.choice(at, [owner])])
        if name in {"topk", "sort"}:
            return Value("list", items=[self.tensor(at, name, (owner,)), self.choice(at, [owner])])
        if name in {"chunk", "split", "unbind"}:
            return Value("list", items=[self.tensor(at, "part", (owner,))], marks={"open"})
        if name == "register_hook":
            return Value()
        return self.function(name, [owner, *args], keys, at)

    @staticmethod
    def asked(value: Value, args: list[Value]) -> Value:
        """A value that is told to be followed; with an argument that is not known it may be."""
        value.graph, value.leaf = (None if args and args[0].constant is not True else True), True
        return value

    def mode(self, node: ast.expr, scope: Scope) -> ast.AST | Literal[False] | None:
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

    def library(self, node: ast.expr, scope: Scope) -> str:
        """The full name of what a dotted name of a library stands for; empty where it is none."""
        if isinstance(node, ast.Name):
            found = scope.find(node.id)
            return found.op if found is not None and found.kind == "library" else ""
        if isinstance(node, ast.Attribute):
            root = self.library(node.value, scope)
            return f"{root}.{node.attr}" if root else ""
        return ""


def bounded(box: Value) -> bool:
    """Does it keep only the last few of what is put into it?"""
    return isinstance(box.node, ast.Call) and any(k.arg == "maxlen" for k in box.node.keywords)
