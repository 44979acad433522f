"""What the methods of tensors, modules, optimizers and lists do."""

import ast
from dataclasses import dataclass

from lab.failures.reading import tables
from lab.failures.reading.book import Scope
from lab.failures.reading.effects import CHOICES
from lab.failures.reading.facts import LAYERS, MODULE_METHODS, TENSOR_METHODS, TENSORS, Value
from lab.failures.reading.shapes import created_shape
from lab.failures.reading.tensors import Tensors


@dataclass
class Methods(Tensors):
    """Methods called on values."""

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
            if "asked" in owner.marks:  # the result of a computation: asking gives it no graph
                owner.graph = owner.before
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
            if name in {"zero_", "fill_", "fill"}:
                self.empty(owner.base or Value(), at)
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
        if owner.kind == "generator":
            return Value("array", graph=False, shape=created_shape("normal", args, keys))
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
        if name in TENSOR_METHODS or (name == "gather" and len(args) == 2):
            if name in {"long", "int"}:
                return Value(parents=(owner,), op=name)
            value = self.function(name, [owner, *args], keys, at)
            value.whole = None
            return value
        value = self.call(Value(parents=(owner,), name=f"{owner.name}.{name}"), args, keys, at)
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
                return self.asked(owner, args, at)
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
            return Value("list", items=owner.items, marks=owner.marks & {"open"})
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
        self,
        owner: Value,
        name: str,
        args: list[Value],
        keys: dict[str, Value],
        at: ast.expr,
        scope: Scope | None,
        written: str = "method",
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
            value = self.asked(owner, args, at)
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
            how = {"add_": "+", "sub_": "-"}.get(name, written)
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

    def asked(self, value: Value, args: list[Value], at: ast.expr) -> Value:
        """A value that is told to be followed; with an argument that is not known it may be."""
        if value.parents and value.graph is not True:
            value.before = value.graph
            value.marks.add("asked")
            self.note("ask", at, value)
        self.told.add(id(value))
        value.graph, value.leaf = (None if args and args[0].constant is not True else True), True
        return value


def bounded(box: Value) -> bool:
    """Does it keep only the last few of what is put into it?"""
    return isinstance(box.node, ast.Call) and any(k.arg == "maxlen" for k in box.node.keywords)
