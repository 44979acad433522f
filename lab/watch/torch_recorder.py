"""The forward pass of a PyTorch program, as cards: a mode that sees each operation with its operands.

Nothing is changed: each function runs with the operands it was given. At the end all that was put in is taken out.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode

from lab.watch.cards import REVERSED, NodeCard, Picture, Place, caller, picture, plain_name, variable
from lab.watch.cuts import NUMBERS
from lab.watch.tracks import kind, node_of
from lab.watch.watcher import IN_PLACE, SILENT, tensors_in

Tensor = torch.Tensor
MAX_CARDS = 20_000
GRAPH_VIEWS = frozenset(("T", "mT", "H", "mH", "real", "imag"))  # attributes that are operations
INFIX = frozenset("+-*/") | {"**"}
Key = tuple[Any, int]  # a node of PyTorch's graph and the number of its result


def numbers_of(tensor: Tensor) -> Picture:
    """The picture of a tensor of any kind."""
    with torch._C.DisableTorchFunction(), torch.no_grad():  # another mode need not see it
        plain = tensor.detach()
        if plain.is_sparse:
            plain = plain.to_dense()
        if plain.is_complex():
            plain = plain.abs()
        if plain.dtype in (torch.bfloat16, torch.float16):
            plain = plain.float()
        return picture(plain.cpu().resolve_neg().numpy())


def address(tensor: Tensor) -> int:
    return 0 if tensor.is_sparse else tensor.untyped_storage().data_ptr()


class TorchRecorder(TorchFunctionMode):
    """Makes a card of each operation of a `with` block, and hands the graph of each backward pass to `run_backward`."""

    def __init__(self, run_backward: Callable[..., Any]) -> None:
        super().__init__()
        self.run_backward = run_backward
        self.silent = 0  # inside an optimizer, a custom Function or a backward pass
        self.edges: dict[Key, NodeCard] = {}
        self.plain: dict[int, tuple[Tensor, NodeCard]] = {}  # tensors without a graph: leaves, constants, ends
        self.ends: list[NodeCard] = []
        self.writes: dict[int, list[tuple[int, int, str]]] = {}
        self.untold: set[NodeCard] = set()  # cards whose saved tensors must not be looked at
        self.modules: list[tuple[Any, str]] = []  # that run now, the innermost last, each with its path and number
        self.module_calls: dict[str, int] = {}
        self.paths: dict[int, tuple[Any, str]] = {}
        self.parameters: dict[int, str] = {}
        self.stale: set[NodeCard] = set()  # cards whose memory was written to
        self.made = 0
        self.calls = 0
        self.nested: Callable[[], None] | None = None  # told of a backward pass inside one
        self.handles: list[Any] = []
        self.old: list[tuple[Any, str, Any]] = []

    # In and out

    def __enter__(self) -> "TorchRecorder":
        self.handles = [
            register_module_forward_pre_hook(self.module_begins),
            register_module_forward_hook(self.module_ends, always_call=True),
            register_optimizer_step_pre_hook(self.step_begins),
            register_optimizer_step_post_hook(self.step_ends),
        ]
        self.replace(torch.autograd, "_engine_run_backward", self.engine)
        self.replace(torch.autograd.Function, "apply", self.custom)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *ended: Any) -> None:
        super().__exit__(*ended)  # type: ignore[no-untyped-call]
        for owner, name, old in reversed(self.old):
            setattr(owner, name, old)
        for handle in self.handles:
            handle.remove()
        for store in (self.edges, self.plain, self.writes, self.paths, self.parameters):
            store.clear()
        for rest in (self.ends, self.modules, self.handles, self.old, self.untold, self.stale):
            rest.clear()

    def replace(self, owner: Any, name: str, wrapped: Callable[[Any], Any]) -> None:
        old = vars(owner)[name]
        self.old.append((owner, name, old))
        setattr(owner, name, wrapped(old))

    def engine(self, old: Any) -> Any:
        def _engine_run_backward(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            if self.silent:
                if self.nested is not None:
                    self.nested()
                return old(outputs, *args, **kwargs)
            self.silent += 1
            try:
                return self.run_backward(self, old, outputs, args, kwargs)
            finally:
                self.silent -= 1

        return _engine_run_backward

    def custom(self, old: Any) -> Any:
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            function = old.__get__(None, cls)
            if self.silent:
                return function(*args, **kwargs)
            self.silent += 1
            try:
                result = function(*args, **kwargs)
            finally:
                self.silent -= 1
            self.results(cls.__name__, args, kwargs, result)
            return result

        return classmethod(apply)

    def step_begins(self, *_: Any) -> None:
        self.silent += 1

    def step_ends(self, *_: Any) -> None:
        self.silent = max(0, self.silent - 1)

    # Modules

    def module_begins(self, module: Any, args: Any) -> None:
        if self.silent:
            return
        if id(module) not in self.paths:
            root = variable(caller(2), module) if not self.modules else ""
            root = root if root and root != "self" else type(module).__name__
            for path, part in module.named_modules():
                self.paths.setdefault(id(part), (part, f"{root}.{path}" if path else root))
            for path, parameter in module.named_parameters():
                self.parameters.setdefault(id(parameter), f"{root}.{path}")
        path = self.paths[id(module)][1]
        count = self.module_calls[path] = self.module_calls.get(path, 0) + 1
        self.modules.append((module, f"{path} {count}"))

    def module_ends(self, module: Any, args: Any, result: Any) -> None:
        if self.modules and self.modules[-1][0] is module:
            self.modules.pop()

    # What the mode sees

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs, name = kwargs or {}, func.__name__
        if name == "__get__" and func.__self__.__name__ in GRAPH_VIEWS | {"data"}:
            name = func.__self__.__name__
        quiet = name in SILENT or name in ("backward", "grad", "__get__", "__set__", "register_hook", "retain_grad")
        if self.silent or quiet or self.made > MAX_CARDS:
            return func(*args, **kwargs)
        if name in ("requires_grad_", "set_"):
            return func(*args, **kwargs)
        if (name.endswith("_") and name[0] != "_") or name in IN_PLACE:
            return self.write(func, name, args, kwargs)
        result = func(*args, **kwargs)
        if name in NUMBERS:
            self.number(name, args, result)
        else:
            self.results(name, args, kwargs, result)
        return result

    def results(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """An operation gave a tensor, or several."""
        self.calls += 1
        for part in result if isinstance(result, (tuple, list)) else [result]:
            for inner in part if isinstance(part, (tuple, list)) else [part]:
                if isinstance(inner, Tensor):
                    self.note(name, args, kwargs, inner)

    def note(self, name: str, args: Any, kwargs: Any, result: Tensor) -> NodeCard | None:
        """Make a card of a result, unless it has one: `contiguous` may give back what it got."""
        node = node_of(result)
        if node is not None:
            known = (node, result.output_nr) in self.edges
            return None if known else self.operation(name, self.operands(name, args, kwargs), result)
        operands = tensors_in(args, kwargs)
        if result.requires_grad or id(result) in self.plain or any(result is operand for operand in operands):
            return None
        cut = any(operand.requires_grad for operand in operands)
        if cut or any(id(operand) in self.plain and self.plain[id(operand)][1].op for operand in operands):
            card = self.made_here(name, [self.card(operand) for operand in operands], result)
            card.cut = cut
            self.plain[id(result)] = result, card
            if cut:
                self.ends.append(card)
            return card
        return None

    def operation(self, name: str, operands: list[NodeCard], result: Tensor) -> NodeCard:
        card = self.made_here(name, operands, result)
        self.edges[(result.grad_fn, result.output_nr)] = card
        return card

    def made_here(self, name: str, operands: list[NodeCard], result: Tensor) -> NodeCard:
        place = Place(caller(2))
        card = NodeCard(plain_name(name), place, numbers_of(result), result.requires_grad, operands)
        self.describe(card, result)
        card.call = self.calls
        card.calls = tuple(call for _, call in self.modules)
        if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
            self.untold.add(card)
        return card

    def describe(self, card: NodeCard, tensor: Tensor) -> None:
        """The memory of a card's tensor, with what was written there."""
        self.made += 1
        card.memory, card.version = address(tensor), version(tensor)
        if not card.version:
            self.writes.pop(card.memory, None)  # memory that is used again

    def operands(self, name: str, args: Any, kwargs: Any) -> list[NodeCard]:
        """The cards of the operands; a number in arithmetic counts as one."""
        symbol = plain_name(name)
        if symbol not in INFIX or len(args) != 2 or kwargs:
            return [self.card(operand) for operand in tensors_in(args, kwargs)]
        cards = [
            self.card(operand)
            if isinstance(operand, Tensor)
            else NodeCard("", Place(None), Picture(float(operand), (), None), False)
            for operand in args
            if isinstance(operand, (Tensor, int, float))
        ]
        return cards[::-1] if name.strip("_") in REVERSED else cards

    def number(self, name: str, args: Any, result: Any) -> None:
        """A tensor gave a number: an end, where it had a graph."""
        operand = args[0]
        if operand.requires_grad or (id(operand) in self.plain and self.plain[id(operand)][1].op):
            with torch._C.DisableTorchFunction():
                plain = operand.detach()
            card = self.made_here(name, [self.card(operand)], plain)
            card.cut = True
            self.ends.append(card)

    def write(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An operation in place: the card of what was there before is needed, too."""
        tensor = args[0] if args else kwargs.get("tensor")  # as nn.init hands it on
        if not isinstance(tensor, Tensor):
            return func(*args, **kwargs)
        follows = torch.is_grad_enabled() and any(operand.requires_grad for operand in tensors_in(args, kwargs))
        operands = self.operands(name, args, kwargs) if follows else []
        result = func(*args, **kwargs)
        frame = caller(2)
        self.stale |= {card for _, card in self.plain.values() if card.memory == address(tensor)}
        written = self.writes.setdefault(address(tensor), [])
        written.append((version(tensor), 0 if frame is None else frame.f_lineno, plain_name(name)))
        node = node_of(tensor)
        if node is not None and (node, tensor.output_nr) not in self.edges:
            self.plain.pop(id(tensor), None)
            self.operation(name, operands, tensor)
        return result

    # The card of a tensor

    def card(self, tensor: Tensor) -> NodeCard:
        """The card of an operand: of the operation that made it, or a leaf or constant of its own."""
        if node_of(tensor) is not None:
            card = self.edges.get((tensor.grad_fn, tensor.output_nr))
            if card is None:
                card = self.rewritten(tensor)
        elif self.is_current(tensor):
            card = self.plain[id(tensor)][1]
        else:
            place = Place(caller(2))
            card = NodeCard("", place, numbers_of(tensor), tensor.requires_grad)
            self.describe(card, tensor)
            card.label = self.parameters.get(id(tensor), "")
            self.plain[id(tensor)] = tensor, card
        if not card.label:
            card.label = variable(caller(2), tensor)
        return card

    def is_current(self, tensor: Tensor) -> bool:
        """True if there is a card of a tensor without a graph, and nothing was written to the tensor since."""
        if id(tensor) not in self.plain:
            return False
        card = self.plain[id(tensor)][1]
        return card.version == version(tensor) and card not in self.stale

    def leaf(self, tensor: Tensor) -> NodeCard:
        """The card that a leaf has in the forward pass, whatever was written to it since."""
        return self.plain[id(tensor)][1] if id(tensor) in self.plain else self.card(tensor)

    def rewritten(self, tensor: Tensor) -> NodeCard:
        """A tensor whose graph changed when a view of it was written to, or that was made before the block."""
        written = self.writes.get(address(tensor))
        card = self.operation(kind(tensor.grad_fn), [], tensor)
        if written:
            _, card.place.line, name = written[-1]
            card.op = f"{name} through a view"
        return card


def version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version
