"""Record the forward pass of a PyTorch program as cards, with a function mode that sees each operation."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from lab.trace.schema import Write
from lab.watch.cards import MAX_CARDS, REVERSED, NodeCard, SourceLine, plain_name, variable_name
from lab.watch.cuts import NUMBERS
from lab.watch.onlooker import Args, Function, Kwargs, Listener, Look, in_order, name_of, tensors_in
from lab.watch.records import has_numbers, is_batched, kind, node_of, packs_saved_tensors, storage_of, version_of, walk
from lab.watch.sites import script_frame
from lab.watch.torch_pass import Key, TorchPass, held_gradient, tensor_preview

Tensor = torch.Tensor
INFIX = frozenset("+-*/") | {"**"}
MAX_BYTES = 500_000_000  # of the tensors whose cards are kept between two passes
QUIET = frozenset(("backward", "grad", "__get__", "__set__", "register_hook", "retain_grad", "requires_grad_", "set_"))


class TorchRecorder(Listener):
    """Makes a card of each operation in a `with` block; `keep` gets each backward pass, with the error that ended it or
    "". If it `forgets`, it keeps cards only for the next two passes, which may share a part of a graph."""

    def __init__(self, keep: Callable[[TorchPass, str], None], *, forgets: bool = False) -> None:
        super().__init__()
        self.keep, self.forgets = keep, forgets
        self.running_pass: TorchPass | None = None
        self.first_card = 0  # serial number of the first card since the last pass
        self.bytes = 0
        self.result_cards: dict[Key, NodeCard] = {}
        self.graphless: dict[int, tuple[Tensor, NodeCard]] = {}  # tensors without a graph: leaves, constants, ends
        self.ends: list[NodeCard] = []
        self.writes: dict[int, list[Write]] = {}
        self.running_modules: list[tuple[torch.nn.Module, str]] = []  # the innermost last, with path and call number
        self.module_calls: dict[str, int] = {}
        self.module_paths: dict[int, tuple[torch.nn.Module, str]] = {}
        self.tensor_paths: dict[int, str] = {}
        self.card_count = 0
        self.call_count = 0

    def install(self) -> None:
        super().install()
        self.hook(register_module_forward_pre_hook, self.module_begins)
        self.hook(register_module_forward_hook, self.module_ends, always_call=True)
        self.patch(
            (torch.autograd, "_engine_run_backward", self.engine_pass),
            (torch.autograd.Function, "apply", self.custom_function),
        )

    def __exit__(self, *ended: Any) -> None:
        super().__exit__(*ended)
        self.running_modules.clear()
        self.forget(math.inf)

    def engine_pass(self, function: Function, args: Args, kwargs: Kwargs) -> Look:
        """Look at a run of PyTorch's engine, and keep it as a recorded pass."""
        outputs = tensors_in(args[0])
        made = [tensor for tensor in outputs if tensor.grad_fn is not None]
        leaves = [node.variable for node in walk(*(part.grad_fn for part in made)) if hasattr(node, "variable")]
        if self.left_alone() or is_batched(args[1]) or not all(map(has_numbers, (*outputs, *leaves))):
            return
        if self.depth:
            if self.running_pass is not None:
                self.running_pass.on_nested_backward()
            return
        if not made:
            return
        torch_pass, error = TorchPass(self, made, kwargs.get("accumulate_grad", True)), ""
        self.running_pass = torch_pass
        try:
            with self.away(), torch_pass:
                yield
        except RuntimeError as raised:
            error = str(raised).splitlines()[0]
            raise
        finally:
            self.running_pass = None
            self.keep(torch_pass, error)
            if self.forgets:
                self.forget(self.first_card)
                self.first_card = 1 + max((card.serial for card in self.cards()), default=self.first_card)

    def custom_function(self, function: Function, args: Args, kwargs: Kwargs) -> Look:
        """Record a call of a script's autograd.Function as one operation."""
        if self.paused() or self.left_alone():
            return
        with self.away():
            result = yield
        self.record_results(args[0].__name__, in_order(args[1:], kwargs), result)

    def cards(self) -> list[NodeCard]:
        return [*self.result_cards.values(), *(card for _, card in self.graphless.values())]

    def forget(self, first: float) -> None:
        """Forget the cards before serial number `first`, and their operands."""
        for card in self.cards():
            if card.serial < first:
                card.operands = []
        self.result_cards = {key: card for key, card in self.result_cards.items() if card.serial >= first}
        self.graphless = {key: known for key, known in self.graphless.items() if known[1].serial >= first}
        self.ends = [card for card in self.ends if card.serial >= first]
        for store in (self.writes, self.module_calls):
            store.clear()
        if not self.running_modules:
            self.module_paths.clear()
            self.tensor_paths.clear()
        self.card_count, self.bytes = len(self.cards()), 0

    def unfinished(self, named: Mapping[str, Any]) -> list[NodeCard]:
        """Return the cards of the operations since the last backward pass, in order; named: the program's variables."""
        for name, value in named.items():
            if isinstance(value, Tensor) and not name.startswith("_"):
                card = self.result_cards.get((node_of(value), value.output_nr)) or self.known(value)
                if card and not card.label:
                    card.label = name
        for tensor, card in self.graphless.values():
            card.earlier = held_gradient(tensor) if tensor.is_leaf else None
        return [card for card in self.result_cards.values() if card.serial >= self.first_card and card.op]

    def module_begins(self, module: torch.nn.Module, args: Any) -> None:
        if self.paused():
            return
        if id(module) not in self.module_paths:
            root = variable_name(script_frame(), module) if not self.running_modules else ""
            root = root if root and root != "self" else type(module).__name__
            for path, part in module.named_modules():
                self.module_paths.setdefault(id(part), (part, f"{root}.{path}" if path else root))
            for path, held in (*module.named_parameters(), *module.named_buffers()):
                self.tensor_paths.setdefault(id(held), f"{root}.{path}")
        path = self.module_paths[id(module)][1]
        count = self.module_calls[path] = self.module_calls.get(path, 0) + 1
        self.running_modules.append((module, f"{path} {count}"))

    def module_ends(self, module: torch.nn.Module, args: Any, result: Any) -> None:
        if self.running_modules and self.running_modules[-1][0] is module:
            self.running_modules.pop()

    @property
    def is_full(self) -> bool:
        """Whether there may be more operations than are recorded."""
        return self.card_count > MAX_CARDS

    def concerns(self, name: str, function: Function) -> bool:
        quiet = name_of(function) in QUIET or self.is_full
        return not quiet and super().concerns(name, function)

    def operation(self, name: str, given: Args, operands: list[Tensor]) -> Look:
        """Record what an operation returns."""
        result = yield
        if name not in NUMBERS:
            self.record_results(name, given, result)
        elif given[0].requires_grad or self.is_computed(given[0]):  # cut off as a number
            self.ends.append(self.new_card(name, [self.card(given[0])], given[0].detach()))
            self.ends[-1].cut = True

    def record_results(self, name: str, given: Args, result: Any) -> None:
        """Make cards of the tensors among an operation's results."""
        self.call_count += 1
        for part in tensors_in(tuple(result) if isinstance(result, (tuple, list)) else (result,)):
            if has_numbers(part):
                self.record_result(name, given, part)

    def record_result(self, name: str, given: Args, result: Tensor) -> None:
        """Make a card of a result, unless it has one: `contiguous` may return its operand."""
        node = node_of(result)
        if node is not None:
            if (node, result.output_nr) not in self.result_cards:
                self.new_card(name, self.operands(name, given), result)
            return
        operands = tensors_in(given)
        if result.requires_grad or id(result) in self.graphless or any(result is operand for operand in operands):
            return
        cut = any(operand.requires_grad for operand in operands)
        if cut or any(map(self.is_computed, operands)):
            card = self.new_card(name, [self.card(operand) for operand in operands], result)
            card.cut = cut
            self.graphless[id(result)] = result, card
            if cut:
                self.ends.append(card)

    def new_card(self, name: str, operands: list[NodeCard], tensor: Tensor) -> NodeCard:
        """Make a card of a result, or of a leaf or constant without a name, with its line, its modules and its memory.
        Forget the writes to that memory if it is reused, and older cards once they fill MAX_BYTES."""
        position = SourceLine(script_frame())
        card = NodeCard(plain_name(name), position, tensor_preview(tensor), tensor.requires_grad, operands)
        card.call, card.calls = self.call_count, [call for _, call in self.running_modules]
        card.unreadable = packs_saved_tensors()
        card.memory, card.version = storage_of(tensor), version_of(tensor)
        self.card_count += 1
        self.bytes += tensor.numel() * tensor.element_size()
        if self.forgets and self.bytes > MAX_BYTES and not self.paused():
            self.forget(card.serial)
        if not card.version:
            self.writes.pop(card.memory, None)
        if node_of(tensor) is not None:
            self.result_cards[(tensor.grad_fn, tensor.output_nr)] = card
        return card

    def operands(self, name: str, given: Args) -> list[NodeCard]:
        """Return the cards of the operands; a plain number in arithmetic gets one too."""
        symbol = plain_name(name)
        if symbol not in INFIX or len(given) != 2:
            return [self.card(operand) for operand in tensors_in(given)]
        cards = [
            self.card(operand)
            if isinstance(operand, Tensor)
            else NodeCard("", SourceLine(None), {"shape": [], "value": float(operand)}, False)
            for operand in given
            if isinstance(operand, (Tensor, int, float))
        ]
        return cards[::-1] if name.strip("_") in REVERSED else cards

    def write(self, name: str, given: Args, operands: list[Tensor]) -> Look:
        """Record a write in place and the card of the new value."""
        tensor = given[0] if given else None
        if not isinstance(tensor, Tensor):
            return
        follows = torch.is_grad_enabled() and any(operand.requires_grad for operand in operands)
        cards = self.operands(name, given) if follows else []
        yield
        for _, card in self.graphless.values():
            card.stale |= card.memory == storage_of(tensor)
        written = self.writes.setdefault(storage_of(tensor), [])
        line = SourceLine(script_frame()).line
        written.append({"version": version_of(tensor), "line": line, "op": plain_name(name)})
        node = node_of(tensor)
        if node is not None and (node, tensor.output_nr) not in self.result_cards:
            self.graphless.pop(id(tensor), None)
            self.new_card(name, cards, tensor)

    def card(self, tensor: Tensor) -> NodeCard:
        """Return the card of an operand: of the operation that made it, or of a leaf or constant."""
        card = self.known(tensor)
        if node_of(tensor) is not None:
            card = self.result_cards.get((tensor.grad_fn, tensor.output_nr)) or self.card_of_rewritten(tensor)
        elif card is None or card.stale or card.version != version_of(tensor):
            card = self.new_card("", [], tensor)
            card.label = self.tensor_paths.get(id(tensor), "")
            self.graphless[id(tensor)] = tensor, card
        if not card.label:
            card.label = variable_name(script_frame(), tensor)
        return card

    def known(self, tensor: Tensor) -> NodeCard | None:
        """Return the card of a tensor without a graph, even if it was written to since, or None."""
        return self.graphless[id(tensor)][1] if id(tensor) in self.graphless else None

    def is_computed(self, tensor: Tensor) -> bool:
        """Return whether a tensor without a graph is the result of a recorded operation."""
        known = self.known(tensor)
        return known is not None and known.op != ""

    def card_of_rewritten(self, tensor: Tensor) -> NodeCard:
        """Return a new card for a tensor of unknown node: a view of it was written to, or it predates the block."""
        written = self.writes.get(storage_of(tensor))
        card = self.new_card(kind(tensor.grad_fn), [], tensor)
        if written:
            card.position.line, card.op = written[-1]["line"], f"{written[-1]['op']} through a view"
        return card
