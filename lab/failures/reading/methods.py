"""What the methods of tensors, modules, optimizers and lists do."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from lab.failures.reading import tables
from lab.failures.reading.effects import CHOICES
from lab.failures.reading.facts import LAYERS, MODULE_METHODS, TENSOR_METHODS, TENSORS, Value
from lab.failures.reading.shapes import created_shape
from lab.failures.reading.tensors import Operation, Tensors

Method = Callable[["Methods", Operation], Value | None]


@dataclass
class Methods(Tensors):
    """Methods called on values."""

    def method_call(self, owner: Value, name: str, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        found = owner.attributes.get(name)
        if found is not None and found.kind in {"module", "function", "optimizer"}:
            return self.call(found, args, keys, node)
        if owner.kind in {"module", "instance"} and (method := self.method(owner, name)) is not None:
            return self.call(method, args, keys, node)
        op = Operation(name, [owner, *args], keys, node if isinstance(node, ast.expr) else ast.Constant(None))
        if name in self.training and (value := self.training[name](self, op)) is not None:
            return value
        if name in MODULE_METHODS and owner.kind in {"module", ""}:
            return self.module_call(owner, name, args, keys, op.node)
        return self.by_kind.get(owner.kind, Methods.unknown)(self, op)

    def backward(self, op: Operation) -> Value | None:
        owner, given = op.first, op.args[1:2]
        if owner.kind not in TENSORS | {"", "number", "array", "list"}:
            return None
        if given and given[0].kind in {"tensor", ""} and given[0].graph is not False and owner.kind == "":
            self.note("backward", op.node, given[0], None, "given")  # accelerator.backward(loss)
            return Value("none")
        if "asked" in owner.marks:  # the result of a computation: asking gives it no graph
            owner.graph = owner.before
        keep = op.keys.get("retain_graph")
        detail = "retain" if keep is not None and keep.constant is not False else ""
        detail += " given" if given or "gradient" in op.keys or "grad" in op.keys else ""
        self.note("backward", op.node, owner, None, detail)
        return Value("none")

    def zero_grad(self, op: Operation) -> Value:
        self.note("zero", op.node, op.first)
        if op.first.kind == "":
            op.first.marks.add("trained")
        return Value("none")

    def scale(self, op: Operation) -> Value | None:
        owner = op.first
        scaler = owner.kind == "scaler" or (owner.kind == "" and "scaler" in owner.name.lower())
        return (op.args[1] if len(op.args) > 1 else Value()) if scaler else None

    def of_gradient(self, op: Operation) -> Value:
        owner = op.first
        if op.name in {"zero_", "fill_", "fill"}:
            self.empty(owner.base or Value(), op.node)
        if op.name == "sign":
            return Value("gradient", base=owner.base, op="sign", marks={*owner.marks, "sign"})
        same = op.name in {"data", "clone", "detach", "clamp"}
        return Value("gradient", base=owner.base, op=owner.op, marks=owner.marks) if same else Value()

    def of_array(self, op: Operation) -> Value:
        if op.name in {"argmax", "argmin"}:
            return Value("array", graph=False, whole=True)
        return self.function(op.name, op.args, op.keys, op.node)

    def of_module(self, op: Operation) -> Value:
        owner, added = op.first, op.args[1:2]
        if owner.items is None or op.name not in {"append", "extend"} or not added:
            return self.unknown(op)
        added[0].marks.add("registered")
        owner.items = [*owner.items, *(added if op.name == "append" else added[0].items or [])]
        owner.marks.add("open")
        return owner

    def unknown(self, op: Operation) -> Value:
        owner, args = op.first, op.args[1:]
        if owner.kind == "" and owner.graph:
            return self.tensor_call(owner, op.name, args, op.keys, op.node)
        return self.unknown_call(owner, op.name, args, op.keys, op.node)

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
            return self.tensor_call(owner, name, args, keys, at)
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
            return self.tensor_call(owner, name, args, keys, at)
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
        self, owner: Value, name: str, args: list[Value], keys: dict[str, Value], at: ast.expr, written: str = "method"
    ) -> Value:
        op = Operation(name, [owner, *args], keys, at)
        if name in self.of_tensors and (value := self.of_tensors[name](self, op)) is not None:
            return value
        if name.endswith("_") and not name.endswith("__"):
            return self.in_place(op, written)
        return self.function(name, op.args, keys, at)

    def in_place(self, op: Operation, written: str) -> Value:
        owner, other = op.first, op.args[1] if len(op.args) > 1 else Value("none")
        how = {"add_": "+", "sub_": "-"}.get(op.name, written)
        if owner.op == "detach" and isinstance(owner.node, ast.Attribute):  # p.data.add_(...)
            self.note("update", op.node, owner.parents[0], other, how)
        else:
            self.note("write", op.node, owner, other, how)
        if owner.kind == "parameter" or owner.leaf:
            return owner
        return self.function(op.name.rstrip("_"), op.args, op.keys, op.node)

    def requires_grad(self, op: Operation) -> Value:
        owner, args = op.first, op.args[1:]
        if args and args[0].constant is False:
            owner.marks.add("frozen")
            return owner
        value = self.asked(owner, args, op.node)
        if value.whole and value.graph:
            self.note("whole leaf", op.node, value)
        return value

    def retain_grad(self, op: Operation) -> Value:
        op.first.marks.add("retained")
        return Value("none")

    def detach_(self, op: Operation) -> Value:
        op.first.parents, op.first.graph, op.first.cut = (), False, ""
        return op.first

    def size(self, op: Operation) -> Value:
        shape, dim = op.first.shape, op.args[1].constant if len(op.args) > 1 else None
        if isinstance(dim, int) and shape and -len(shape) <= dim < len(shape):
            return Value("number", constant=shape[dim])
        return Value("number" if len(op.args) > 1 else "list")

    def whole(self, op: Operation) -> Value:
        value = self.like(op.first, op.node, "whole", (op.first,))
        value.whole, value.graph = True, False
        return value

    def largest(self, op: Operation) -> Value | None:
        """The largest along an axis, and where they are; None for the largest of all."""
        owner, args = op.first, op.args[1:]
        if not args and not op.keys:
            return None
        axis = op.keys.get("dim", args[0] if args else Value()).constant
        scores = axis in (1, -1) and "keepdim" not in op.keys and len(args) < 2 and owner.shape is None
        both = self.tensor(op.node, op.name, (owner,), (None,) if scores and owner.op in LAYERS | {"call"} else None)
        return Value("list", items=[both, self.choice(op.node, [owner])])

    def ordered(self, op: Operation) -> Value:
        return Value("list", items=[self.tensor(op.node, op.name, (op.first,)), self.choice(op.node, [op.first])])

    def parts(self, op: Operation) -> Value:
        return Value("list", items=[self.tensor(op.node, "part", (op.first,))], marks={"open"})

    def new(self, op: Operation) -> Value:
        return Value("tensor", op.node, self.statement, op.name, graph=False)

    def asked(self, value: Value, args: list[Value], at: ast.expr) -> Value:
        """A value that is told to be followed; with an argument that is not known it may be."""
        if value.parents and value.graph is not True:
            value.before = value.graph
            value.marks.add("asked")
            self.note("ask", at, value)
        self.told.add(id(value))
        value.graph, value.leaf = (None if args and args[0].constant is not True else True), True
        return value

    # The methods that train, whatever they are called on; None where they are another's of the same name.
    training: ClassVar[dict[str, Method]] = {
        "backward": backward,
        "zero_grad": zero_grad,
        "step": lambda self, op: self.take_step(op.first, op.args[1:], op.node),
        "scale": scale,
    }
    by_kind: ClassVar[dict[str, Callable[["Methods", Operation], Value]]] = {
        "gradient": of_gradient,
        "module": of_module,
        "list": lambda self, op: self.list_call(op.first, op.name, op.args[1:], op.keys, op.node),
        "dict": lambda self, op: self.list_call(op.first, op.name, op.args[1:], op.keys, op.node),
        "number": lambda self, op: Value("number"),
        "text": lambda self, op: Value("text"),
        "generator": lambda self, op: Value("array", graph=False, shape=created_shape("normal", op.args[1:], op.keys)),
        "table": lambda self, op: tables.method(op.first, op.name),
        "array": of_array,
        "tensor": lambda self, op: self.tensor_call(op.first, op.name, op.args[1:], op.keys, op.node),
        "parameter": lambda self, op: self.tensor_call(op.first, op.name, op.args[1:], op.keys, op.node),
    }
    of_tensors: ClassVar[dict[str, Method]] = {
        "detach": lambda self, op: self.detached(op.first, op.node),
        "detach_": detach_,
        "item": lambda self, op: self.to_number(op.first, op.node),
        "tolist": lambda self, op: self.to_number(op.first, op.node),
        "numpy": lambda self, op: self.to_number(op.first, op.node, "numpy"),
        "__array__": lambda self, op: self.to_number(op.first, op.node, "numpy"),
        "requires_grad_": requires_grad,
        "retain_grad": retain_grad,
        "size": size,
        "dim": lambda self, op: Value("number"),
        "numel": lambda self, op: Value("number"),
        "nelement": lambda self, op: Value("number"),
        "cpu_": lambda self, op: op.first,
        "share_memory_": lambda self, op: op.first,
        "long": whole,
        "int": whole,
        "bool": whole,
        "byte": whole,
        "new_zeros": new,
        "new_ones": new,
        "new_tensor": new,
        "new_full": new,
        "max": largest,
        "min": largest,
        "topk": ordered,
        "sort": ordered,
        "chunk": parts,
        "split": parts,
        "unbind": parts,
        "register_hook": lambda self, op: Value(),
    }


def bounded(box: Value) -> bool:
    """Does it keep only the last few of what is put into it?"""
    return isinstance(box.node, ast.Call) and any(k.arg == "maxlen" for k in box.node.keywords)
