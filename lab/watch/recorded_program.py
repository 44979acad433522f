"""Run a learner's program and record each of its passes, for *Your program* in the Graph lab.

This is the side of the learner's process: lab/practice/driver.py loads it before the program arrives, and
lab/practice/learner_program.py, in the server's process, reads what it reports and trusts none of it.
"""

import builtins
import gc
import linecache
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from traceback import walk_tb
from types import ModuleType
from typing import Any

from lab.trace.loading import MAX_TEXT
from lab.watch.cards import NodeCard, SourceLine, TraceDraft
from lab.watch.engine_recorder import EngineRecorder
from lab.watch.finding import RunFinding

MAX_PASSES = 20  # recorded; later ones are only counted
MAX_OPERATIONS = (300, 100, 30)  # cards of one pass: as many as fit into MAX_BYTES
MAX_BYTES = 1_500_000  # of one recorded pass
ZERO_GRAD = 6  # the failure's number
STALE = "backward() here added to the gradient of {}, which the last step had already used: nobody had cleared it."
RESERVE = 2.0  # seconds of processor time for a last collection of garbage, which nothing interrupts, and the report
WARM_UP = """\
from model import Tensor
w = Tensor([1.0])
(w * w).sum().backward()
"""
WARM_UP_TORCH = """\
import torch
layer = torch.nn.Linear(2, 2)
optimizer = torch.optim.Adam(layer.parameters())
torch.nn.functional.cross_entropy(layer(torch.ones(1, 2)).relu(), torch.tensor([0])).backward()
optimizer.step()
"""

Send = Callable[[dict[str, Any]], None]


class TimeUp(BaseException):
    """The program has used its processor time; not an Exception, so that few programs catch it."""


def prepare(with_torch: bool) -> None:
    """Import and run what most programs need, also PyTorch if it is wanted and installed: they need not wait for it."""
    programs = [WARM_UP]
    if with_torch and find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        programs.append(WARM_UP_TORCH)
    for source in programs:
        _, error = run(source, "warm_up.py", lambda record: None)
        if error is not None:
            raise error
    gc.collect()
    gc.freeze()  # the watcher looks at all objects at the end: these are not the program's


class ProgramRecording:
    """Sends what is recorded of a program."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.passes = 0  # backward passes so far

    def keep(self, ended: TraceDraft, error: str = "") -> None:
        """Send a backward pass of either recorder, with the error that ended it."""
        self.passes += 1
        if self.passes <= MAX_PASSES:
            self.send_trace(ended, error)

    def keep_forward(self, cards: Sequence[NodeCard], whole: bool, ends: Sequence[NodeCard] = ()) -> None:
        """Send operations that no backward pass followed, in their order. whole: they are all that there were."""
        if cards and self.passes < MAX_PASSES:
            draft = TraceDraft(SourceLine(None), cards, ends)
            draft.whole = whole
            self.send_trace(draft)

    def send_trace(self, draft: TraceDraft, error: str = "") -> None:
        """Send a trace with as many of its operations as fit."""
        for draft.max_operations in MAX_OPERATIONS:
            trace = draft.finish()
            trace.error = error[:MAX_TEXT]
            text = trace.to_json()
            if len(text) <= MAX_BYTES:
                known = draft.whole or draft.operations <= draft.max_operations
                operations = draft.operations if known else 0
                self.send({"line": draft.position.line, "operations": operations, "trace": text})
                return


def run(source: str, file: str, send: Send, seconds: float = 0.0) -> tuple[dict[str, Any], BaseException | None]:
    """Run a program; return the report and the exception that ended the program, or None.

    send     gets each recorded pass when it ends: {"line": of backward(), or 0 for operations that no pass followed,
             "operations": their number, or 0 if it is not known, "trace": its JSON}
    seconds  of processor time until this process ends: a little before, TimeUp ends the program; 0 for no limit

    The report has "passes", the number of backward passes, and "findings", rows with fields of RunFinding.
    """
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    recording = ProgramRecording(send)
    watcher = recorder = None
    if "torch" in sys.modules and "torch" in source:
        from lab.watch.torch_recorder import TorchRecorder
        from lab.watch.watcher import Watcher

        watcher, recorder = Watcher(), TorchRecorder(recording.keep, forgets=True)
    with EngineRecorder(recording.keep) as engine, watcher or nullcontext(), recorder or nullcontext():
        if seconds:
            signal.signal(signal.SIGPROF, time_is_up)
            signal.setitimer(signal.ITIMER_PROF, max(seconds - RESERVE, seconds / 2))
        ended, named = execute(source, file)
        signal.setitimer(signal.ITIMER_PROF, 0)
        error = None if isinstance(ended, SystemExit) else ended
        if error is not None or not recording.passes:
            for frame, _ in walk_tb(error.__traceback__ if error else None):
                named = named | frame.f_locals if frame.f_code.co_filename == file else named
            named = {name: value for name, value in named.items() if not name.startswith("_")}
            recording.keep_forward(engine.unfinished(named), not engine.is_full)
            if recorder:
                cards = recorder.guarded(recorder.unfinished, named) or ()
                recording.keep_forward(cards, not recorder.is_full, recorder.ends)
        findings = [RunFinding(ZERO_GRAD, file, line, STALE.format(leaf)) for line, leaf in engine.stale.items()]
    findings += watcher.findings(error) if watcher else []
    fields = ("failure", "line", "evidence", "advice")
    rows = [{name: getattr(found, name) for name in fields} for found in findings if found.file == file]
    return {"passes": recording.passes, "findings": rows}, error


def execute(
    source: str | bytes, file: str, *, loader: Any = None, stays: bool = False
) -> tuple[BaseException | None, dict[str, Any]]:
    """Run a program as a script; return the exception that ended it, or None, and its variables. stays: leave it
    `__main__`, for what runs at exit."""
    module, own = ModuleType("__main__"), sys.modules["__main__"]
    variables = vars(module)
    variables |= {"__file__": file, "__loader__": loader, "__cached__": None, "__builtins__": builtins}
    sys.modules["__main__"] = module  # a dataclass of the program looks for its module there
    try:
        exec(compile(source, file, "exec", dont_inherit=True), variables)
    except BaseException as error:
        return error, variables
    finally:
        if not stays:
            sys.modules["__main__"] = own
    return None, variables


def time_is_up(*_: object) -> None:
    raise TimeUp
