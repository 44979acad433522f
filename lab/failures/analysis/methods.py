"""What the methods of tensors, modules, optimizers and lists do."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from lab.failures.analysis.facts import TENSORS, Value, broadcast, graph_of, leaf_of, modules, owner_of
from lab.failures.analysis.kinds import Cut, EventKind, Kind, Tag
from lab.failures.analysis.registry import EFFECTS, MODULE_METHODS
from lab.failures.analysis.shapes import created_shape, reduced_shape
from lab.failures.analysis.state import AnalysisState, Follower
from lab.failures.analysis.tensors import Operation, Tensors
from lab.failures.analysis.work import walk

CALLABLE = {Kind.MODULE, Kind.FUNCTION, Kind.OPTIMIZER, Kind.PARTIAL, Kind.LIBRARY, Kind.CLASS}
Method = Callable[["Methods", Operation], Value | None]


@dataclass
class Methods:
    """Evaluates method calls."""

    state: AnalysisState
    tensors: Tensors
    follower: Follower

    def method_call(self, owner: Value, name: str, args: list[Value], keys: dict[str, Value], node: ast.AST) -> Value:
        found = owner.attributes.get(name)
        if found is not None and (found.kind in CALLABLE or self.follower.method(found, "__call__") is not None):
            return self.follower.call(found, args, keys, node)
        if owner.kind in {Kind.MODULE, Kind.INSTANCE} and (method := self.follower.method(owner, name)) is not None:
            return self.follower.call(method, args, keys, node)
        op = Operation(name, [owner, *args], keys, node if isinstance(node, ast.expr) else ast.Constant(None))
        if name in self.training and (value := self.training[name](self, op)) is not None:
            return value
        if name in MODULE_METHODS and owner.kind in {Kind.MODULE, Kind.UNKNOWN}:
            return self.known_of_module(op)
        return self.by_kind.get(owner.kind, Methods.of_unknown)(self, op)

    def backward(self, op: Operation) -> Value | None:
        owner, given = op.first, op.args[1:2]
        handed = given and given[0].kind in {Kind.TENSOR, Kind.UNKNOWN} and given[0].graph is not False
        if handed and (owner.kind == Kind.UNKNOWN or op.name == "manual_backward"):  # accelerator.backward(loss)
            self.state.record_event(EventKind.BACKWARD, op.node, given[0], None, "given")
            return Value(Kind.NONE)
        retain = op.keys.get("retain_graph")
        detail = "retain" if retain is not None and retain.constant is not False else ""
        detail += " given" if given or "gradient" in op.keys or "grad" in op.keys else ""
        self.state.record_event(EventKind.BACKWARD, op.node, owner, None, detail)
        return Value(Kind.NONE)

    def zero_grad(self, op: Operation) -> Value:
        self.state.record_zero(op.first, op.node)
        return Value(Kind.NONE)

    def scale(self, op: Operation) -> Value | None:
        owner = op.first
        scaler = owner.kind == Kind.SCALER or (owner.kind == Kind.UNKNOWN and "scaler" in owner.name.lower())
        return op.argument(1) or Value() if scaler else None

    def of_gradient(self, op: Operation) -> Value:
        owner = op.first
        nothing = op.name == "mul_" and len(op.args) > 1 and op.args[1].constant == 0
        if op.name in {"zero_", "fill_", "fill", "copy_"} or nothing:
            self.state.record_zero(owner.base or Value(), op.node)
        elif op.name.endswith("_") and op.name not in {"detach_", "requires_grad_"}:
            self.state.record_event(EventKind.CLIP, op.node, owner.base or Value(), detail="changed")
        same = op.name in {"data", "clone", "detach", "detach_", "requires_grad_", "clamp"}
        return Value(Kind.GRADIENT, base=owner.base, op=owner.op, tags=owner.tags) if same else Value()

    def of_module(self, op: Operation) -> Value:
        owner, added = op.first, op.args[1:2]
        if op.name in {"items", "keys", "values"}:
            return self.of_list(op)
        if owner.items is None or op.name not in {"append", "extend"} or not added:
            return self.of_unknown(op)
        added[0].tags.add(Tag.REGISTERED)
        owner.items = [*owner.items, *(added if op.name == "append" else added[0].items or [])]
        owner.tags.add(Tag.OPEN)
        return owner

    def of_unknown(self, op: Operation) -> Value:
        owner, name, args, keys, at = op.first, op.name, op.args[1:], op.keys, op.node
        if owner.kind == Kind.UNKNOWN and owner.graph:
            return self.of_tensor(op)
        if owner.kind == Kind.DISTRIBUTION:
            sampled = name == "sample"  # no gradient flows from a sample to the distribution's parameters
            shape = owner.shape if not args else broadcast(owner, args[0]) if name == "log_prob" else None
            return self.tensors.tensor(at, name, () if sampled else (*owner.parents, *args), shape)
        item = bool(owner.iterations) and bool(args) and args[0].kind == Kind.GRADIENT and args[0].base is owner
        if item and name in {"add_", "sub_"}:
            return self.in_place(op, "method")  # an update by hand
        if name in {"detach", "item", "numpy", "tolist"} or (name in {"max", "min"} and (args or keys)):
            return self.of_tensor(op)
        if name in EFFECTS and name != "copy":  # only a tensor has it
            return self.tensors.function(name, op.args, keys, at)
        function = owner.attributes.get(name) or Value(parents=(owner,), name=f"{owner.name}.{name}")
        return self.follower.call(function, args, keys, at)

    def take_step(self, owner: Value, args: list[Value], at: ast.expr) -> Value:
        if owner.kind == Kind.SCHEDULER or "sched" in owner.name.lower():
            self.state.record_event(EventKind.SCHEDULER, at, owner, args[0] if args else None)
            return Value(Kind.NONE)
        scaler = owner.kind == Kind.SCALER or "scaler" in owner.name.lower()
        if scaler and args:
            self.state.record_event(EventKind.STEP, at, args[0])
            return Value(Kind.NONE)
        if owner.kind == Kind.OPTIMIZER or (owner.kind == Kind.UNKNOWN and not args):
            self.state.record_event(EventKind.STEP, at, owner)
        return Value()

    def known_of_module(self, op: Operation) -> Value:
        """Evaluate a method that every module has; an unknown owner of most of them is a module."""
        owner, name, args, at = op.first, op.name, op.args[1:], op.node
        if owner.kind == Kind.UNKNOWN and name in {"cuda", "to", "double"}:
            return owner
        if name == "requires_grad_" and (owner.kind == Kind.UNKNOWN or (args and args[0].constant is False)):
            return self.ask_for_gradient(owner, args, at)
        if owner.kind == Kind.UNKNOWN and name not in {"apply", "compile"}:
            owner.kind, owner.op = Kind.MODULE, "any"
            owner.tags.add(Tag.ANY)
        if name in {"parameters", "named_parameters", "state_dict"}:
            one = Value(Kind.PARAMETER, at, self.state.statement, "parameter", graph=True, leaf=True, base=owner)
            owner.tags.add(Tag.EXPOSED)
            named = Value(Kind.DICT, items=[one], tags={Tag.OPEN}, base=owner)
            given = {"parameters": Value(Kind.PARAMETERS, items=[one], base=owner), "state_dict": named}
            return given[name] if name in given else self.pairs(named)
        if name in {"eval", "load_state_dict"}:
            owner.tags |= {Tag.EVAL} if Tag.TRAINED not in owner.tags else set()
            self.state.record_event(EventKind.EVAL, at, owner, None, name)
        if name in {"add_module", "register_module", "register_buffer", "register_parameter"} and len(args) > 1:
            name_of = args[0].constant
            owner.attributes[str(len(owner.attributes) if name_of is None else name_of)] = args[1]
            if name != "register_buffer":
                args[1].tags.add(Tag.REGISTERED)
                owner.items = [*owner.items, args[1]] if owner.items is not None else None
            return Value(Kind.NONE)
        return owner

    def of_list(self, op: Operation) -> Value:
        owner, name, args, at = op.first, op.name, op.args[1:], op.node
        if name in {"append", "insert"} and args:
            self.state.record_event(EventKind.APPEND, at, owner, args[-1])
            owner.items = [*(owner.items or []), args[-1]][:64]
        elif name == "extend":
            owner.items = None  # what it holds now is not followed
        elif name in {"clear", "pop"}:
            owner.items, owner.iterations = owner.items if name == "pop" else [], self.state.iterations()
        elif name == "values":
            return Value(Kind.LIST, items=owner.items, tags=owner.tags & {Tag.OPEN})
        elif name == "items":
            return self.pairs(owner)
        return Value(parents=tuple(owner.items or []))

    @staticmethod
    def pairs(box: Value) -> Value:
        """Return the items() of a dict; names that are unknown have no constant."""
        items = box.items or []
        names = box.attributes if len(box.attributes) == len(items) else [None] * len(items)
        pairs = [Value(Kind.LIST, items=[Value(Kind.TEXT, constant=k), v]) for k, v in zip(names, items, strict=True)]
        return Value(Kind.LIST, items=pairs, tags=box.tags & {Tag.OPEN})

    def keys(self, box: Value) -> Value:
        return Value(Kind.LIST, items=[pair.items[0] for pair in self.pairs(box).items or [] if pair.items])

    def of_tensor(self, op: Operation, written: str = "method") -> Value:
        """Evaluate a method of a tensor; `written` says how the program calls it."""
        if op.name in self.of_tensors and (value := self.of_tensors[op.name](self, op)) is not None:
            return value
        if op.name.endswith("_") and not op.name.endswith("__"):
            return self.in_place(op, written)
        return self.tensors.function(op.name, op.args, op.keys, op.node)

    def in_place(self, op: Operation, written: str) -> Value:
        owner, other = op.first, op.argument(1) or Value(Kind.NONE)
        written_to = owner.parents[0] if owner.op == "detach" else owner
        written_to.form = ""
        written_to.tags.add(Tag.WRITTEN)
        how = written if negative(op.keys.get("alpha")) else {"add_": "+", "sub_": "-"}.get(op.name, written)
        if owner.op == "detach" and isinstance(owner.node, ast.Attribute):  # p.data.add_(...)
            self.state.record_event(EventKind.UPDATE, op.node, owner.parents[0], other, how)
        else:
            leaf = leaf_of(owner)
            self.state.record_event(EventKind.WRITE, op.node, leaf, other, how if leaf is owner else "part")
        if owner.kind == Kind.PARAMETER or owner.leaf:
            return owner
        return self.tensors.function(op.name.rstrip("_"), op.args, op.keys, op.node)

    def numpy(self, op: Operation) -> Value:
        if graph_of(op.first) is True and op.first.kind in TENSORS and not op.keys:
            self.state.record_event(EventKind.TO_NUMPY, op.node, op.first)
        return self.tensors.to_number(op.first, op.node, Cut.NUMPY)

    def retain_grad(self, op: Operation) -> Value:
        op.first.tags.add(Tag.RETAINED)
        return Value(Kind.NONE)

    def detach_(self, op: Operation) -> Value:
        op.first.parents, op.first.graph, op.first.cut = (), False, Cut.NONE
        return op.first

    def extremes_along_axis(self, op: Operation) -> Value | None:
        """Return the extremes along an axis and their indices; None without an axis, as of two tensors."""
        owner, args = op.first, op.args[1:]
        if not (args or op.keys) or (args and args[0].kind in TENSORS):
            return None
        axis = (op.argument(1, "dim") or Value()).constant
        shape = reduced_shape(owner.shape, axis, op.keys.get("keepdim"))
        both = self.tensors.tensor(op.node, op.name, (owner,), shape)
        return Value(Kind.LIST, items=[both, self.tensors.choice(op.node, [owner])])

    def parts(self, op: Operation) -> Value:
        return Value(Kind.LIST, items=[self.tensors.part(op.first, op.node, None)], tags={Tag.OPEN})

    @staticmethod
    def freeze(owner: Value) -> None:
        """Switch requires_grad off for a tensor, or for the whole module, as one parameter stands for all of them."""
        module = owner_of(owner)
        for part in (owner, module) if module.op == "any" else (owner, *modules(module)):
            part.tags.add(Tag.FROZEN)

    def ask_for_gradient(self, value: Value, args: list[Value], at: ast.expr) -> Value:
        """Set requires_grad on a value; an unknown argument leaves open whether it is set."""
        if args and args[0].constant is False:
            self.freeze(value)
            return value
        self.tensors.integers_asked(value)
        if value.parents and value.graph is not True:
            self.state.record_event(EventKind.ASK, at, value)
        value.graph, value.leaf = (None if args and args[0].constant is not True else True), True
        return value

    # Methods that train, on any value; a handler returns None if another method of that name is meant.
    training: ClassVar[dict[str, Method]] = {
        **dict.fromkeys(("backward", "manual_backward"), backward),
        "zero_grad": zero_grad,
        "step": lambda self, op: self.take_step(op.first, op.args[1:], op.node),
        "scale": scale,
    }
    by_kind: ClassVar[dict[Kind, Callable[["Methods", Operation], Value]]] = {
        Kind.GRADIENT: of_gradient,
        Kind.MODULE: of_module,
        Kind.LIST: of_list,
        Kind.DICT: of_list,
        Kind.NUMBER: lambda self, op: Value(Kind.NUMBER),
        Kind.TEXT: lambda self, op: Value(Kind.TEXT),
        Kind.GENERATOR: lambda self, op: Value(Kind.ARRAY, shape=created_shape(op.name, op.args[1:], op.keys)),
        Kind.ARRAY: lambda self, op: self.tensors.function(op.name, op.args, op.keys, op.node),
        Kind.TENSOR: of_tensor,
        Kind.PARAMETER: of_tensor,
    }
    of_tensors: ClassVar[dict[str, Method]] = {
        "detach": lambda self, op: self.tensors.detached(op.first, op.node),
        "detach_": detach_,
        "item": lambda self, op: self.tensors.to_number(op.first, op.node),
        "tolist": lambda self, op: self.tensors.to_number(op.first, op.node),
        "numpy": numpy,
        "__array__": lambda self, op: self.tensors.to_number(op.first, op.node, Cut.NUMPY),
        "requires_grad_": lambda self, op: self.ask_for_gradient(op.first, op.args[1:], op.node),
        "retain_grad": retain_grad,
        **dict.fromkeys(("size", "dim", "numel", "nelement"), lambda self, op: Value(Kind.NUMBER)),
        "max": extremes_along_axis,
        "min": extremes_along_axis,
        "chunk": parts,
        "split": parts,
        "unbind": parts,
        "register_hook": lambda self, op: Value(),
    }


def negative(rate: Value | None) -> bool:
    """Return whether a rate is written with a minus."""
    parts = walk(rate.node) if rate is not None and rate.node is not None else ()
    return any(isinstance(part, ast.USub) for part in parts)
