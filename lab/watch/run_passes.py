"""Record each backward pass of a watched run, and keep the few that the findings are about."""

from types import CodeType

from lab.trace.recording import Trace
from lab.watch.finding import RunFinding
from lab.watch.torch_recorder import TorchPass, TorchRecorder
from lab.watch.watcher import Watcher

MAX_PASSES = 6  # kept for findings; also the limit for lines whose latest pass is kept


class RunPasses(TorchRecorder):
    """Records the backward passes of a watched block and finds the pass that a finding is about."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(self.keep_pass, forgets=True)
        self.watcher = watcher
        self.traces: dict[int, Trace] = {}  # by number of the pass
        self.latest: dict[tuple[CodeType | None, int], int] = {}  # line that calls backward() -> its last pass

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

    def pass_number(self, finding: RunFinding) -> int:
        """Return the number of the pass in which a failure was noticed, else of the last that ran its line, or 0."""
        if finding.backward_pass in self.traces:
            return finding.backward_pass
        ran = [n for n, trace in self.traces.items() if any(event["line"] == finding.line for event in trace.events)]
        return max(ran or self.traces, default=0)
