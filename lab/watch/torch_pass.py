"""Record one backward pass of PyTorch, with hooks on the nodes of its graph that are removed when it ends."""

import math
from functools import partial
from graphlib import TopologicalSorter
from typing import Any, cast

import numpy as np
import torch

from lab.trace.schema import Captured, Value
from lab.watch.cards import NodeCard, Shown, SourceLine, TraceDraft, UniqueNames, preview
from lab.watch.records import GraphNode, kind, storage_of, walk
from lab.watch.sites import script_frame

Tensor = torch.Tensor
MAX_CAPTURED = 12  # saved values shown on one card
NESTED = "a backward pass of its own, which is not recorded"
_SAVED = "_saved_"
Key = tuple[GraphNode, int]  # a node of PyTorch's graph and the number of its result


def as_array(tensor: Tensor) -> np.ndarray:
    """Copy a tensor of any dtype, device and layout: memory that NumPy shares can no longer be resized."""
    detached = tensor.detach()
    detached = detached if detached.layout == torch.strided else detached.to_dense()
    if not detached.untyped_storage().size():  # freed, as by a sharded layer
        detached = torch.full(detached.shape, torch.nan)
    if detached.dtype in (torch.bfloat16, torch.float16):
        detached = detached.float()
    copied: np.ndarray = detached.cpu().resolve_conj().resolve_neg().clone().numpy()
    return copied


def tensor_preview(tensor: Tensor) -> Shown:
    """Return what is shown of a tensor: of complex numbers, the sizes."""
    array = as_array(tensor)
    return {**preview(np.abs(array)), "sizes": True} if tensor.is_complex() else preview(array)


def held_gradient(leaf: Tensor) -> Value | None:
    """Return what is shown of the gradient that a leaf holds now, or None."""
    return None if leaf.grad is None else tensor_preview(leaf.grad)["value"]


class TorchPass(TraceDraft):
    """Records one run of PyTorch's engine over the graph of some outputs."""

    def __init__(self, recorder: Any, outputs: list[Tensor], accumulates: bool = True) -> None:
        """Begin a pass of a TorchRecorder. accumulates: whether the engine adds to `.grad`, as backward() does and
        autograd.grad() does not."""
        self.recorder, self.accumulates = recorder, accumulates
        super().__init__(SourceLine(script_frame()), [*map(recorder.card, outputs)][:1], recorder.ends)
        self.whole = not recorder.is_full
        self.seeds = {(tensor.grad_fn, tensor.output_nr) for tensor in outputs}
        roots = [tensor.grad_fn for tensor in outputs]
        self.users: dict[GraphNode, list[GraphNode]] = {node: [] for node in walk(*roots, most=math.inf)}
        for node in self.users:
            for other, _ in node.next_functions:
                if other is not None:
                    self.users[other].append(node)
        self.order = [*TopologicalSorter(self.users).static_order()]  # each node after all its users
        self.result_numbers: dict[GraphNode, list[int]] = {}  # node -> indices of its results that have a card
        for node, number in recorder.result_cards:
            self.result_numbers.setdefault(node, []).append(number)
        self.leaf_cards: dict[GraphNode, NodeCard] = {}
        self.earlier: dict[GraphNode, Tensor] = {}  # node of a leaf -> its gradient before the pass
        self.card_of_node: dict[GraphNode, NodeCard] = {}
        self.partial_sums: dict[Key, Tensor] = {}  # of the messages to a node that has not received them all
        self.upstream_of_card: dict[NodeCard, Value] = {}
        self.running_node: GraphNode = None
        for node in self.order:
            self.assign_card(node)
        self.copy_saved_values()
        unique = UniqueNames()
        for card in self.leaf_cards.values():
            card.label = unique.unique(card.label or "leaf")
        self.handles: list[Any] = []

    def assign_card(self, node: GraphNode) -> None:
        """Assign a node to the card whose result it made, or else to the card that uses it."""
        recorder = self.recorder
        if hasattr(node, "variable"):
            variable = node.variable
            card = self.leaf_cards[node] = self.card_of_node[node] = recorder.known(variable) or recorder.card(variable)
            card.earlier = held_gradient(variable) if self.accumulates else None
            if card.earlier is not None:
                self.earlier[node] = variable.grad.detach().clone()
            return
        if node in self.result_numbers:
            cards = [recorder.result_cards[(node, number)] for number in sorted(self.result_numbers[node])]
            self.card_of_node[node] = cards[0]
            for card in cards[1:]:
                card.shares = True
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
                user.shares = user is not first
            return first
        card = self.unseen_card(node, 0)
        card.position = first.position
        return card

    def unseen_card(self, node: GraphNode, number: int) -> NodeCard:
        """Return a new card for a result that two operations share and that was never a Python object."""
        shape = tuple(node._input_metadata[number].shape) if number < len(node._input_metadata) else ()
        card = NodeCard(kind(node), SourceLine(None), preview(np.full(shape, np.nan)), True, unseen=True)
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
        known: NodeCard | None = self.recorder.result_cards.get((node, number))
        if known is None:
            known = self.unseen_card(node, number)
            known.shares = known is not self.card_of_node[node]
        return known

    def __enter__(self) -> "TorchPass":
        guarded = self.recorder.guarded
        for node in self.order:
            self.handles.append(node.register_prehook(partial(guarded, self.receive_gradients, node)))
            if node not in self.leaf_cards:
                self.handles.append(node.register_hook(partial(guarded, self.send_messages, node)))
        return self

    def __exit__(self, *ended: Any) -> None:
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
                self.upstream_of_card[card] = tensor_preview(gradient)["value"]
                if key in self.seeds and key not in self.partial_sums:
                    self.seed(card, self.upstream_of_card[card])
            self.partial_sums.pop(key, None)
            name = f"sum of messages to {card.op or card.label}" if card else "sum of messages"
            self.add_gradient_card(gradient, name, card)

    def on_nested_backward(self) -> None:
        """Note on the running card that a backward pass of its own begins, as in a checkpoint."""
        self.card_of_node[self.running_node].hides[NESTED] += 1

    def send_messages(self, node: GraphNode, messages: tuple[Tensor | None, ...], _: object = ()) -> None:
        """Log the messages that a node has sent, and add them to the partial sums."""
        sender = self.card_of_node[node]
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
            upstream = self.upstream_of_card.get(sender, part)
            shown, total = self.value_of(other, before), self.value_of(other, after)
            self.message(sender, receiver, upstream, part, part, shown, cast(Value, total))
            self.add_gradient_card(message, f"backward of {sender.op}", sender)

    def value_of(self, node: GraphNode, total: Tensor | None) -> Value | None:
        """Return a sum of messages to a node, added to what a leaf had before the pass, as PyTorch does it."""
        earlier = self.earlier.get(node)
        if earlier is not None:
            total = earlier if total is None else earlier + total
        return None if total is None else tensor_preview(total)["value"]

    def add_gradient_card(self, gradient: Tensor, name: str, source: NodeCard | None) -> None:
        """Make a card of a gradient that has a graph itself, as with create_graph=True."""
        key = (gradient.grad_fn, gradient.output_nr)
        if gradient.grad_fn is not None and key not in self.recorder.result_cards:
            card = self.recorder.new_card(name, [], gradient)
            card.position = self.position if source is None or source.position.code is None else source.position

    def gradients(self) -> dict[str, np.ndarray | None]:
        gradients = {card.label: node.variable.grad for node, card in self.leaf_cards.items()}
        return {label: None if gradient is None else as_array(gradient) for label, gradient in gradients.items()}


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
