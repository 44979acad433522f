"""Record the passes of `model.Tensor` in any code: operations, messages and accumulations."""

import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lab.trace.recording import engine_calls, variables
from lab.trace.schema import Captured
from lab.watch.cards import MAX_CARDS, NodeCard, Shown, SourceLine, TraceDraft, label_leaves, preview, variable_name
from lab.watch.sites import script_frame
from model import Tensor, topological_order

Closure: TypeAlias = Callable[[np.ndarray], None]
MAX_UNFINISHED = 2_000
_ACCUMULATE = Tensor.accumulate.__code__


class Made(NamedTuple):
    """The lines that made a tensor, the user's and the engine's; calls: the engine's functions that were running."""

    line: SourceLine
    engine: SourceLine | None
    calls: Sequence[str]


class EngineRecorder:
    """Records the engine's passes by wrapping methods of Tensor during a `with` block; `keep` gets each pass."""

    def __init__(self, keep: Callable[["EnginePass"], None]) -> None:
        self.keep = keep
        self.made: dict[Tensor, Made] = {}  # the results of operations, in order
        self.pending = 0  # the first of these that was made since the last pass
        self.names: dict[Tensor, str] = {}  # of variables
        self.shown: dict[Tensor, Shown] = {}  # the values with which a tensor was made or used last
        self.values: dict[Tensor, np.ndarray] = {}  # of leaves at their last pass
        self.stale: dict[int, str] = {}  # line of backward() -> a leaf whose gradient a step used and nobody cleared
        self.calls: dict[FrameType, str] = {}  # function of the engine since the last pass -> its name with a number
        self.active_pass: EnginePass | None = None
        self.originals: dict[str, Callable[..., Any]] = {}

    def __enter__(self) -> "EngineRecorder":
        self.originals = {name: vars(Tensor)[name] for name in ("node", "accumulate", "backward")}
        old_node, old_accumulate, old_backward = self.originals.values()

        def node(tensor: Tensor, values: np.ndarray, children: tuple[Tensor, ...], op: str, closure: Closure) -> Tensor:
            out: Tensor = old_node(tensor, values, children, op, closure)
            if out.requires_grad and len(self.made) < MAX_CARDS:
                frame = script_frame()
                method = sys._getframe(1)
                self.made[out] = Made(SourceLine(frame), SourceLine(method), engine_calls(method.f_back, self.calls))
                for child in children:
                    self.note_name(child, frame)
                self.shown |= {tensor: preview(tensor.numpy()) for tensor in (*children, out)}
            return out

        def accumulate(tensor: Tensor, message: np.ndarray) -> None:
            if self.active_pass is None or not tensor.requires_grad:
                return old_accumulate(tensor, message)  # type: ignore[no-any-return]
            return self.active_pass.record_message(tensor, message, old_accumulate)

        def backward(tensor: Tensor, grad: Any = None, retain_graph: bool = False) -> None:
            if self.active_pass is not None or tensor.closure is None:
                return old_backward(tensor, grad, retain_graph)  # type: ignore[no-any-return]
            self.note_name(tensor, script_frame())
            self.active_pass = EnginePass(topological_order(tensor), self)
            self.note_stale(self.active_pass)
            try:
                with self.active_pass:
                    old_backward(tensor, grad, retain_graph)
                self.keep(self.active_pass)
                self.made = {tensor: made for tensor, made in self.made.items() if tensor.closure is not None}
                self.pending = len(self.made)
                self.shown = {one: shown for one, shown in self.shown.items() if one in self.made or not one.op}
            finally:
                self.active_pass = None
                self.calls.clear()  # its frames keep variables alive
            return None

        for name, new in (("node", node), ("accumulate", accumulate), ("backward", backward)):
            setattr(Tensor, name, new)
        return self

    def __exit__(self, *ended: object) -> None:
        for name, old in self.originals.items():
            setattr(Tensor, name, old)
        for store in (self.originals, self.made, self.names, self.shown, self.values, self.calls):
            store.clear()

    def note_name(self, tensor: Tensor, frame: FrameType | None) -> None:
        """Note the variable that holds a tensor, unless it has a label or its name is known."""
        if isinstance(tensor, Tensor) and not tensor.label and not self.names.get(tensor):
            self.names[tensor] = variable_name(frame, tensor)

    def note_stale(self, begun: "EnginePass") -> None:
        """Note a leaf whose values changed since its last pass, as in a step, but whose gradient was not cleared."""
        for leaf in begun.leaves:
            used = leaf.grad is not None and leaf in self.values
            if used and not np.array_equal(self.values[leaf], leaf.read()):
                self.stale.setdefault(begun.position.line, begun.card_of[leaf].label)
            self.values[leaf] = leaf.numpy()

    @property
    def is_full(self) -> bool:
        """Whether there may be more operations since the last backward pass than `unfinished` returns."""
        return len(self.made) >= MAX_CARDS or len(self.made) - self.pending > MAX_UNFINISHED

    def unfinished(self, named: Mapping[str, Any]) -> list[NodeCard]:
        """Return the cards of the first operations since the last backward pass; named: the program's variables."""
        for name, value in named.items():
            if isinstance(value, Tensor):
                self.names[value] = self.names.get(value) or name
        results, order = [*self.made][self.pending :][:MAX_UNFINISHED], dict[Tensor, None]()
        for result in results:  # each was made after its operands
            for child in result.children:
                if child not in order:
                    order |= dict.fromkeys(topological_order(child))
            order[result] = None
        card_of = EnginePass([*order], self).card_of if results else {}
        return [card_of[result] for result in results]


