"""Record the passes of a PyTorch program: a function mode sees each operation of the forward pass, and hooks on the
nodes of the graph see the backward pass."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from graphlib import TopologicalSorter
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils.hooks import RemovableHandle

from lab.trace.schema import Captured, Value, Write
from lab.watch.cards import (
    MAX_CARDS,
    MODULE_HOOK,
    REVERSED,
    NodeCard,
    Shown,
    SourceLine,
    TraceDraft,
    label_leaves,
    plain_name,
    preview,
    variable_name,
)
from lab.watch.cuts import NUMBERS
from lab.watch.graph import GraphNode, kind, node_of, walk
from lab.watch.onlooker import Args, Function, Kwargs, Listener, Look, in_order, name_of, tensors_in
from lab.watch.records import has_numbers, is_batched, packs_saved_tensors, storage_of, version_of
from lab.watch.sites import script_frame

INFIX = frozenset("+-*/") | {"**"}
MAX_BYTES = 500_000_000  # of the tensors whose cards are kept between two passes
QUIET = frozenset(("backward", "grad", "__get__", "__set__", "register_hook", "retain_grad", "requires_grad_", "set_"))
MAX_CAPTURED = 12  # saved values shown on one card
NESTED = "a backward pass of its own, which is not recorded"
_SAVED = "_saved_"
Key = tuple[GraphNode, int]  # a node of PyTorch's graph and the number of its result


class TorchRecorder(Listener):
    """Makes a card of each operation in a `with` block; `keep` gets each backward pass, with the error that ended it or
    "". If it `forgets`, it keeps cards only for the next two passes, which may share a part of a graph."""

    def __init__(self, keep: "Callable[[TorchPass, str], None]", *, forgets: bool = False) -> None:
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
        self.paths: dict[int, tuple[object, str]] = {}  # of modules, their parameters and buffers
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

    def __exit__(self, *ended: object) -> None:
        super().__exit__(*ended)
        self.running_modules.clear()
        self.forget(math.inf)

    def engine_pass(self, function: Function, args: Args, kwargs: Kwargs) -> Look:
        """Look at a run of PyTorch's engine, and keep it as a recorded pass."""
        pairs = zip(args[0], args[1], strict=False)
        made = [(one, start) for one, start in pairs if isinstance(one, Tensor) and one.grad_fn is not None]
        leaves = [node.variable for node in walk(*(one.grad_fn for one, _ in made)) if hasattr(node, "variable")]
        if self.left_alone() or is_batched(args[1]) or not all(map(has_numbers, (*dict(made), *leaves))):
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
        except BaseException as raised:  # a hook of the program may raise any
            error = (str(raised) or type(raised).__name__).splitlines()[0]
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
        name, given = args[0].__name__, in_order(args[1:], kwargs)
        cards = self.operands(name, given)
        with self.away():
            result = yield
        self.record_results(name, given, cards, result)

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
            self.paths.clear()
        self.card_count, self.bytes = len(self.cards()), 0

    def unfinished(self, named: Mapping[str, Any]) -> list[NodeCard]:
        """Return the cards of the operations since the last backward pass, in order; named: the program's variables."""
        for name, value in named.items():
            if isinstance(value, Tensor) and (card := self.known(value)) is not None:
                card.label = card.label or name
        for tensor, card in self.graphless.values():
            card.earlier = held_gradient(tensor) if tensor.is_leaf else None
        return [card for card in self.result_cards.values() if card.serial >= self.first_card and card.op]

    def module_begins(self, module: torch.nn.Module, args: Args) -> None:
        if self.paused():
            return
        if id(module) not in self.paths:
            root = variable_name(script_frame(), module) if not self.running_modules else ""
            root = root if root and root != "self" else type(module).__name__
            for path, part in (*module.named_modules(), *module.named_parameters(), *module.named_buffers()):
                self.paths.setdefault(id(part), (part, f"{root}.{path}" if path else root))
        path = self.paths[id(module)][1]
        count = self.module_calls[path] = self.module_calls.get(path, 0) + 1
        self.running_modules.append((module, f"{path} {count}"))

    def module_ends(self, module: torch.nn.Module, args: Args, result: object) -> None:
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
        """Record what an operation returns, and of what: of values before it, as batch norm writes to its own."""
        followed = any(operand.requires_grad or self.is_computed(operand) for operand in operands)
        cards = self.operands(name, given) if followed else []
        result = yield
        if name not in NUMBERS:
            self.record_results(name, given, cards, result)
        elif node_of(given[0]) is not None or self.is_computed(given[0]):  # cut off as a number
            self.ends.append(self.new_card(name, [self.card(given[0])], given[0].detach()))
            self.ends[-1].cut = True

    def record_results(self, name: str, given: Args, cards: list[NodeCard], result: Any) -> None:
        """Make cards of the tensors among an operation's results; cards: of its operands."""
        self.call_count += 1
        for part in filter(has_numbers, tensors_in((result,))):
            self.record_result(name, given, cards, part)

    def record_result(self, name: str, given: Args, cards: list[NodeCard], result: Tensor) -> None:
        """Make a card of a result, unless it has one: `contiguous` may return its operand."""
        operands = tensors_in(given)
        if self.known(result) is not None:
            return
        if node_of(result) is not None:
            self.new_card(name, cards, result)
            return
        if result.requires_grad or any(result is operand for operand in operands):
            return
        cut = any(operand.requires_grad for operand in operands)
        if cut or any(map(self.is_computed, operands)):
            card = self.new_card(name, cards, result)
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
        tensor = operands[0]
        follows = torch.is_grad_enabled() and any(operand.requires_grad for operand in operands)
        cards = self.operands(name, given) if follows else []
        yield
        for _, card in self.graphless.values():
            card.stale |= card.memory == storage_of(tensor)
        written = self.writes.setdefault(storage_of(tensor), [])
        line = SourceLine(script_frame()).line
        written.append({"version": version_of(tensor), "line": line, "op": plain_name(name)})
        if node_of(tensor) is not None and self.known(tensor) is None:
            self.graphless.pop(id(tensor), None)
            self.new_card(name, cards, tensor)

    def card(self, tensor: Tensor) -> NodeCard:
        """Return the card of an operand: of the operation that made it, or of a leaf or constant."""
        card, now = self.known(tensor), (version_of(tensor), tensor.requires_grad)
        if node_of(tensor) is not None:
            card = card or self.card_of_rewritten(tensor)
        elif card is None or card.stale or (card.version, card.requires_grad) != now:
            card = self.new_card("", [], tensor)
            card.label = self.paths.get(id(tensor), (None, ""))[1]
            self.graphless[id(tensor)] = tensor, card
        if not card.label:
            card.label = variable_name(script_frame(), tensor)
        return card

    def known(self, tensor: Tensor) -> NodeCard | None:
        """Return the card of a tensor, even if it was written to since, or None."""
        if (node := node_of(tensor)) is not None:
            return self.result_cards.get((node, tensor.output_nr))
        return self.graphless[id(tensor)][1] if id(tensor) in self.graphless else None

    def is_computed(self, tensor: Tensor) -> bool:
        """Return whether a tensor without a graph is the result of a recorded operation."""
        known = self.graphless.get(id(tensor))
        return known is not None and known[1].op != ""

    def card_of_rewritten(self, tensor: Tensor) -> NodeCard:
        """Return a new card for a tensor of unknown node: a view of it was written to, or it predates the block."""
        written = self.writes.get(storage_of(tensor))
        card = self.new_card(kind(tensor.grad_fn), [], tensor)
        if written:
            card.position.line, card.op = written[-1]["line"], f"{written[-1]['op']} through a view"
        return card


