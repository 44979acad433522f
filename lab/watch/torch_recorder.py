"""Record the forward pass of a PyTorch program as cards, with a function mode that sees each operation.

It changes nothing: each function gets its own operands, and all hooks and patches are removed at the end.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode

from lab.watch.cards import REVERSED, ArrayPreview, NodeCard, SourceLine, caller, plain_name, preview, variable_name
from lab.watch.cuts import NUMBERS
from lab.watch.records import in_transform, kind, node_of
from lab.watch.watcher import IN_PLACE, UNWATCHED, VIEW_ATTRIBUTES, tensors_in

Tensor = torch.Tensor
MAX_CARDS = 20_000
INFIX = frozenset("+-*/") | {"**"}
Key = tuple[Any, int]  # a node of PyTorch's graph and the number of its result


def tensor_preview(tensor: Tensor) -> ArrayPreview:
    """Return the preview of a tensor of any dtype, device and layout."""
    with torch._C.DisableTorchFunction(), torch.no_grad():  # hide it from other modes
        detached = tensor.detach()
        detached = torch.full_like(detached, torch.nan, device="cpu") if detached.is_meta else dense(detached)
        if detached.is_complex():
            detached = detached.abs()
        if detached.dtype in (torch.bfloat16, torch.float16):
            detached = detached.float()
        return replace(preview(detached.cpu().resolve_neg().numpy()), sizes=tensor.is_complex())


def storage_address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if torch._C._has_storage(tensor) else 0


def dense(tensor: Tensor) -> Tensor:
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


class TorchRecorder(TorchFunctionMode):
    """Makes a card of each operation in a `with` block and passes the graph of each backward pass to `run_backward`."""

    def __init__(self, run_backward: Callable[..., Any]) -> None:
        super().__init__()
        self.run_backward = run_backward
        self.pause_depth = 0  # inside an optimizer, a custom Function or a backward pass
        self.result_cards: dict[Key, NodeCard] = {}
        self.graphless: dict[int, tuple[Tensor, NodeCard]] = {}  # tensors without a graph: leaves, constants, ends
        self.ends: list[NodeCard] = []
        self.writes: dict[int, list[tuple[int, int, str]]] = {}
        self.unreadable: set[NodeCard] = set()  # cards with saved-tensor hooks, which must not run again
        self.running_modules: list[tuple[Any, str]] = []  # the innermost last, each with its path and call number
        self.module_calls: dict[str, int] = {}
        self.module_paths: dict[int, tuple[Any, str]] = {}
        self.parameter_paths: dict[int, str] = {}
        self.stale: set[NodeCard] = set()  # cards whose memory was written to
        self.card_count = 0
        self.call_count = 0
        self.on_nested_backward: Callable[[], None] | None = None  # called for a backward pass inside another
        self.handles: list[Any] = []
        self.originals: list[tuple[Any, str, Any]] = []

    # Start and end

    def __enter__(self) -> "TorchRecorder":
        self.handles = [
            register_module_forward_pre_hook(self.module_begins),
            register_module_forward_hook(self.module_ends, always_call=True),
            register_optimizer_step_pre_hook(self.step_begins),
            register_optimizer_step_post_hook(self.step_ends),
        ]
        self.replace(torch.autograd, "_engine_run_backward", self.wrap_engine)
        self.replace(torch.autograd.Function, "apply", self.wrap_custom_function)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *ended: Any) -> None:
        super().__exit__(*ended)  # type: ignore[no-untyped-call]
        for owner, name, old in reversed(self.originals):
            setattr(owner, name, old)
        for handle in self.handles:
            handle.remove()
        for store in (self.result_cards, self.graphless, self.writes, self.module_paths, self.parameter_paths):
            store.clear()
        for rest in (self.ends, self.running_modules, self.handles, self.originals, self.unreadable, self.stale):
            rest.clear()

    def replace(self, owner: Any, name: str, wrapped: Callable[[Any], Any]) -> None:
        old = vars(owner)[name]
        self.originals.append((owner, name, old))
        setattr(owner, name, wrapped(old))

    def wrap_engine(self, old: Any) -> Any:
        def _engine_run_backward(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            if in_transform() or any(output.is_meta for output in outputs):
                return old(outputs, *args, **kwargs)
            if self.pause_depth:
                if self.on_nested_backward is not None:
                    self.on_nested_backward()
                return old(outputs, *args, **kwargs)
            self.pause_depth += 1
            try:
                return self.run_backward(self, old, outputs, args, kwargs)
            finally:
                self.pause_depth -= 1

        return _engine_run_backward

    def wrap_custom_function(self, old: Any) -> Any:
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            function = old.__get__(None, cls)
            if self.pause_depth or in_transform():
                return function(*args, **kwargs)
            self.pause_depth += 1
            try:
                result = function(*args, **kwargs)
            finally:
                self.pause_depth -= 1
            self.record_results(cls.__name__, args, kwargs, result)
            return result

        return classmethod(apply)

    def step_begins(self, *_: Any) -> None:
        self.pause_depth += 1

    def step_ends(self, *_: Any) -> None:
        self.pause_depth = max(0, self.pause_depth - 1)

    # Modules

    def module_begins(self, module: Any, args: Any) -> None:
        if self.pause_depth:
            return
        if id(module) not in self.module_paths:
            root = variable_name(caller(2), module) if not self.running_modules else ""
            root = root if root and root != "self" else type(module).__name__
            for path, part in module.named_modules():
                self.module_paths.setdefault(id(part), (part, f"{root}.{path}" if path else root))
            for path, parameter in module.named_parameters():
                self.parameter_paths.setdefault(id(parameter), f"{root}.{path}")
        path = self.module_paths[id(module)][1]
        count = self.module_calls[path] = self.module_calls.get(path, 0) + 1
        self.running_modules.append((module, f"{path} {count}"))

    def module_ends(self, module: Any, args: Any, result: Any) -> None:
        if self.running_modules and self.running_modules[-1][0] is module:
            self.running_modules.pop()

    # Operations

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs, name = kwargs or {}, func.__name__
        if name == "__get__" and func.__self__.__name__ in VIEW_ATTRIBUTES | {"data"}:
            name = func.__self__.__name__
        quiet = name in UNWATCHED or name in ("backward", "grad", "__get__", "__set__", "register_hook", "retain_grad")
        if self.pause_depth or quiet or self.card_count > MAX_CARDS or in_transform():
            return func(*args, **kwargs)
        if name in ("requires_grad_", "set_"):
            return func(*args, **kwargs)
        if (name.endswith("_") and name[0] != "_") or name in IN_PLACE:
            return self.record_write(func, name, args, kwargs)
        result = func(*args, **kwargs)
        if name in NUMBERS:
            self.record_number(name, args, result)
        else:
            self.record_results(name, args, kwargs, result)
        return result

    def record_results(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """Make cards of the tensors among an operation's results."""
        self.call_count += 1
        for part in result if isinstance(result, (tuple, list)) else [result]:
            for inner in part if isinstance(part, (tuple, list)) else [part]:
                if isinstance(inner, Tensor):
                    self.record_result(name, args, kwargs, inner)

    def record_result(self, name: str, args: Any, kwargs: Any, result: Tensor) -> NodeCard | None:
        """Make a card of a result, unless it has one: `contiguous` may return its operand."""
        node = node_of(result)
        if node is not None:
            known = (node, result.output_nr) in self.result_cards
            return None if known else self.operation(name, self.operands(name, args, kwargs), result)
        operands = tensors_in(args, kwargs)
        if result.requires_grad or id(result) in self.graphless or any(result is operand for operand in operands):
            return None
        cut = any(operand.requires_grad for operand in operands)
        if cut or any(id(operand) in self.graphless and self.graphless[id(operand)][1].op for operand in operands):
            card = self.new_card(name, [self.card(operand) for operand in operands], result)
            card.cut = cut
            self.graphless[id(result)] = result, card
            if cut:
                self.ends.append(card)
            return card
        return None

    def operation(self, name: str, operands: list[NodeCard], result: Tensor) -> NodeCard:
        """Make a card of a result that has a graph node."""
        card = self.new_card(name, operands, result)
        self.result_cards[(result.grad_fn, result.output_nr)] = card
        return card

    def new_card(self, name: str, operands: list[NodeCard], result: Tensor) -> NodeCard:
        """Return a new card of a result, with its line, its modules and its memory."""
        position = SourceLine(caller(2))
        card = NodeCard(plain_name(name), position, tensor_preview(result), result.requires_grad, operands)
        self.set_memory(card, result)
        card.call = self.call_count
        card.calls = tuple(call for _, call in self.running_modules)
        if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
            self.unreadable.add(card)
        return card

    def set_memory(self, card: NodeCard, tensor: Tensor) -> None:
        """Note the memory of a card's tensor; forget the writes to it if the memory is reused."""
        self.card_count += 1
        card.memory, card.version = storage_address(tensor), tensor_version(tensor)
        if not card.version:
            self.writes.pop(card.memory, None)  # the memory is reused

    def operands(self, name: str, args: Any, kwargs: Any) -> list[NodeCard]:
        """Return the cards of the operands; a plain number in arithmetic gets one too."""
        symbol = plain_name(name)
        if symbol not in INFIX or len(args) != 2 or kwargs:
            return [self.card(operand) for operand in tensors_in(args, kwargs)]
        cards = [
            self.card(operand)
            if isinstance(operand, Tensor)
            else NodeCard("", SourceLine(None), ArrayPreview(float(operand), (), None), False)
            for operand in args
            if isinstance(operand, (Tensor, int, float))
        ]
        return cards[::-1] if name.strip("_") in REVERSED else cards

    def record_number(self, name: str, args: Any, result: Any) -> None:
        """Record a cut where a tensor with a graph was turned into a number."""
        operand = args[0]
        if operand.requires_grad or (id(operand) in self.graphless and self.graphless[id(operand)][1].op):
            with torch._C.DisableTorchFunction():
                detached = operand.detach()
            card = self.new_card(name, [self.card(operand)], detached)
            card.cut = True
            self.ends.append(card)

    def record_write(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operation in place; record the write and the card of its new value."""
        tensor = args[0] if args else kwargs.get("tensor")  # as nn.init passes it
        if not isinstance(tensor, Tensor):
            return func(*args, **kwargs)
        follows = torch.is_grad_enabled() and any(operand.requires_grad for operand in tensors_in(args, kwargs))
        operands = self.operands(name, args, kwargs) if follows else []
        result = func(*args, **kwargs)
        frame = caller(2)
        self.stale |= {card for _, card in self.graphless.values() if card.memory == storage_address(tensor)}
        written = self.writes.setdefault(storage_address(tensor), [])
        written.append((tensor_version(tensor), 0 if frame is None else frame.f_lineno, plain_name(name)))
        node = node_of(tensor)
        if node is not None and (node, tensor.output_nr) not in self.result_cards:
            self.graphless.pop(id(tensor), None)
            self.operation(name, operands, tensor)
        return result

    # Cards of operands

    def card(self, tensor: Tensor) -> NodeCard:
        """Return the card of an operand: of the operation that made it, or of a leaf or constant."""
        if node_of(tensor) is not None:
            card = self.result_cards.get((tensor.grad_fn, tensor.output_nr))
            if card is None:
                card = self.card_of_rewritten(tensor)
        elif self.is_current(tensor):
            card = self.graphless[id(tensor)][1]
        else:
            position = SourceLine(caller(2))
            card = NodeCard("", position, tensor_preview(tensor), tensor.requires_grad)
            self.set_memory(card, tensor)
            card.label = self.parameter_paths.get(id(tensor), "")
            self.graphless[id(tensor)] = tensor, card
        if not card.label:
            card.label = variable_name(caller(2), tensor)
        return card

    def is_current(self, tensor: Tensor) -> bool:
        """Tell whether a tensor without a graph has a card and was not written to since."""
        if id(tensor) not in self.graphless:
            return False
        card = self.graphless[id(tensor)][1]
        return card.version == tensor_version(tensor) and card not in self.stale

    def leaf(self, tensor: Tensor) -> NodeCard:
        """Return the card that a leaf had in the forward pass, even if it was written to since."""
        return self.graphless[id(tensor)][1] if id(tensor) in self.graphless else self.card(tensor)

    def card_of_rewritten(self, tensor: Tensor) -> NodeCard:
        """Return a new card for a tensor of unknown node: a view of it was written to, or it predates the block."""
        written = self.writes.get(storage_address(tensor))
        card = self.operation(kind(tensor.grad_fn), [], tensor)
        if written:
            _, card.position.line, name = written[-1]
            card.op = f"{name} through a view"
        return card


def tensor_version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version