class EnginePass(TraceDraft):
    """Records one backward pass of the engine."""

    def __init__(self, order: list[Tensor], recorder: EngineRecorder) -> None:
        self.order = order  # of its tensors, the output last
        self.card_of: dict[Tensor, NodeCard] = {}
        self.closures: list[tuple[Tensor, Closure, Closure]] = []
        self.sender: Tensor | None = None
        for tensor in self.order:
            if tensor not in self.card_of:
                self.card_of[tensor] = self.card(tensor, recorder)
        self.leaves = [tensor for tensor in self.card_of if tensor.requires_grad and not tensor.op]
        label_leaves(map(self.card_of.__getitem__, self.leaves), "t1")
        super().__init__(SourceLine(script_frame()), [self.card_of[order[-1]]])

    def __enter__(self) -> None:
        for tensor in self.order:
            if tensor.closure is not None:  # else a leaf, or its graph is freed
                watched = self.wrap_closure(tensor, tensor.closure)
                self.closures.append((tensor, tensor.closure, watched))
                tensor.closure = watched

    def card(self, tensor: Tensor, recorder: EngineRecorder) -> NodeCard:
        op = tensor.op
        made = recorder.made.get(tensor, Made(SourceLine(None), None, ()))
        card = NodeCard(
            op,
            made.line,
            recorder.shown.get(tensor) or preview(tensor.numpy()),
            tensor.requires_grad,
            [self.card_of[child] for child in tensor.children],
            tensor.label or recorder.names.get(tensor, ""),
            made.calls,
            earlier=None if op or tensor.grad is None else preview(np.asarray(tensor.grad))["value"],
            engine=made.engine,
        )
        card.note_writes(preview(tensor.numpy()))
        if tensor.closure is not None:
            card.captured = captured_arrays(tensor, card, tensor.closure)
        return card

    def wrap_closure(self, tensor: Tensor, closure: Closure) -> Closure:
        def watched(upstream: np.ndarray) -> None:
            card = self.card_of[tensor]
            for entry, now in zip(card.captured, captured_arrays(tensor, card, closure), strict=True):
                entry["written"] = repr(now["value"]) != repr(entry["value"])  # as text, nan equals nan
            self.sender, self.upstream = tensor, preview(np.asarray(upstream))["value"]
            if tensor is self.order[-1]:
                self.seed(card, self.upstream)
            closure(upstream)

        watched.__wrapped__ = closure  # type: ignore[attr-defined]  # for lab.traps.detect_mutation
        return watched

    def record_message(self, tensor: Tensor, message: np.ndarray, accumulate: Callable[..., None]) -> None:
        """Accumulate a message into a tensor's gradient and log it, with the gradient before and after."""
        before = None if tensor.grad is None else np.array(tensor.grad)
        sent = preview(np.asarray(message))
        accumulate(tensor, message)
        after = np.asarray(tensor.grad)
        part = after if before is None else after - before
        if np.shape(message) == after.shape:
            part = np.asarray(message)
        self.message(
            self.card_of[self.sender],  # type: ignore[index]
            self.card_of[tensor],
            self.upstream,
            preview(part)["value"] if "large" in sent else sent["value"],
            preview(part)["value"],
            None if before is None else preview(before)["value"],
            preview(after)["value"],
            SourceLine(sys._getframe(2)),
            SourceLine.containing(_ACCUMULATE, "self.grad = " if before is None else "self.grad += "),
        )

    def gradients(self) -> dict[str, np.ndarray | None]:
        return {self.card_of[leaf].label: None if leaf.grad is None else np.array(leaf.grad) for leaf in self.leaves}

    def __exit__(self, *ended: object) -> None:
        """Restore the original closures where the pass did not free them (retain_graph=True)."""
        for tensor, closure, watched in self.closures:
            if tensor.closure is watched:
                tensor.closure = closure
        self.closures.clear()


def captured_arrays(tensor: Tensor, card: NodeCard, closure: Closure) -> list[Captured]:
    """Return the arrays that an operation's backward closure captured."""
    entries: list[Captured] = []
    for name, value in variables(closure).items():
        if isinstance(value, (np.ndarray, np.generic)):
            of = [i for i, child in enumerate(tensor.children) if child.read() is value]
            holds = "output" if value is tensor.read() else f"value of operand {of[0]}" if of else "array"
            shown = preview(np.asarray(value))
            entries.append({"name": name, "holds": holds, "shape": shown["shape"], "value": shown["value"]})
    return entries
