"""Record the backward passes of a block, of PyTorch or the lab's engine: `with watch() as pass_:`."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from lab.trace.export import standalone
from lab.trace.notebook import in_notebook
from lab.trace.recording import Trace
from lab.watch.cards import TraceDraft
from lab.watch.engine_recorder import EngineRecorder


class RecordedPass:
    """The backward passes recorded by `watch`."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []  # one for each backward pass that has ended, in order

    @property
    def trace(self) -> Trace:
        """The last backward pass. Raises RuntimeError if there was none."""
        if not self.traces:
            raise RuntimeError("No backward pass was recorded: call backward() inside the with block.")
        return self.traces[-1]

    def save(self, file: str | Path) -> None:
        """Write the last pass as a page that needs no server or, if the name ends in .json, as data for Graph lab."""
        path = Path(file)
        path.write_text(self.trace.to_json() if path.suffix == ".json" else standalone(self.trace), "utf-8")

    def _repr_html_(self) -> str:
        return in_notebook(self.trace)

    def keep(self, ended: TraceDraft, error: str = "") -> None:
        """Keep a pass of either recorder, unless an error ended it."""
        if not error:
            self.traces.append(ended.finish())


@contextmanager
def watch() -> Iterator[RecordedPass]:
    """Record each backward pass of a block, with the forward operations that led to it.

    Records PyTorch too if the program imported it before the block.
    """
    recorded = RecordedPass()
    of_torch: AbstractContextManager[object] = nullcontext()
    if "torch" in sys.modules:
        from lab.watch.torch_recorder import TorchRecorder

        of_torch = TorchRecorder(recorded.keep)
    with EngineRecorder(recorded.keep), of_torch:
        yield recorded
