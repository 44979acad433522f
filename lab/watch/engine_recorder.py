"""The passes of `model.Tensor`, in any code: operations, messages and sums as they happen."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lab.trace.parts import Captured
from lab.trace.recording import Trace
from lab.watch.cards import Draft, NodeCard, Place, Seeded, Sent, Sums, caller, picture
from lab.watch.names import Names
from model import Tensor, topological_order

_ENGINE = Tensor._node.__code__.co_filename


class EngineRecorder:
    """Puts itself between the engine and its nodes for the time of a `with` block."""

    def __init__(self, keep: Callable[[Trace, Sums], None]) -> None:
        self.keep = keep
        self.places: dict[Tensor, Place] = {}
        self.running: EnginePass | None = None
        self.old: dict[str, Any] = {}

    def __enter__(self) -> "EngineRecorder":
        self.old = {name: vars(Tensor)[name] for name in ("_node", "_accumulate", "backward")}
        old_node, old_accumulate, old_backward = self.old.values()

        def _node(tensor: Tensor, data: Any, children: Any, op: str, backward: Any) -> Tensor:
            out: Tensor = old_node(tensor, data, children, op, backward)
            if out.requires_grad:
                self.places[out] = Place(caller(2, _ENGINE))
            return out

        def _accumulate(tensor: Tensor, message: Any) -> None:
            if self.running is None or not tensor.requires_grad:
                return old_accumulate(tensor, message)  # type: ignore[no-any-return]
            return self.running.message(tensor, message, old_accumulate)

        def backward(tensor: Tensor, grad: Any = None, retain_graph: bool = False) -> None:
            if self.running is not None or tensor._backward is None:
                return old_backward(tensor, grad, retain_graph)  # type: ignore[no-any-return]
            self.running = EnginePass(tensor, self.places)
            try:
                old_backward(tensor, grad, retain_graph)
                self.keep(self.running.finish(), self.running.draft.sums)
            finally:
                self.running.close()
                self.running = None
            return None

        for name, new in (("_node", _node), ("_accumulate", _accumulate), ("backward", backward)):
            setattr(Tensor, name, new)
        return self

    def __exit__(self, *ended: Any) -> None:
        for name, old in self.old.items():
            setattr(Tensor, name, old)
        self.old.clear()
        self.places.clear()


class EnginePass:
    """Follows one backward pass of the engine."""

    def __init__(self, output: Tensor, places: dict[Tensor, Place]) -> None:
        self.order = topological_order(output)
        self.draft, self.names = Draft(Place(caller(2, _ENGINE))), Names()
        self.cards: dict[Tensor, NodeCard] = {}
        self.closures: list[tuple[Tensor, Any, Any]] = []
        self.sender: Tensor | None = None
        for tensor in self.order:
            self.cards[tensor] = self.card(tensor, places)
        for tensor in self.order:
            if tensor._backward is not None:
                watched = self.watched(tensor, tensor._backward)
                self.closures.append((tensor, tensor._backward, watched))
                tensor._backward = watched
        self.output = output

    def card(self, tensor: Tensor, places: dict[Tensor, Place]) -> NodeCard:
        op = tensor.op if tensor._backward is not None else ""
        label = tensor.label
        if not op and tensor.requires_grad:
            label = self.names.taken(label or "t1")
        operands = [self.cards[child] for child in tensor._children]
        card = NodeCard(
            op,
            places.get(tensor, Place(None)),
            picture(np.asarray(tensor._data)),
            tensor.requires_grad,
            operands,
            label,
            added=not op and tensor.grad is not None,
        )
        if op:
            card.captured = captured(tensor, card, tensor._backward)
        return card

    def watched(self, tensor: Tensor, closure: Any) -> Any:
        def watched(upstream: Any) -> None:
            card = self.cards[tensor]
            for entry, now in zip(card.captured, captured(tensor, card, closure), strict=True):
                entry["written"] = repr(now["value"]) != repr(entry["value"])  # as text, nan equals nan
            if tensor is self.output:
                self.draft.log.append(Seeded(card, picture(np.asarray(upstream)).value))
            self.sender, self.upstream = tensor, picture(np.asarray(upstream)).value
            closure(upstream)

        watched.__wrapped__ = closure  # type: ignore[attr-defined]  # the engine looks into it for writes
        return watched

    def message(self, tensor: Tensor, message: Any, accumulate: Any) -> None:
        before = None if tensor.grad is None else np.array(tensor.grad)
        sent = picture(np.asarray(message))
        accumulate(tensor, message)
        after = np.asarray(tensor.grad)
        part = after if before is None else after - before
        if np.shape(message) == after.shape:
            part = np.asarray(message)
            total = part if before is None else before + part
            if np.array_equal(total, after, equal_nan=True):
                self.draft.sums.exact += 1
            else:
                self.draft.sums.different += 1
        contribution = picture(part).value if sent.large else sent.value
        self.draft.log.append(
            Sent(
                self.cards[self.sender],  # type: ignore[index]
                self.cards[tensor],
                self.upstream,
                contribution,
                picture(part).value,
                None if before is None else picture(before).value,
                picture(after).value,
            )
        )

    def finish(self) -> Trace:
        trace = self.draft.trace(self.cards[self.output], [])
        trace.gradients = {
            self.cards[leaf].label: None if leaf.grad is None else np.array(leaf.grad)
            for leaf in self.order
            if leaf.requires_grad and not self.cards[leaf].op
        }
        return trace

    def close(self) -> None:
        """Give each closure back that is still there: the pass frees them, unless it was to keep the graph."""
        for tensor, closure, watched in self.closures:
            if tensor._backward is watched:
                tensor._backward = closure
        self.closures.clear()


def captured(tensor: Tensor, card: NodeCard, closure: Any) -> list[Captured]:
    """The arrays that the backward step of an operation holds."""
    entries: list[Captured] = []
    for name, cell in zip(closure.__code__.co_freevars, closure.__closure__ or (), strict=True):
        value = cell.cell_contents
        if isinstance(value, (np.ndarray, np.generic)):
            shown = picture(np.asarray(value))
            of = [i for i, child in enumerate(tensor._children) if child._data is value]
            holds = "output" if value is tensor._data else f"value of operand {of[0]}" if of else "array"
            entries.append({"name": name, "holds": holds, "shape": list(shown.shape), "value": shown.value})
    return entries
