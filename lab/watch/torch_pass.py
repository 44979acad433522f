"""One backward pass of PyTorch, written down: hooks on every node of its graph, which are gone when it has ended."""

from collections import Counter, deque
from typing import Any

import torch

from lab.trace.parts import Captured
from lab.trace.recording import Trace
from lab.watch.cards import Draft, NodeCard, Picture, Place, Seeded, Sent, caller, picture
from lab.watch.names import Names
from lab.watch.torch_recorder import Key, TorchRecorder, numbers_of
from lab.watch.tracks import kind

Tensor = torch.Tensor
MAX_CAPTURED = 12  # saved values that a card shows
NESTED = "a backward pass of its own, which is not recorded"
_SAVED = "_saved_"


class TorchPass:
    """Follows one run of PyTorch's engine over the graph of some outputs."""

    def __init__(self, recorder: TorchRecorder, outputs: tuple[Tensor, ...]) -> None:
        self.recorder = recorder
        self.frame_place = Place(caller(2))
        self.draft = Draft(self.frame_place)
        self.outputs = [tensor for tensor in outputs if tensor.grad_fn is not None]
        self.cards = [recorder.card(tensor) for tensor in self.outputs]
        self.seeds = {(tensor.grad_fn, tensor.output_nr) for tensor in self.outputs}
        self.order = from_the_end([tensor.grad_fn for tensor in self.outputs])
        self.users: dict[Any, list[Any]] = {}
        for node in self.order:
            for other, _ in node.next_functions:
                self.users.setdefault(other, []).append(node)
        self.results: dict[Any, list[int]] = {}  # node -> the numbers of its results that have a card
        for node, number in recorder.edges:
            self.results.setdefault(node, []).append(number)
        self.leaves: dict[Any, NodeCard] = {}
        self.owner: dict[Any, NodeCard] = {}
        self.arrived: dict[Key, Tensor] = {}
        self.upstream: dict[int, Any] = {}
        self.running: Any = None
        for node in self.order:
            self.own(node)
        self.look_into()
        self.handles: list[Any] = []

    # Which nodes of PyTorch's graph belong to which card

    def own(self, node: Any) -> None:
        """A node belongs to the card that it made a result of, or else to the one card that uses it."""
        recorder = self.recorder
        if hasattr(node, "variable"):
            variable = node.variable
            card = self.leaves[node] = self.owner[node] = recorder.leaf(variable)
            card.added = variable.grad is not None
            return
        if node in self.results:
            cards = [recorder.edges[(node, number)] for number in sorted(self.results[node])]
            self.owner[node] = cards[0]
            for card in cards[1:]:
                card.shares = True
        else:
            self.owner[node] = self.united(node, [self.owner[user] for user in self.users[node]])
        self.owner[node].hides[kind(node)] += 1

    def united(self, node: Any, users: list[NodeCard]) -> NodeCard:
        """The one card that uses a node, or the first result of the one call that does; else a card of its own."""
        first = users[0] if len(users) == 1 else min(users, key=lambda card: card.serial)
        if all(user is first for user in users):
            return first
        if first.call and all(user.call == first.call for user in users):
            for user in users:
                user.shares = user is not first
            return first
        card = self.unseen(node, 0)
        card.place = first.place
        return card

    def unseen(self, node: Any, number: int) -> NodeCard:
        """A result that two operations share, and Python never had."""
        shape = tuple(node._input_metadata[number].shape) if number < len(node._input_metadata) else ()
        empty = picture(torch.full(shape, torch.nan).numpy())
        card = NodeCard(kind(node), Place(None), empty, True, unseen=True)
        self.recorder.edges[(node, number)] = card
        self.results.setdefault(node, []).append(number)
        return card

    def look_into(self) -> None:
        """Before the pass frees it: which parts are behind a card, what they have saved, what was written."""
        for node, card in self.owner.items():
            if node in self.leaves:
                card.writes = list(self.recorder.writes.get(card.memory, ()))
                continue
            if card not in self.recorder.untold:
                card.captured += saved(node, card, MAX_CAPTURED - len(card.captured))
            card.writes = list(self.recorder.writes.get(card.memory, ()))
        for card in {id(card): card for card in self.owner.values()}.values():
            if sum(card.hides.values()) == 1 and not card.unseen:
                card.hides = Counter()

    def receiver(self, node: Any, number: int) -> NodeCard | None:
        """The card that gets what is sent to a result of a node; None inside a card."""
        if node in self.leaves:
            return self.leaves[node]
        if node not in self.results:
            return None
        known = self.recorder.edges.get((node, number))
        if known is None:
            known = self.unseen(node, number)
            known.shares = known is not self.owner[node]
        return known

    # The pass

    def __enter__(self) -> "TorchPass":
        self.recorder.nested = self.nested
        for node in self.order:
            self.handles.append(node.register_prehook(Before(self, node)))
            if node not in self.leaves:
                self.handles.append(node.register_hook(After(self, node)))
        return self

    def __exit__(self, *ended: Any) -> None:
        self.recorder.nested = None
        for handle in self.handles:
            handle.remove()
        self.handles.clear()

    def reaches(self, node: Any, gradients: tuple[Tensor | None, ...]) -> None:
        """A node is handed the gradients of its results: they must be the sums of what was sent."""
        self.running = node
        for number, gradient in enumerate(gradients):
            if gradient is None:
                continue
            key = (node, number)
            card = self.receiver(node, number)
            if key in self.seeds and key not in self.arrived and card is not None:
                self.draft.log.append(Seeded(card, numbers_of(gradient).value))
            elif key in self.arrived:
                self.judge(self.arrived.pop(key), gradient)
            if card is not None:
                self.upstream[id(card)] = numbers_of(gradient).value
            self.follow(gradient, f"sum of messages to {card.op or card.label}" if card else "sum of messages", card)

    def nested(self) -> None:
        """The node that runs begins a backward pass of its own, as a checkpoint does."""
        self.owner[self.running].hides[NESTED] += 1

    def judge(self, total: Tensor, gradient: Tensor) -> None:
        sums, gradient = self.draft.sums, gradient.detach()
        total, gradient = (t.to_dense() if t.is_sparse else t for t in (total, gradient))
        if total.shape == gradient.shape and bool(torch.isclose(total, gradient, 0, 0, equal_nan=True).all()):
            sums.exact += 1
        elif total.shape == gradient.shape and torch.allclose(total, gradient.to(total), 1e-4, 1e-7, equal_nan=True):
            sums.rounded += 1
        else:
            sums.different += 1

    def sends(self, node: Any, messages: tuple[Tensor | None, ...]) -> None:
        """A node has sent its messages."""
        sender = self.owner[node]
        for message, (other, number) in zip(messages, node.next_functions, strict=False):
            if message is None or other is None:
                continue
            with torch.no_grad():
                before = self.arrived.get((other, number))
                after = message.detach() if before is None else before + message.detach()
            self.arrived[(other, number)] = after
            receiver = self.receiver(other, number)
            if receiver is None:
                continue
            part, earlier = numbers_of(message).value, None if before is None else numbers_of(before).value
            upstream = self.upstream.get(id(sender), part)
            self.draft.log.append(Sent(sender, receiver, upstream, part, part, earlier, numbers_of(after).value))
            self.follow(message, f"backward of {sender.op}", sender)

    def follow(self, gradient: Tensor, name: str, source: NodeCard | None) -> None:
        """With create_graph=True a gradient is the result of operations, too."""
        key = (gradient.grad_fn, gradient.output_nr)
        if gradient.grad_fn is not None and key not in self.recorder.edges:
            card = self.recorder.operation(name, [], gradient)
            card.place = self.frame_place if source is None or source.place.code is None else source.place

    # Afterwards

    def finish(self) -> Trace:
        """The trace of the pass. Its leaves have the gradients that PyTorch has now."""
        unique = Names()
        for card in self.leaves.values():
            card.label = unique.taken(card.label or "leaf")
        trace = self.draft.trace(self.cards[0], self.recorder.ends)
        for node, card in self.leaves.items():
            gradient = node.variable.grad
            if gradient is not None:
                gradient = gradient.detach().to_dense() if gradient.is_sparse else gradient.detach()
                gradient = gradient.float() if gradient.dtype == torch.bfloat16 else gradient
            trace.gradients[card.label] = None if gradient is None else gradient.cpu().numpy().copy()
        return trace