class TorchPass(TraceDraft):
    """Records one run of PyTorch's engine over the graph of some outputs."""

    def __init__(self, recorder: TorchRecorder, outputs: list[tuple[Tensor, Tensor]], accumulates: bool = True) -> None:
        """Begin a pass of a TorchRecorder from outputs with their starting gradients. accumulates: whether the engine
        adds to `.grad`, as backward() does and autograd.grad() does not."""
        self.recorder, self.accumulates = recorder, accumulates
        super().__init__(SourceLine(script_frame()), [recorder.card(one) for one, _ in outputs][:1], recorder.ends)
        self.whole = not recorder.is_full
        self.partial_sums: dict[Key, Tensor] = {}  # of the start and the messages to a node that waits for more
        for one, start in outputs:
            key = (one.grad_fn, one.output_nr)
            self.partial_sums[key] = self.partial_sums.get(key, 0) + start.detach()
        roots = (node for node, _ in self.partial_sums)
        self.users: dict[GraphNode, list[GraphNode]] = {node: [] for node in walk(*roots, most=math.inf)}
        for node in self.users:
            for other, _ in node.next_functions:
                if other is not None:
                    self.users[other].append(node)
        self.order = [*TopologicalSorter(self.users).static_order()]  # each node after all its users
        reached = {*self.partial_sums}.union(*(node.next_functions for node in self.users))
        self.result_numbers: dict[GraphNode, list[int]] = {}  # node -> indices of the reached results that have a card
        for node, number in recorder.result_cards.keys() & reached:
            self.result_numbers.setdefault(node, []).append(number)
        self.leaf_cards: dict[GraphNode, NodeCard] = {}
        self.earlier: dict[GraphNode, Tensor] = {}  # node of a leaf -> its gradient before the pass
        self.card_of_node: dict[GraphNode, NodeCard] = {}
        self.gradient_of_card: dict[NodeCard, Value] = {}  # what its messages have added up to, then what was used
        self.running_node: GraphNode = None
        for node in self.order:
            self.assign_card(node)
        self.copy_saved_values()
        label_leaves(self.leaf_cards.values(), "leaf")
        for key, start in self.partial_sums.items():
            card, shown = recorder.result_cards[key], tensor_preview(start)["value"]
            self.gradient_of_card[card] = shown
            self.seed(card, shown)
        self.handles: list[RemovableHandle] = []

    def assign_card(self, node: GraphNode) -> None:
        """Assign a node to the card whose result it made, or else to the card that uses it."""
        recorder = self.recorder
        if hasattr(node, "variable"):
            variable = node.variable
            card = self.leaf_cards[node] = self.card_of_node[node] = recorder.known(variable) or recorder.card(variable)
            card.note_writes(tensor_preview(variable))
            card.earlier = held_gradient(variable) if self.accumulates else None
            if card.earlier is not None:
                self.earlier[node] = variable.grad.detach().clone()
            return
        if node in self.result_numbers:
            cards = [recorder.result_cards[(node, number)] for number in sorted(self.result_numbers[node])]
            self.card_of_node[node] = cards[0]
            for card in cards:
                card.sender = None if card is cards[0] else cards[0]
        else:
            self.card_of_node[node] = self.shared_card(node, [self.card_of_node[user] for user in self.users[node]])
        self.card_of_node[node].hides[kind(node)] += 1

    def shared_card(self, node: GraphNode, users: list[NodeCard]) -> NodeCard:
        """Return the card of a node's only user, the first result if one call made all users, else a new card."""
        first = users[0] if len(users) == 1 else min(users, key=lambda card: card.serial)
        if all(user is first for user in users):
            return first
        if first.call and all(user.call == first.call for user in users):
            for user in users:
                user.sender = None if user is first else first
            return first
        card = self.unseen_card(node, 0)
        card.position = first.position
        return card

    def unseen_card(self, node: GraphNode, number: int) -> NodeCard:
        """Return a new card for a result that two operations share and that was never a Python object."""
        known = node._input_metadata[number : number + 1]
        like = [torch.full(tuple(one.shape), torch.nan, dtype=one.dtype) for one in known] or [torch.tensor(torch.nan)]
        card = NodeCard(kind(node), SourceLine(None), tensor_preview(like[0]), True, unseen=True)
        self.recorder.result_cards[(node, number)] = card
        self.result_numbers.setdefault(node, []).append(number)
        return card

    def copy_saved_values(self) -> None:
        """Copy what the nodes have saved, before the pass frees it, and the writes to each card's memory."""
        for node, card in self.card_of_node.items():
            card.writes = [*self.recorder.writes.get(card.memory, ())]
            if node not in self.leaf_cards and not card.unreadable:
                card.captured += saved_values(node, card, MAX_CAPTURED - len(card.captured))
        for card in {*self.card_of_node.values()}:
            if card.hides.total() == 1 and not card.unseen:
                card.hides.clear()

    def receiver(self, node: GraphNode, number: int) -> NodeCard | None:
        """Return the card that receives a message to a node's result; None for a node inside a card."""
        if node in self.leaf_cards:
            return self.leaf_cards[node]
        if node not in self.result_numbers:
            return None
        known = self.recorder.result_cards.get((node, number))
        if known is None:
            known = self.unseen_card(node, number)
            known.sender = self.card_of_node[node]
        return known

    def __enter__(self) -> "TorchPass":
        guarded = self.recorder.guarded
        for node in self.order:
            self.handles.append(node.register_prehook(partial(guarded, self.receive_gradients, node)))
            ran = self.check_leaf if node in self.leaf_cards else self.send_messages
            self.handles.append(node.register_hook(partial(guarded, ran, node)))
        return self

    def __exit__(self, *ended: object) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles.clear()

    def receive_gradients(self, node: GraphNode, gradients: tuple[Tensor | None, ...]) -> None:
        """Note the gradients that a node received."""
        self.running_node = node
        for number, gradient in enumerate(gradients):
            if gradient is None:
                continue
            key = (node, number)
            card = self.receiver(node, number)
            if card is not None:
                total, arrived = cast(Value, self.value_of(node, gradient)), self.gradient_of_card.get(card)
                self.gradient_of_card[card] = total
                if arrived is not None and is_other(arrived, total):  # a hook ran between
                    self.seed(card, total, arrived)
            self.partial_sums.pop(key, None)
            name = f"sum of messages to {card.op or card.label}" if card else "sum of messages"
            self.add_gradient_card(gradient, name, card)

    def check_leaf(self, node: GraphNode, *_: object) -> None:
        """Note what a hook of the program has made of the gradient that a leaf now holds."""
        card, held = self.leaf_cards[node], held_gradient(node.variable)
        if held is not None and is_other(self.gradient_of_card[card], held):
            self.seed(card, held, self.gradient_of_card[card])

    def on_nested_backward(self) -> None:
        """Note on the running card that a backward pass of its own begins, as in a checkpoint."""
        self.card_of_node[self.running_node].hides[NESTED] += 1

    def send_messages(self, node: GraphNode, messages: tuple[Tensor | None, ...], _: object = ()) -> None:
        """Log the messages that a node has sent, and add them to the partial sums."""
        sender = self.card_of_node[node]
        if sender.op == MODULE_HOOK:
            self.receive_gradients(node, messages)  # which the hooks have put in place of its own
        for message, (other, number) in zip(messages, node.next_functions, strict=False):
            if message is None or other is None:
                continue
            before = self.partial_sums.get((other, number))
            after = message.detach() if before is None else before + message.detach()
            self.partial_sums[(other, number)] = after
            receiver = self.receiver(other, number)
            if receiver is None:
                continue
            part = tensor_preview(message)["value"]
            upstream = self.gradient_of_card.get(sender, part)
            shown, total = self.value_of(other, before), cast(Value, self.value_of(other, after))
            self.gradient_of_card[receiver] = total
            self.message(sender, receiver, upstream, part, part, shown, total)
            self.add_gradient_card(message, f"backward of {sender.op}", sender)

    def value_of(self, node: GraphNode, total: Tensor | None) -> Value | None:
        """Return a sum of messages to a node, added to what a leaf had before the pass, as PyTorch does it."""
        earlier = self.earlier.get(node)
        if earlier is not None:
            total = earlier if total is None else earlier + total
        return None if total is None else tensor_preview(total)["value"]

    def add_gradient_card(self, gradient: Tensor, name: str, source: NodeCard | None) -> None:
        """Make a card of a gradient that has a graph itself, as with create_graph=True."""
        if gradient.grad_fn is not None and self.recorder.known(gradient) is None:
            card = self.recorder.new_card(name, [], gradient)
            card.position = self.position if source is None or source.position.code is None else source.position

    def gradients(self) -> dict[str, np.ndarray | None]:
        gradients = {card.label: node.variable.grad for node, card in self.leaf_cards.items()}
        return {label: None if gradient is None else as_array(gradient) for label, gradient in gradients.items()}


