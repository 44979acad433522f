"""What the functions and classes of torch, numpy and this engine do."""

import ast
from dataclasses import dataclass
from typing import Literal

from lab.failures.reading.book import Scope
from lab.failures.reading.effects import BOUNDED, EFFECTS
from lab.failures.reading.facts import (
    ACTIVATIONS,
    CONTAINERS,
    CREATORS,
    DISTRIBUTIONS,
    ENGINE,
    LAYERS,
    LOSSES,
    OPTIMIZERS,
    TENSORS,
    Value,
    graph_of,
    owners,
    reach,
)
from lab.failures.reading.methods import Methods
from lab.failures.reading.shapes import literal_shape


@dataclass
class Libraries(Methods):
    """Functions and classes of the libraries."""

    def library_call(self, full: str, args: list[Value], keys: dict[str, Value], node: ast.Call, scope: Scope) -> Value:
        name = full.split(".")[-1]
        root = full.split(".")[0]
        if root == "math":
            return self.to_number(args[0], node) if args and args[0].kind in TENSORS | {""} else Value("number")
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
            self.note("scheduler", node, value, detail=name)
            return value
        if name == "Parameter":
            value = args[0] if args and args[0].kind == "tensor" else Value("tensor", node)
            value = Value("parameter", node, self.statement, value.op, graph=True, leaf=True, shape=value.shape)
            if "requires_grad" in keys or len(args) > 1:
                value.marks.add("frozen")
            self.note("made", node, value)
            return value
        if name == "Variable" and args:
            return self.create("as_tensor", args, keys, node, "tensor") if "requires_grad" in keys else args[0]
        if name == "gradcheck":
            self.note("gradcheck", node, args[1] if len(args) > 1 else keys.get("inputs", Value()))
            return Value("flag")
        if ".init." in full and name.endswith("_"):
            self.note("init", node, args[0] if args else Value(), args[1] if len(args) > 1 else None, name)
            return args[0] if args else Value()
        if name.endswith("_") and root == "torch" and args:
            return self.tensor_call(args[0], name, args[1:], keys, node, "argument")
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
            return Value("list", items=[self.derivative(args, keys, node)], marks={"open"})
        if name in {"deepcopy"}:
            return Value("module", op="any", marks={"any", "eval"})
        if name in {"default_rng", "RandomState"}:
            return Value("generator")
        if name == "TensorDataset":
            return Value("dataset", items=args)
        if name == "DataLoader" and args and args[0].kind == "dataset":
            size = keys.get("batch_size", args[1] if len(args) > 1 else Value())
            return Value("loader", items=args[0].items, constant=size.constant)
        if name in DISTRIBUTIONS and "distributions" in full:
            return Value("distribution", node, op=name, parents=(*args, *keys.values()))
        if root == "torchvision" or "hub" in full or name in {"DataLoader", "Compose"}:
            return Value(parents=tuple(a for a in args if a.graph), op="call", name="")
        if root == ENGINE and name == "Tensor":
            return self.engine_leaf(args, keys, node)
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
        along = "dim" in keys or (len(args) > 1 and args[1].kind == "number")
        if name in {"max", "min", "topk", "sort"} and root == "torch" and args and along:
            return self.tensor_call(args[0], name, args[1:], keys, node)
        if root in {"torch", "model"}:
            if name == "where" and len(node.args) == 3:
                return self.where(args, keys, node, scope)
            if name in EFFECTS:
                return self.function(name, args, keys, node)
            return self.call(Value("library", op=full), args, keys, node)
        return self.call(Value(), args, keys, node)

    def derivative(self, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        """What autograd.grad gives: numbers alone, unless it is asked to record how they came about."""
        known = all(key.arg in {"outputs", "inputs", "grad_outputs", "retain_graph"} for key in node.keywords)
        if not args or len(node.args) > 3 or not known:
            return Value()
        value = self.tensor(node, "derivative", args[:1])
        if value.cut != "no_grad":
            value.cut, value.cut_by = "derivative", node
        value.graph = False
        return value

    def engine_leaf(self, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        """A tensor of this project's engine: it asks for a gradient unless it is told not to."""
        first = args[0] if args else keys.get("data", Value())
        remade = bool(first.cut) and not any("updated" in v.marks for v in reach(first, live=False))
        value = self.tensor(node, "Tensor", (first,) if remade else (), literal_shape(first))
        asks = args[1] if len(args) > 1 else keys.get("requires_grad", Value(constant=True))
        value.graph = asks.constant if isinstance(asks.constant, bool) else None
        value.leaf = value.double = True
        if remade:
            value.cut, value.cut_by = "wrapped", node
        value.marks.add("engine")
        return value

    def where(self, args: list[Value], keys: dict[str, Value], node: ast.Call, scope: Scope) -> Value:
        """The choice, with the names that may be where its condition says no: those in it, and multiples of them."""
        tested = {n.id: scope.find(n.id) for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)}
        unsafe: dict[int, str] = {}
        for name, value in tested.items():
            if value is None or value.op in BOUNDED:
                continue
            if graph_of(value) or (value.graph is None and value.kind != "parameter" and value.op != "call"):
                unsafe[id(value)] = name
        risky = list(unsafe.values())
        for part in (n.id for arm in node.args[1:] for n in ast.walk(arm) if isinstance(n, ast.Name)):
            found = scope.find(part)
            if found is not None and found.op == "*" and any(id(p) in unsafe for p in found.parents):
                risky.append(part)
        value = self.function("where", args, keys, node)
        self.note("where", node, value, None, " ".join(risky))
        return value

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
        value.attributes |= {k: v for k, v in keys.items() if k in {"reduction", "inplace"}}
        value.constant = self.times()
        if any(flag.constant is False for key, flag in keys.items() if key.endswith("affine")):
            value.marks.add("frozen")  # it has no parameters
        if name in LAYERS:
            self.note("made", node, value)
        self.everything.append(value)
        return value

    def times(self) -> int:
        """How often the place is run by a loop or a comprehension over range(5); 1 where that is not known."""
        return self.repeats * (self.counts.get(id(self.loops[-1][0]), 1) if self.loops else 1)

    def optimizer(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        given = args[0] if args else keys.get("params", keys.get("parameters", Value()))
        value = Value("optimizer", node, self.statement, name, (given,))
        rate = keys.get("lr", args[1] if len(args) > 1 else Value())
        value.attributes["lr"] = rate
        value.items = owners(given)
        self.everything.append(value)
        self.note("optimizer", node, value, given)
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
