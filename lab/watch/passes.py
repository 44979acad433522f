"""`with watch() as pass_:` records the backward passes of a block, of PyTorch or of the lab's own engine."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from lab.trace.export import standalone
from lab.trace.notebook import in_notebook
from lab.trace.recording import Trace
from lab.watch.cards import Sums


class RecordedPass:
    """What `watch` gives: each backward pass of the block, once it has ended.

    traces  one for each backward pass, in order
    sums    how the messages of each add up
    """

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.sums: list[Sums] = []

    @property
    def trace(self) -> Trace:
        """The last backward pass. RuntimeError: there was none."""
        if not self.traces:
            raise RuntimeError("No backward pass was recorded: call backward() inside the with block.")
        return self.traces[-1]

    def save(self, file: str | Path) -> None:
        """Write the last pass: as a page that plays without a server, or, where the name ends in .json, as data that
        Graph lab opens."""
        path = Path(file)
        path.write_text(self.trace.to_json() if path.suffix == ".json" else standalone(self.trace), "utf-8")

    def _repr_html_(self) -> str:
        return in_notebook(self.trace)

    def keep(self, trace: Trace, sums: Sums) -> None:
        self.traces.append(trace)
        self.sums.append(sums)


@contextmanager
def watch() -> Iterator[RecordedPass]:
    """Record each backward pass of a block with all that led to it.

    PyTorch is recorded if the program has imported it before the block begins.
    """
    recorded = RecordedPass()
    with ExitStack() as stack:
        from lab.watch.engine_recorder import EngineRecorder

        stack.enter_context(EngineRecorder(recorded.keep))
        if "torch" in sys.modules:
            stack.enter_context(torch_recorder(recorded))
        yield recorded


def torch_recorder(recorded: RecordedPass) -> Any:
    from lab.watch.torch_pass import TorchPass
    from lab.watch.torch_recorder import TorchRecorder

    def run_backward(recorder: TorchRecorder, engine: Any, outputs: Any, args: Any, kwargs: Any) -> Any:
        one = TorchPass(recorder, tuple(outputs))
        if not one.outputs:
            return engine(outputs, *args, **kwargs)
        with one:
            result = engine(outputs, *args, **kwargs)
        recorded.keep(one.finish(), one.draft.sums)
        return result

    return TorchRecorder(run_backward)