def as_array(tensor: Tensor) -> np.ndarray:
    """Copy a tensor of any dtype, device and layout: memory that NumPy shares can no longer be resized."""
    detached = tensor.detach()
    detached = detached if detached.layout == torch.strided else detached.to_dense()
    if not detached.untyped_storage().size():  # freed, as by a sharded layer
        detached = torch.full(detached.shape, torch.nan)
    if detached.is_complex():  # NumPy lacks complex numbers of halves, and most floats of less than four bytes
        detached = detached.to(torch.promote_types(detached.dtype, torch.complex64))
    elif detached.is_floating_point() and detached.itemsize < 4:
        detached = detached.float()
    copied: np.ndarray = detached.cpu().resolve_conj().resolve_neg().clone().numpy()
    return copied


def tensor_preview(tensor: Tensor) -> Shown:
    """Return what is shown of a tensor: of complex numbers, the sizes."""
    array, is_complex = as_array(tensor), tensor.is_complex()
    shown = preview(np.abs(array)) if is_complex else preview(array)
    if is_complex:
        shown["sizes"] = True
    if is_complex or tensor.is_floating_point():
        info = torch.finfo(tensor.dtype)
        shown["precision"] = {"eps": info.eps, "least": info.smallest_normal * info.eps, "most": info.max}
    return shown


