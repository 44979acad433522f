"""Record each backward pass of a watched run, and keep the few that the findings are about."""

from collections.abc import Callable
from types import CodeType

import torch

from lab.trace.recording import Trace
from lab.watch.cards import NodeCard
from lab.watch.finding import RunFinding
from lab.watch.torch_pass import TorchPass
from lab.watch.torch_recorder import TorchRecorder
from lab.watch.watcher import Watcher

MAX_PASSES = 6  # kept for findings; also the limit for lines whose latest pass is kept
MAX_BYTES = 500_000_000  # of the tensors whose cards are kept between two passes


class RunPasses(TorchRecorder):
    """Records the backward passes of a watched block and finds the pass that a finding is about.

    Cards are kept for the next two passes: two losses may share a part of a graph.
    """

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(self.keep_pass)
        self.watcher = watcher
        self.traces: dict[int, Trace] = {}  # by number of the pass
        self.latest: dict[tuple[CodeType | None, int], int] = {}  # line that calls backward() -> its last pass
        self.first_card = 0  # serial number of the first card since the last pass
        self.bytes = 0

    def set_memory(self, card: NodeCard, tensor: torch.Tensor) -> None:
        """Note the memory of a card's tensor; forget older cards once they fill MAX_BYTES."""
        super().set_memory(card, tensor)
        self.bytes += tensor.numel() * tensor.element_size()
        if self.bytes > MAX_BYTES and not self.paused():
            self.forget(card.serial)

    def keep_pass(self, torch_pass: TorchPass, error: str) -> None:
        """Keep a pass, with the error that ended it, and drop those that no finding and no line's latest pass needs."""
        trace, position = torch_pass.finish(), torch_pass.position
        trace.error, call = error, (position.code, position.line)
        number = self.watcher.run.clock.iteration + 1
        if call in self.latest or len(self.latest) < MAX_PASSES:
            self.latest[call] = number
        reported = {finding.backward_pass for finding in self.watcher.run.found.values()} & self.traces.keys()
        kept = {*sorted(reported)[:MAX_PASSES], *self.latest.values()}
        self.traces = {n: known for n, known in self.traces.items() if n in kept} | {number: trace}
        self.forget_older()

    def forget_older(self) -> None:
        """Forget the cards from before the previous pass."""
        self.forget(self.first_card)
        self.first_card = 1 + max((card.serial for card in self.cards()), default=self.first_card)

    def cards(self) -> list[NodeCard]:
        return [*self.result_cards.values(), *(card for _, card in self.graphless.values())]

    def forget(self, first: int) -> None:
        """Forget the cards before serial number `first`, and their operands."""
        gone = [card for card in self.cards() if card.serial < first]
        self.result_cards = {key: card for key, card in self.result_cards.items() if card.serial >= first}
        self.graphless = {key: known for key, known in self.graphless.items() if known[1].serial >= first}
        self.ends = [card for card in self.ends if card.serial >= first]
        for card in gone:
            card.operands = []
        for store in (self.writes, self.module_calls):
            store.clear()
        if not self.running_modules:
            self.module_paths.clear()
            self.parameter_paths.clear()
        self.card_count, self.bytes = len(self.result_cards) + len(self.graphless), 0

    def unfinished(self) -> list[NodeCard]:
        """Return the cards of the operations since the last backward pass, in order."""
        return [card for card in self.result_cards.values() if card.serial >= self.first_card and card.op]

    def pass_number(self, finding: RunFinding) -> int:
        """Return the number of the pass in which a failure was noticed, else of the last that ran its line, or 0."""
        if finding.backward_pass in self.traces:
            return finding.backward_pass
        ran = [n for n, trace in self.traces.items() if any(event["line"] == finding.line for event in trace.events)]
        return max(ran or self.traces, default=0)


class ProgramPasses(RunPasses):
    """Hands on each backward pass of a program when it ends, with the error that ended it."""

    def __init__(self, watcher: Watcher, keep: Callable[[TorchPass, str], None]) -> None:
        super().__init__(watcher)
        self.hand_on = keep

    def keep_pass(self, torch_pass: TorchPass, error: str) -> None:
        self.hand_on(torch_pass, error)
        self.forget_older()
