"""Record the passes of `model.Tensor` in any code: operations, messages and accumulations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lab.trace.parts import Captured
from lab.trace.recording import Trace
from lab.watch.cards import EdgeMessage, MessageSums, NodeCard, SeedGradient, SourceLine, TraceDraft, caller, preview
from lab.watch.names import UniqueNames
from model import Tensor, topological_order

_ENGINE = Tensor._node.__code__.co_filename


class EngineRecorder:
    """Records the engine's passes by wrapping methods of Tensor during a `with` block."""

    def __init__(self, keep: Callable[[Trace, MessageSums], None]) -> None:
        self.keep = keep
        self.positions: dict[Tensor, SourceLine] = {}
        self.active_pass: EnginePass | None = None
        self.originals: dict[str, Any] = {}

    def __enter__(self) -> "EngineRecorder":
        self.originals = {name: vars(Tensor)[name] for name in ("_node", "_accumulate", "backward")}
        old_node, old_accumulate, old_backward = self.originals.values()

        def _node(tensor: Tensor, data: Any, children: Any, op: str, backward: Any) -> Tensor:
            out: Tensor = old_node(tensor, data, children, op, backward)
            if out.requires_grad:
                self.positions[out] = SourceLine(caller(2, _ENGINE))
            return out

        def _accumulate(tensor: Tensor, message: Any) -> None:
            if self.active_pass is None or not tensor.requires_grad:
                return old_accumulate(tensor, message)  # type: ignore[no-any-return]
            return self.active_pass.record_message(tensor, message, old_accumulate)

        def backward(tensor: Tensor, grad: Any = None, retain_graph: bool = False) -> None:
            if self.active_pass is not None or tensor._backward is None:
                return old_backward(tensor, grad, retain_graph)  # type: ignore[no-any-return]
            self.active_pass = EnginePass(tensor, self.positions)
            try:
                old_backward(tensor, grad, retain_graph)
                self.keep(self.active_pass.finish(), self.active_pass.draft.sums)
            finally:
                self.active_pass.restore_closures()
                self.active_pass = None
            return None

        for name, new in (("_node", _node), ("_accumulate", _accumulate), ("backward", backward)):
            setattr(Tensor, name, new)
        return self

    def __exit__(self, *ended: Any) -> None:
        for name, old in self.originals.items():
            setattr(Tensor, name, old)
        self.originals.clear()
        self.positions.clear()


class EnginePass:
    """Records one backward pass of the engine."""

    def __init__(self, output: Tensor, positions: dict[Tensor, SourceLine]) -> None:
        self.order = topological_order(output)
        self.draft, self.names = TraceDraft(SourceLine(caller(2, _ENGINE))), UniqueNames()
        self.cards: dict[Tensor, NodeCard] = {}
        self.closures: list[tuple[Tensor, Any, Any]] = []
        self.sender: Tensor | None = None
        for tensor in self.order:
            self.cards[tensor] = self.card(tensor, positions)
        for tensor in self.order:
            if tensor._backward is not None:
                watched = self.wrap_closure(tensor, tensor._backward)
                self.closures.append((tensor, tensor._backward, watched))
                tensor._backward = watched
        self.output = output

    def card(self, tensor: Tensor, positions: dict[Tensor, SourceLine]) -> NodeCard:
        op = tensor.op if tensor._backward is not None else ""
        label = tensor.label
        if not op and tensor.requires_grad:
            label = self.names.unique(label or "t1")
        operands = [self.cards[child] for child in tensor._children]
        card = NodeCard(
            op,
            positions.get(tensor, SourceLine(None)),
            preview(np.asarray(tensor._values)),
            tensor.requires_grad,
            operands,
            label,
            added=not op and tensor.grad is not None,
        )
        if op:
            card.captured = captured_arrays(tensor, card, tensor._backward)
        return card

    def wrap_closure(self, tensor: Tensor, closure: Any) -> Any:
        def watched(upstream: Any) -> None:
            card = self.cards[tensor]
            for entry, now in zip(card.captured, captured_arrays(tensor, card, closure), strict=True):
                entry["written"] = repr(now["value"]) != repr(entry["value"])  # as text, nan equals nan
            if tensor is self.output:
                self.draft.log.append(SeedGradient(card, preview(np.asarray(upstream)).value))
            self.sender, self.upstream = tensor, preview(np.asarray(upstream)).value
            closure(upstream)

        watched.__wrapped__ = closure  # type: ignore[attr-defined]  # the engine's guard looks into the original
        return watched

    def record_message(self, tensor: Tensor, message: Any, accumulate: Any) -> None:
        """Accumulate a message into a tensor's gradient and log it, with the gradient before and after."""
        before = None if tensor.grad is None else np.array(tensor.grad)
        sent = preview(np.asarray(message))
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
        contribution = preview(part).value if sent.large else sent.value
        self.draft.log.append(
            EdgeMessage(
                self.cards[self.sender],  # type: ignore[index]
                self.cards[tensor],
                self.upstream,
                contribution,
                preview(part).value,
                None if before is None else preview(before).value,
                preview(after).value,
            )
        )

    def finish(self) -> Trace:
        """Return the trace of the pass, with the gradients of its leaves."""
        trace = self.draft.trace(self.cards[self.output], [])
        trace.gradients = {
            self.cards[leaf].label: None if leaf.grad is None else np.array(leaf.grad)
            for leaf in self.order
            if leaf.requires_grad and not self.cards[leaf].op
        }
        return trace

    def restore_closures(self) -> None:
        """Restore the original closures where the pass did not free them (retain_graph=True)."""
        for tensor, closure, watched in self.closures:
            if tensor._backward is watched:
                tensor._backward = closure
        self.closures.clear()


def captured_arrays(tensor: Tensor, card: NodeCard, closure: Any) -> list[Captured]:
    """Return the arrays that an operation's backward closure captured."""
    entries: list[Captured] = []
    for name, cell in zip(closure.__code__.co_freevars, closure.__closure__ or (), strict=True):
        value = cell.cell_contents
        if isinstance(value, (np.ndarray, np.generic)):
            shown = preview(np.asarray(value))
            of = [i for i, child in enumerate(tensor._children) if child._values is value]
            holds = "output" if value is tensor._values else f"value of operand {of[0]}" if of else "array"
            entries.append({"name": name, "holds": holds, "shape": list(shown.shape), "value": shown.value})
    return entries