class Before:
    """A hook that keeps a pass informed; a class, so that its name is known in a traceback."""

    def __init__(self, of: TorchPass, node: Any) -> None:
        self.of, self.node = of, node

    def __call__(self, gradients: tuple[Tensor | None, ...]) -> None:
        self.of.reaches(self.node, gradients)


class After(Before):
    def __call__(self, messages: tuple[Tensor | None, ...], gradients: Any = ()) -> None:  # type: ignore[override]
        self.of.sends(self.node, messages)


def from_the_end(roots: list[Any]) -> list[Any]:
    """The nodes of a graph, each after all that use it."""
    waiting: dict[Any, int] = dict.fromkeys(roots, 0)
    queue = deque(waiting)
    while queue:
        for other, _ in queue.popleft().next_functions:
            if other is not None:
                if other not in waiting:
                    waiting[other] = 0
                    queue.append(other)
                waiting[other] += 1
    ready = deque(node for node in dict.fromkeys(roots) if not waiting[node])
    order = []
    while ready:
        node = ready.popleft()
        order.append(node)
        for other, _ in node.next_functions:
            if other is not None:
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)
    return order


def saved(node: Any, card: NodeCard, most: int) -> list[Captured]:
    """What a node has kept for its backward step, by PyTorch's names."""
    entries: list[Captured] = []
    for name in dir(node):
        if not name.startswith(_SAVED) or len(entries) >= most:
            continue
        try:
            value = getattr(node, name)
        except RuntimeError:  # freed, or written to since
            entries.append(
                {
                    "name": name[len(_SAVED) :],
                    "holds": "setting",
                    "type": "Tensor",
                    "shape": [],
                    "value": "not there",
                    "written": True,
                }
            )
            continue
        if isinstance(value, Tensor):
            entries.append(kept(name[len(_SAVED) :], value, card))
        elif value is not None and not isinstance(value, (tuple, list)):
            entries.append(
                {
                    "name": name[len(_SAVED) :],
                    "holds": "setting",
                    "type": type(value).__name__,
                    "shape": [],
                    "value": repr(value)[:80],
                    "written": False,
                }
            )
    return entries


def kept(name: str, tensor: Tensor, card: NodeCard) -> Captured:
    shown: Picture = numbers_of(tensor)
    place = 0 if tensor.is_sparse else tensor.untyped_storage().data_ptr()
    of = [i for i, operand in enumerate(card.operands) if operand.memory == place and same(operand, shown)]
    holds = "output" if card.memory == place and same(card, shown) else f"value of operand {of[0]}" if of else "array"
    return {"name": name, "holds": holds, "shape": list(shown.shape), "value": shown.value, "written": False}


def same(card: NodeCard, shown: Picture) -> bool:
    return card.picture.shape == shown.shape and card.picture.value == shown.value
