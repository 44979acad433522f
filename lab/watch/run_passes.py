"""The backward passes that the findings of a run are about: each is recorded, and a few are kept for the player."""

from typing import Any

import torch

from lab.trace.recording import Trace
from lab.watch.cards import NodeCard
from lab.watch.finding import RunFinding
from lab.watch.torch_pass import TorchPass
from lab.watch.torch_recorder import TorchRecorder

MAX_PASSES = 6  # that are kept for findings, and as many places that call backward()
MAX_BYTES = 500_000_000  # of tensors that are remembered between two passes


class RunPasses(TorchRecorder):
    """Records the passes of a block that a watcher watches, and finds the one that a finding is about.

    A card is remembered for the pass that comes and the one after: two losses may share a part of a graph.
    """

    def __init__(self, watcher: Any) -> None:
        super().__init__(RunPasses.record)
        self.watcher = watcher
        self.traces: dict[int, Trace] = {}  # by the number of the pass
        self.newest: dict[tuple[Any, int], int] = {}  # of each place that calls backward(): the last pass
        self.before = 0  # the first card since the last pass
        self.bytes = 0

    def describe(self, card: NodeCard, tensor: torch.Tensor) -> None:
        super().describe(card, tensor)
        self.bytes += tensor.numel() * tensor.element_size()
        if self.bytes > MAX_BYTES and not self.silent:
            self.forget(card.serial)

    def record(self, engine: Any, outputs: Any, args: Any, kwargs: Any) -> Any:
        """Run PyTorch's engine; what it raises ends the trace."""
        with torch._C.DisableTorchFunction():  # what is looked at is not the script's
            one, error = TorchPass(self, tuple(outputs)), ""
            if not one.outputs:
                return engine(outputs, *args, **kwargs)
            try:
                with one:
                    return engine(outputs, *args, **kwargs)
            except RuntimeError as raised:
                error = str(raised).splitlines()[0]
                raise
            finally:
                trace = one.finish()
                trace.error = error
                self.keep(trace, (one.frame_place.code, one.frame_place.line))

    def keep(self, trace: Trace, place: tuple[Any, int]) -> None:
        number = self.watcher.turn + 1
        if place in self.newest or len(self.newest) < MAX_PASSES:
            self.newest[place] = number
        noticed = sorted({finding.turn for finding in self.watcher.found.values()} & self.traces.keys())[:MAX_PASSES]
        kept = {*noticed, *self.newest.values()}
        self.traces = {n: known for n, known in self.traces.items() if n in kept} | {number: trace}
        self.forget(self.before)
        self.before = 1 + max((card.serial for card in self.cards()), default=self.before)

    def cards(self) -> list[NodeCard]:
        return [*self.edges.values(), *(card for _, card in self.plain.values())]

    def forget(self, first: int) -> None:
        """Let go of all cards before the first one to be remembered, and of what they were made of."""
        gone = [card for card in self.cards() if card.serial < first]
        self.edges = {key: card for key, card in self.edges.items() if card.serial >= first}
        self.plain = {key: known for key, known in self.plain.items() if known[1].serial >= first}
        self.ends = [card for card in self.ends if card.serial >= first]
        for card in gone:
            card.operands = []
        for store in (self.writes, self.module_calls):
            store.clear()
        if not self.modules:
            self.paths.clear()
            self.parameters.clear()
        self.made, self.bytes = len(self.edges) + len(self.plain), 0

    def of(self, finding: RunFinding) -> int:
        """The number of the pass in which a failure was noticed, or of the last one that ran its line; 0 for none."""
        if finding.turn in self.traces:
            return finding.turn
        ran = [n for n, trace in self.traces.items() if any(event["line"] == finding.line for event in trace.events)]
        return max(ran or self.traces, default=0)