def is_other(one: Value, other: Value) -> bool:
    """Return whether two gradients of the same shape differ."""
    return np.shape(one) == np.shape(other) and not np.array_equal(one, other, equal_nan=True)


def held_gradient(leaf: Tensor) -> Value | None:
    """Return what is shown of the gradient that a leaf holds now, or None."""
    return None if leaf.grad is None else tensor_preview(leaf.grad)["value"]


def saved_values(node: GraphNode, card: NodeCard, most: int) -> list[Captured]:
    """Return at most `most` values that a node saved for its backward step, by PyTorch's names."""
    entries: list[Captured] = []
    for name in dir(node):
        if not name.startswith(_SAVED) or len(entries) >= most:
            continue
        shown = name.removeprefix(_SAVED)
        setting: Captured = {"name": shown, "holds": "setting", "shape": []}
        try:
            value = getattr(node, name)
        except RuntimeError:  # freed, or written to since
            entries.append({**setting, "type": "Tensor", "value": "not there", "written": True})
            continue
        if isinstance(value, Tensor):
            entries.append(saved_tensor(shown, value, card))
        elif value is not None and not isinstance(value, (tuple, list)):
            entries.append({**setting, "type": type(value).__name__, "value": repr(value)[:80], "written": False})
    return entries


def saved_tensor(name: str, tensor: Tensor, card: NodeCard) -> Captured:
    """Describe a saved tensor: whether it is the card's output, an operand's value or another array."""
    shown = tensor_preview(tensor)
    address = storage_of(tensor)
    of = [i for i, operand in enumerate(card.operands) if operand.memory == address and operand.shown == shown]
    holds = f"value of operand {of[0]}" if of else "array"
    if card.memory == address and card.shown == shown:
        holds = "output"
    return {"name": name, "holds": holds, "shape": shown["shape"], "value": shown["value"], "written": False}
