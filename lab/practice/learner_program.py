"""A learner's program that runs once, in a process of its own, and what was recorded of it.

The record comes from the process of the program, which may have forged it. So each part is checked before use: a trace
by lab.trace.loading, the rest here.
"""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lab.config import ROOT
from lab.practice.background import Background
from lab.practice.driver import ENGINE, TORCH
from lab.practice.runner import Problem, StoppedError
from lab.practice.sandbox import MALFORMED, PROGRAMS, Limits, Sandbox
from lab.practice.stop_reasons import GARBAGE, TOO_LONG
from lab.watch.finding import BY_NUMBER, RunFinding

FILE = "program.py"
MAX_CHARACTERS = 20_000  # of a program
MAX_LINKED = 4_000  # characters of a program that an address carries
MAX_PASSES = 20
MAX_RECORDED = 8_000_000  # characters of all passes of a program
MAX_FINDINGS = 20
MAX_SENTENCE = 600  # characters
MAX_COUNT = 10**9
INSTALL = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
NO_PYTORCH = f"PyTorch is not installed on this server: `{INSTALL}` installs it."
NO_MODULE = "A program can import Python's own modules, NumPy, `model`, `nn` and PyTorch here, and nothing else."
MISSING = frozenset(("ImportError", "ModuleNotFoundError", "FileNotFoundError"))  # here, but not where it was written


@dataclass(frozen=True)
class ProgramPass:
    """A recorded pass.

    line        of backward(); 0 for operations that no backward pass followed
    operations  the number of its operations, of which the trace may have fewer; 0 if it is not known
    text        its trace as JSON, which `lab.trace.loading.load` checks
    """

    line: int
    operations: int
    text: str


@dataclass(frozen=True)
class ProgramRun:
    """What a program did.

    passes    the first recorded passes
    count     the number of all its backward passes
    findings  what it did wrong, seen while it ran
    printed   what it printed, of a long text the beginning and the end
    problem   why it ended early, in one sentence; "" if it did not
    line      where that was, or None
    kind      the name of the exception's class, or ""
    """

    source: str
    passes: tuple[ProgramPass, ...] = ()
    count: int = 0
    findings: tuple[RunFinding, ...] = ()
    printed: str = ""
    problem: str = ""
    line: int | None = None
    kind: str = ""

    @property
    def lacks_something(self) -> bool:
        """Whether a module or a file is missing that the program needs, so that it can only be read here."""
        return self.kind in MISSING and not self.findings


def imports(source: str) -> str:
    """Return what a program may import: PyTorch only if it names it. It runs in a process that has loaded that."""
    return TORCH if "torch" in source else ENGINE


@functools.cache
def examples() -> Mapping[str, str]:
    """Return the examples, by their titles: the first line of each file in practice/programs/."""
    texts = [file.read_text("utf-8") for file in sorted((ROOT / "practice" / "programs").glob("*.py"))]
    return MappingProxyType({text.split("\n")[0].removeprefix("#").strip(): text for text in texts})


def pack(source: str) -> str:
    """Return a program in a form that fits into an address, or "" if it is too long for one."""
    if len(source) > MAX_LINKED:
        return ""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(source.encode("utf-8", "replace")) + deflate.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def unpack(text: str) -> str:
    """Invert `pack`, also for what static/program/packed.js made. Raises ValueError for anything else."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), "-_", validate=True)
        source = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, 4 * MAX_LINKED + 1).decode()
    except zlib.error:
        raise ValueError(text) from None
    if len(source) > MAX_LINKED:
        raise ValueError(text)
    return source


class RunningProgram(Background[ProgramRun]):
    """A program that runs in the background, from its creation on."""

    def __init__(self, source: str, runner: Callable[[Limits], AbstractContextManager[Sandbox]]) -> None:
        self.source = source
        super().__init__(lambda: self._record(runner))

    def _record(self, runner: Callable[[Limits], AbstractContextManager[Sandbox]]) -> ProgramRun:
        try:
            with self.process(runner(PROGRAMS[imports(self.source)])) as sandbox:
                return run_program(self.source, sandbox)
        except StoppedError as stopped:  # before it began
            return ProgramRun(self.source, problem=str(stopped))


def run_program(source: str, sandbox: Sandbox) -> ProgramRun:
    """Run a program in a sandbox whose process records it."""
    passes: list[ProgramPass] = []
    count, problem = 0, None
    findings: tuple[RunFinding, ...] = ()

    def keep(record: Any) -> None:
        passes.append(parse_pass(record, source))
        if len(passes) > MAX_PASSES or sum(len(one.text) for one in passes) > MAX_RECORDED:
            raise ValueError("More passes than the recorder sends.")

    try:
        answer = sandbox.watch(source, FILE, keep)
        count, findings = parse_report(answer.values, source)
        problem = answer.problem
        sentence, line = (explain(problem), problem.line) if problem else ("", None)
    except StoppedError as stopped:
        sentence, line = str(stopped), stopped.line
    except MALFORMED:
        sentence, line = GARBAGE, None
    return ProgramRun(
        source,
        tuple(passes),
        max(count, sum(one.line > 0 for one in passes)),
        findings,
        sandbox.output,
        sentence,
        line,
        problem.kind if problem else "",
    )


def parse_pass(record: Any, source: str) -> ProgramPass:
    """Check a recorded pass. Raises one of MALFORMED."""
    line, operations, text = (record[name] for name in ("line", "operations", "trace"))
    if not isinstance(text, str):
        raise TypeError("A trace is sent as JSON.")
    return ProgramPass(natural(line, source.count("\n") + 1), natural(operations), text)


def parse_report(values: Any, source: str) -> tuple[int, tuple[RunFinding, ...]]:
    """Check the report of a program; return the number of its backward passes, and its findings. Raises one of
    MALFORMED."""
    report = json.loads(values["report"])
    rows = report["findings"][:MAX_FINDINGS]
    lines = source.count("\n") + 1
    findings = [
        RunFinding(
            natural(row["failure"], max(BY_NUMBER)),
            FILE,
            natural(row["line"], lines),
            sentence(row["evidence"]),
            advice=sentence(row["advice"]),
        )
        for row in rows
    ]
    if not all(found.failure in BY_NUMBER for found in findings):
        raise ValueError("There is no such failure.")
    return natural(report["passes"]), tuple(findings)


def natural(value: Any, most: int = MAX_COUNT) -> int:
    """Return a whole number from 0 to `most`. Raises ValueError."""
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(value)
    return value


def sentence(value: Any) -> str:
    """Return a text without what a page cannot show. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value[:MAX_SENTENCE].encode("utf-8", "replace").decode()


def explain(problem: Problem) -> str:
    """Say in one sentence which exception ended a program."""
    if problem.kind == "TimeUp":
        return TOO_LONG
    if problem.kind == "ModuleNotFoundError":
        return NO_PYTORCH if "'torch" in problem.message else f"{problem.message}. {NO_MODULE}"
    message = problem.message.strip().split("\n")[0][:MAX_SENTENCE]
    return f"{problem.kind}: {message}" if message else problem.kind
