"""What the functions and classes of torch, numpy and this engine do."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from lab.failures.analysis.facts import TENSORS, Scope, Value, ancestors, broadcast, graph_of, modules, owners
from lab.failures.analysis.kinds import Cut, EventKind, Kind, Tag, words
from lab.failures.analysis.methods import Methods
from lab.failures.analysis.registry import CONTAINERS, CREATORS, EFFECTS, ENGINE, LAYERS, NORMS, OPTIMIZERS, is_layer
from lab.failures.analysis.shapes import leaves, literal_shape
from lab.failures.analysis.state import AnalysisState, Follower
from lab.failures.analysis.tensors import Operation, Tensors

DISTRIBUTIONS = words("Normal LogNormal Laplace Cauchy Beta Gamma Uniform Bernoulli")  # of independent elements
ALONG_AXIS = {"chunk", "split", "unbind", "max", "min"}  # as methods of their first argument
WITHOUT_TENSORS = {"manual_seed", "device", "save", "load", "is_available", "autocast", "no_grad", "Generator"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryCall(Operation):
    """One call of a library's function or class; `full` is its dotted name."""

    full: str
    node: ast.Call

    @property
    def root(self) -> str:
        return self.full.split(".")[0]


@dataclass
class Libraries:
    """Evaluates calls to libraries."""

    state: AnalysisState
    tensors: Tensors
    methods: Methods
    follower: Follower

    def library_call(self, full: str, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        call = LibraryCall(full.split(".")[-1], args, keys, node=node, full=full)
        if call.root == "math":
            return Value(Kind.NUMBER, parents=tuple(a for a in call.args if a.cut or a.parents or a.branches))
        if is_layer(call.name) and (call.root in ENGINE or "nn" in call.full.split(".")):
            return self.layer(call.name, args, keys, node)
        if call.name in self.named and (value := self.named[call.name](self, call)) is not None:
            return value
        return self.training_call(call) or self.data_call(call) or self.numpy_call(call) or self.torch_call(call)

    def training_call(self, call: LibraryCall) -> Value | None:
        full, name, args, node = call.full, call.name, call.args, call.node
        if name in OPTIMIZERS and (call.root in ENGINE or ".optim" in full):
            return self.optimizer(name, args, call.keys, node)
        if "lr_scheduler" in full:
            return Value(Kind.SCHEDULER, op=name)
        if ".init." in full and name.endswith("_"):
            call.first.tags.add(Tag.WRITTEN)
            return call.first
        if name in {"clip_grad_norm_", "clip_grad_value_"} and args:
            self.state.record_event(EventKind.CLIP, node, args[0])
            return Value()
        if name.endswith("_") and call.root == "torch" and args:
            return self.methods.of_tensor(call, "argument")
        return self.autograd_grad(call) if full.endswith("autograd.grad") else None

    def autograd_grad(self, call: LibraryCall) -> Value:
        """Return the list of one derivative: a tensor without a graph, or unknown if it may have one."""
        args, node = call.args, call.node
        if not args:
            return Value(Kind.LIST, tags={Tag.OPEN})
        keeps = [call.keys.get(word, Value()).constant for word in ("create_graph", "retain_graph")]
        started = len(args) > 2 or "grad_outputs" in call.keys
        detail = ("retain" if any(keeps) else "") + (" given" if started else "")
        self.state.record_event(EventKind.USED, node, args[0], detail=detail)
        value = Value()
        if len(args) < 4 and call.keys.keys() <= {"inputs", "grad_outputs", "retain_graph"}:
            value = self.tensors.tensor(node, "derivative", args[:1])
            if value.cut != Cut.NO_GRAD:
                value.cut, value.cut_by = Cut.DERIVATIVE, node
            value.graph = False
        return Value(Kind.LIST, items=[value], tags={Tag.OPEN})

    def data_call(self, call: LibraryCall) -> Value | None:
        full, name, args, keys = call.full, call.name, call.args, call.keys
        if name == "DataLoader" and (sample := self.sample(call.first, call.node)) is not None:
            size = (call.argument(1, "batch_size") or Value()).constant
            return Value(Kind.LOADER, base=sample, constant=size if isinstance(size, int) else None)
        if name == "random_split" and len(args) > 1 and args[1].items:
            return Value(Kind.LIST, items=[args[0] for _ in args[1].items])
        if "distributions" in full and name[:1].isupper():
            given = (*args, *keys.values())
            shape = broadcast(given[0], given[-1]) if name in DISTRIBUTIONS and given else None
            return Value(Kind.DISTRIBUTION, call.node, op=name, parents=given, shape=shape)
        if call.root == "torchvision" or "hub" in full or name in {"DataLoader", "Compose"}:
            return Value(parents=tuple(a for a in args if a.graph), op="call", name="")
        if call.root in ENGINE and name == "Tensor":
            return self.engine_leaf(args, keys, call.node)
        if (name in CREATORS and call.root in {"torch", "numpy"}) or (call.root == "numpy" and "random" in full):
            return self.tensors.create(name, args, keys, call.node, Kind.ARRAY if call.root == "numpy" else Kind.TENSOR)
        return None

    def sample(self, data: Value, node: ast.Call) -> Value | None:
        """Return one sample of a dataset; None if it is not known."""
        if data.kind == Kind.DATASET:
            parts = [self.tensors.part(v, node, v.shape[1:] if v.shape else None) for v in data.items or []]
            return Value(Kind.LIST, items=parts)
        get = self.follower.method(data, "__getitem__") if data.kind == Kind.INSTANCE else None
        return self.follower.call(get, [Value(Kind.NUMBER)], {}, node) if get is not None else None

    def numpy_call(self, call: LibraryCall) -> Value | None:
        if call.root not in {"numpy", "scipy", "matplotlib"}:
            return None
        for given in call.args:
            listed = given.kind == Kind.LIST or call.name in {"array", "asarray", "plot", "scatter", "imshow"}
            part = next((v for v in leaves([given]) if v.kind in TENSORS and graph_of(v) is True), None)
            if listed and part is not None:
                self.state.record_event(EventKind.TO_NUMPY, call.node, part)
        value = self.tensors.function(call.name, call.args, call.keys, call.node)
        if value.kind == Kind.TENSOR and not any(a.kind in TENSORS for a in call.args):
            value.kind = Kind.ARRAY
        return value

    def torch_call(self, call: LibraryCall) -> Value:
        name, args, keys, node = call.name, call.args, call.keys, call.node
        if name in WITHOUT_TENSORS:
            return Value(Kind.TEXT)
        if call.root not in {"torch", *ENGINE}:
            return self.follower.call_unknown(Value(), args, keys, node)
        along = call.first.kind in TENSORS or (call.argument(1, "dim") or Value()).kind == Kind.NUMBER
        if call.root == "torch" and along and name in ALONG_AXIS:
            return self.methods.of_tensor(call)
        if name in EFFECTS:
            return self.tensors.function(name, args, keys, node)
        return self.follower.call_unknown(Value(Kind.LIBRARY, op=call.full), args, keys, node)

    def parameter(self, call: LibraryCall) -> Value:
        made = call.first if call.first.kind == Kind.TENSOR else Value(Kind.TENSOR, call.node)
        value = Value(Kind.PARAMETER, call.node, self.state.statement, made.op, graph=True, leaf=True, shape=made.shape)
        value.form = made.form
        if "requires_grad" in call.keys or len(call.args) > 1:
            value.tags.add(Tag.FROZEN)
        else:
            self.tensors.integers_asked(value)
        return value

    def variable(self, call: LibraryCall) -> Value:
        """Return the argument, or what detaches it: a leaf with its numbers, if requires_grad is given."""
        wants = call.argument(1, "requires_grad")
        if wants is None:
            return call.first
        return self.tensors.create("tensor", [call.first], {"requires_grad": wants}, call.node, Kind.TENSOR)

    def set_grad_enabled(self, call: LibraryCall) -> Value:
        node, flag = call.node, call.node.args[0] if call.node.args else None
        if (
            isinstance(self.state.statement, ast.Expr)
            and self.state.statement.value is node
            and isinstance(flag, ast.Constant)
        ):
            self.state.modes[-1] = None if flag.value else node
        return Value(Kind.NONE)

    def checkpoint(self, call: LibraryCall) -> Value:
        """Return the result of checkpoint(function, *args), which is cut unless an argument requires a gradient."""
        args, reentrant = call.args[1:], call.keys.pop("use_reentrant", Value(constant=True))
        value = self.follower.call(call.first, args, call.keys, call.node)
        if reentrant.constant is not True or any(graph_of(given) is not False for given in args):
            return value
        value = self.tensors.tensor(call.node, "view", (value,), value.shape)
        value.graph, value.cut = False, Cut.CHECKPOINT
        value.cut_by = next((given.cut_by for given in args if given.cut == Cut.CHECKPOINT), call.node)  # the first
        return value

    # Names that mean the same in each library; a handler returns None to leave the call to later rules.
    named: ClassVar[dict[str, Callable[["Libraries", LibraryCall], Value | None]]] = {
        "GradScaler": lambda self, call: Value(Kind.SCALER),
        "Parameter": parameter,
        "Variable": variable,
        "set_grad_enabled": set_grad_enabled,
        "checkpoint": checkpoint,
        "deepcopy": lambda self, call: (
            Value(Kind.MODULE, op="any", tags={Tag.ANY, Tag.EVAL})
            if call.first.kind in {Kind.MODULE, Kind.UNKNOWN}
            else Value()
        ),
        "default_rng": lambda self, call: Value(Kind.GENERATOR),
        "partial": lambda self, call: Value(Kind.PARTIAL, base=call.first, items=call.args[1:], attributes=call.keys),
        "OrderedDict": lambda self, call: named_items(call.args, call.keys),
        "TensorDataset": lambda self, call: Value(Kind.DATASET, items=call.args),
    }

    def engine_leaf(self, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        """Return a leaf of this project's engine; it requires a gradient unless told otherwise."""
        first = args[0] if args else keys.get("data", Value())
        remade = any(v.cut for v in ancestors(first, live=False))
        value = self.tensors.tensor(node, "Tensor", (first,) if remade else (), literal_shape(first))
        asks = args[1] if len(args) > 1 else keys.get("requires_grad", Value(constant=True))
        value.graph = asks.constant if isinstance(asks.constant, bool) else None
        value.leaf = True
        return value

    def layer(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        value = Value(
            Kind.MODULE, node, self.state.statement, name, attributes={}, graph=True if name in LAYERS else None
        )
        if name in LAYERS - NORMS:
            words = ("out_features", "n_out", "out_channels", "embedding_dim", "hidden_size")
            named = next((keys[word] for word in words if word in keys), None)
            out = args[0 if name.startswith("Lazy") else 1] if len(args) > (not name.startswith("Lazy")) else named
            if out is not None and "bidirectional" not in keys:
                value.attributes["out"] = out
        if name in CONTAINERS:
            if len(args) == 1 and args[0].kind in {Kind.LIST, Kind.DICT}:
                value.items = args[0].items
                value.attributes |= args[0].attributes
                value.tags |= args[0].tags & {Tag.OPEN}
            else:
                value.items = args
            for item in value.items or []:
                item.tags.add(Tag.REGISTERED)
        value.attributes |= {k: v for k, v in keys.items() if k in {"reduction", "reduce", "inplace"}}
        if name == "Flatten" and not args and not keys:  # unlike the function, it keeps the first axis
            value.attributes["start_dim"] = Value(Kind.NUMBER, constant=1)
        if any(flag.constant is False for key, flag in keys.items() if key.endswith("affine")):
            value.tags.add(Tag.FROZEN)  # it has no parameters
        self.state.objects.append(value)
        return value

    def optimizer(self, name: str, args: list[Value], keys: dict[str, Value], node: ast.Call) -> Value:
        given = args[0] if args else keys.get("params", keys.get("parameters", Value()))
        value = Value(Kind.OPTIMIZER, node, self.state.statement, name, (given,))
        value.attributes["lr"] = keys.get("lr", args[1] if len(args) > 1 else Value())
        value.items = owners(given)
        value.moved = tuple(part for item in value.items or [] for part in modules(item))
        for item in value.items or []:
            if item.kind == Kind.MODULE:  # it is in training, however often eval() is called
                item.tags.add(Tag.TRAINED)
        self.state.record_event(EventKind.OPTIMIZER, node, value, given)
        return value

    def grad_mode(self, node: ast.expr, scope: Scope) -> ast.AST | Literal[False] | None:
        """Return the node if it switches gradients off, None if it switches them on, False if neither."""
        call = node.func if isinstance(node, ast.Call) else node
        name = self.library_name(call, scope).split(".")[-1]
        if name in {"no_grad", "inference_mode"}:
            return node
        if name == "enable_grad":
            return None
        if name == "set_grad_enabled" and isinstance(node, ast.Call) and node.args:
            return node if self.follower.eval(node.args[0], scope).constant is False else None
        return False

    def library_name(self, node: ast.expr, scope: Scope) -> str:
        """Return the full name that a dotted name stands for; empty if it is not a library's."""
        if isinstance(node, ast.Name):
            found = scope.find(node.id)
            return found.op if found is not None and found.kind == Kind.LIBRARY else ""
        if isinstance(node, ast.Attribute):
            root = self.library_name(node.value, scope)
            return f"{root}.{node.attr}" if root else ""
        return ""


def named_items(args: list[Value], keys: dict[str, Value]) -> Value:
    """Return the dict that dict() or OrderedDict() makes of a list of pairs and keywords; open if it is not known."""
    pairs = [pair.items or [] for pair in (args[0].items or [] if args else [])]
    named = {str(pair[0].constant): pair[1] for pair in pairs if len(pair) == 2 and pair[0].constant is not None} | keys
    known = len(named) == len(pairs) + len(keys) and (not args or args[0].kind == Kind.LIST)
    items = [*(pair[-1] for pair in pairs if pair), *keys.values()]
    return Value(Kind.DICT, items=items, attributes=named, tags=set() if known else {Tag.OPEN})
