"""Runs a learner's code in a process of its own, which has limits, is isolated where possible, and is used once.

A `Sandbox` is a runner for lab/practice/checker.py; lab/practice/process_pool.py keeps a process ready for the next.
Inside the process runs lab/practice/driver.py. Its output is not trusted: it is read up to a limit, as JSON, and every
part is validated before use.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.config import ROOT
from lab.practice import driver, isolation, runner, stop_reasons, syscalls
from lab.practice.runner import Answer, Job, Problem, StoppedError
from practice.task import Inputs

MALFORMED = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)  # raised by bad answers
START_TIMEOUT = 90.0  # seconds until a process must be ready, even on a busy machine
GRACE = 0.3  # seconds that a process has, after its time, to report where it was
TICK = 0.1  # seconds between two looks at a process that does not answer
MAX_STRETCH = 10  # times the limit of waiting: seconds that all questions may take by the clock
CROWDED = 2  # times its processor time: seconds by the clock from which a process had to share its processor
MAX_ANSWER = 2_000_000  # bytes of one answer
CHUNK = 1 << 16  # bytes read at once: the capacity of a pipe
MAX_UNREAD = 8  # lines that wait to be taken: with more, the process waits
SHOWN = 2_000  # characters of a long printed text that are kept of its beginning, and of its end
BETWEEN = "\n… The middle of the printed text is not shown. …\n"


@dataclass(frozen=True)
class Limits:
    """The resources that the code of one runner may use in total.

    seconds  of processor time, which alone decides that code runs too long
    wall     seconds that the code may sleep while a question is open; MAX_STRETCH times as many by the clock in all
    memory   bytes of address space, including Python and NumPy
    """

    seconds: float = 4.0  # twice what the tasks ask for: on a busy machine the same code takes longer
    wall: float = 5.0
    memory: int = 512 << 20


CHECK = Limits()
PROGRAMS = dict.fromkeys((driver.ENGINE, driver.TORCH), Limits(seconds=7.0, memory=2 << 30))  # 2 s to report
REPEATED = Limits(seconds=1.5 * CHECK.seconds)  # for a second attempt on a crowded machine


class Process:
    """A running driver, which loads NumPy and then waits for its first question.

    One thread reads what it writes, another writes a question: a process may never read it.

    lines  what it has written and nobody has taken yet; None after the last
    """

    def __init__(self, boxed: bool, watches: str = "") -> None:
        self._boxed = boxed
        self.lines: queue.Queue[bytes | None] = queue.Queue(MAX_UNREAD)
        box = isolation.bubblewrap(watches) if boxed else ()
        self.popen = subprocess.Popen(
            [*box, *isolation.PYTHON, driver.__file__, *filter(None, [watches])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,  # with buffers, closing the pipes would wait for the threads
            cwd="/",
            env=isolation.environment(watches),
            start_new_session=True,
        )
        self._threads: list[threading.Thread] = []
        self._in_thread(self._read)

    def _in_thread(self, work: Callable[..., None], *arguments: Any) -> None:
        def until_closed() -> None:
            with contextlib.suppress(OSError, ValueError):  # the process has ended, or its pipe is closed
                work(*arguments)

        self._threads.append(threading.Thread(target=until_closed, daemon=True))
        self._threads[-1].start()

    def ask(self, do: str, **question: Any) -> None:
        self._in_thread(self._write, json.dumps({"do": do, **question}).encode() + b"\n")

    def _write(self, question: bytes) -> None:
        assert self.popen.stdin
        while question:
            question = question[self.popen.stdin.write(question) :]

    def _read(self) -> None:
        assert self.popen.stdout
        rest = b""
        while len(rest) <= MAX_ANSWER and (chunk := self.popen.stdout.read(CHUNK)):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self.lines.put(line)
        self.lines.put(rest)  # also if it is empty: before None there is a line that is no answer
        self.lines.put(None)

    def kill(self) -> None:
        """End the process and whatever it has started. Any thread may call this."""
        if self.popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.popen.pid, signal.SIGKILL)

    def interrupt(self) -> None:
        """Make the process write its stack and end."""
        with contextlib.suppress(OSError):
            os.kill(self._python(), signal.SIGALRM)

    def wants_processor(self) -> bool:
        """Return whether the process runs or waits for a processor; True where that is not known, without /proc."""
        try:
            return Path(f"/proc/{self._python()}/stat").read_text().rpartition(")")[2].split()[0] in "RD"
        except OSError:  # the process has ended, or there is no /proc
            return sys.platform != "linux"

    def _python(self) -> int:
        """Return the process id of Python itself, which is a descendant of bubblewrap's process."""
        pid = self.popen.pid
        while self._boxed and (children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
            pid = int(children[0])
        return pid

    def code(self) -> int | None:
        """Return the exit code, negative for a signal; None if the process does not end by itself."""
        try:
            code = self.popen.wait(GRACE)
        except subprocess.TimeoutExpired:
            return None
        by_signal = self._boxed and code - 128 in [*signal.Signals]  # as bubblewrap reports a signal
        return 128 - code if by_signal else code

    def close(self) -> None:
        self.kill()
        until = time.monotonic() + 10 * GRACE
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < until:
            with contextlib.suppress(queue.Empty):  # the thread that reads may wait for room
                self.lines.get(timeout=0.005)
        with contextlib.suppress(OSError), self.popen:  # closes the pipes and waits
            pass


class Sandbox:
    """A runner in a process of its own, for one text: `with ... as runner`. Other threads may only call `stop`."""

    def __init__(self, start: Callable[[], Process], limits: Limits = CHECK) -> None:
        self._start = start
        self._limits = limits
        self._asleep = self._open_for = 0.0  # seconds in which the code slept, and in which a question was open
        self._process: Process | None = None
        self._halted = False  # whether `stop` was called
        self._end: StoppedError | None = None
        self._file, self._lines, self.output = "", 0, ""  # the last: what was printed since the code was loaded
        self._began = self._asked = 0.0  # times of the beginning and of the last question

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.close()

    @property
    def crowded(self) -> bool:
        """Whether the code was stopped for taking too long while it had to share its processor."""
        long = self._end is not None and str(self._end) in (stop_reasons.TOO_LONG, stop_reasons.TOO_DEEP)
        return long and self._open_for - self._asleep > CROWDED * self._limits.seconds

    def stop(self) -> None:
        """End the code now. A thread that waits for it gets StoppedError."""
        self._halted = True
        if self._process:
            self._process.kill()

    # -- Questions: each waits for its answer, and raises StoppedError if there is none

    def load(self, source: str, file: str, modules: Sequence[str] = ()) -> Problem | None:
        """Run the text as a module and return what it raised, or None. Call it before anything else; a second call must
        give the same text and runs it again. Raises StoppedError."""
        # In an installed copy they import each other from the package, which the learner's process does not see
        package = __name__.removesuffix("lab.practice.sandbox")
        texts = {name: (ROOT / f"{name}.py").read_text("utf-8") for name in modules}
        texts = {name: text.replace(f"from {package}model import", "from model import") for name, text in texts.items()}
        self._begin(source, file)
        with self._question("load", source=source, file=file, modules=texts):
            return self._answer(self._message()).problem

    def watch(self, source: str, file: str, keep: Callable[[Any], None]) -> Answer:
        """Run the text as a script in a process that watches (see Pool). Give `keep` each record of it, parsed JSON
        that anybody may have written, and return its report as such JSON, under that name. Raises StoppedError."""
        self._begin(source, file)
        with self._question("watch", source=source, file=file, seconds=self._limits.seconds):
            while "message" in (message := self._message()):
                self._parsed(keep, message["message"])
            return self._answer(message, ("report",))

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        """Run each job and return its answer. Raises StoppedError."""
        sent = [[job.program, runner.encoded(job.inputs, job.secret), [*job.shows]] for job in jobs]
        with self._question("run", jobs=sent):
            return [self._answer(self._message(), job.shows) for job in jobs]

    def stream(self, program: str, inputs: Inputs) -> Iterator[Any]:
        """Run a program of this project and yield each value that it emits while it runs. The program sees the
        learner's names and `inputs`, and calls `emit(value)`. Raises StoppedError, also for its exception."""
        with self._question("stream", program=program, inputs=runner.encoded(inputs)):
            while "message" in (message := self._message()):
                yield self._parsed(driver.decode, message["message"])
            if problem := self._answer(message).problem:
                raise StoppedError(f"{problem.kind}: {problem.message}", problem.line)

    # -- The process

    def _begin(self, source: str, file: str) -> None:
        """Note what will be run. The first time, take a process and limit it."""
        self._file, self._lines, self.output = file, source.count("\n") + 1, ""
        if self._process:
            return
        with contextlib.suppress(OSError, queue.Empty):
            process = self._process = self._start()
            if self._halted:
                process.kill()
            seconds, memory = self._limits.seconds, self._limits.memory
            process.ask("limit", seconds=seconds, memory=memory, allowed=syscalls.instructions())
            if process.lines.get(timeout=START_TIMEOUT) == driver.READY:
                self._began = time.monotonic()
                return
        raise StoppedError(stop_reasons.STOPPED if self._halted else stop_reasons.NOT_READY)

    @contextlib.contextmanager
    def _question(self, do: str, **question: Any) -> Iterator[None]:
        """Ask the process, and count how long the question is open."""
        if self._end:
            raise self._end
        assert self._process
        self._asked = time.monotonic()
        wall = MAX_STRETCH * self._limits.wall + 2 * GRACE  # the driver's own limit, in case this process dies
        self._process.ask(do, wall=wall, **question)
        try:
            yield
        finally:
            self._open_for += time.monotonic() - self._asked

    def _message(self) -> dict[str, Any]:
        """Wait for the next message of the process. Raises StoppedError."""
        while True:
            try:
                line = self._line(TICK)
                break
            except queue.Empty:
                self._check_time()
        if line is None or not line.startswith(b"{"):  # perhaps the stack that Python writes before it ends
            raise self._stopped(said=line or b"")
        message: dict[str, Any] = self._parsed(json.loads, line)
        return message

    def _line(self, seconds: float) -> bytes | None:
        """Return the next line that the process writes, None after the last. A text that the code has printed is kept
        instead. Raises queue.Empty if there is none in this time, and StoppedError."""
        assert self._process
        until = time.monotonic() + seconds
        while True:
            line = self._process.lines.get(timeout=max(0, until - time.monotonic()))
            if line is None or not line.startswith(driver.PRINTED):
                return line
            self.output += self._parsed(lambda text: str(driver.decode(json.loads(text)["printed"])), line)
            if len(self.output) > 2 * SHOWN:
                self.output = self.output[:SHOWN] + BETWEEN + self.output[-SHOWN:]

    def _check_time(self) -> None:
        """Count what the code sleeps. Raises StoppedError if it has slept, or taken by the clock, for too long."""
        assert self._process
        if not self._process.wants_processor():
            self._asleep += TICK
        longest = MAX_STRETCH * self._limits.wall
        slow = self._open_for + time.monotonic() - self._asked > longest
        if slow or self._asleep > self._limits.wall:
            self._process.interrupt()
            raise self._stopped(stop_reasons.TOO_SLOW.format(longest) if slow else "", otherwise=stop_reasons.TOO_LONG)

    def _answer(self, message: dict[str, Any], shows: tuple[str, ...] = ()) -> Answer:
        answer: Answer = self._parsed(runner.answer, message, shows)
        if not (problem := answer.problem):
            return answer
        if problem.kind == "MemoryError":
            raise self._stopped(stop_reasons.TOO_MUCH_MEMORY.format(self._limits.memory >> 20), problem.line)
        if problem.kind == driver.OutputError.__name__:
            raise self._stopped(stop_reasons.TOO_MUCH_OUTPUT, problem.line)
        said = stop_reasons.REFUSED if stop_reasons.was_refused(problem.message) else problem.message
        return replace(answer, problem=replace(problem, line=self._known(problem.line), message=said))

    def _known(self, line: int | None) -> int | None:
        return line if line is not None and 0 < line <= self._lines else None

    def _parsed(self, parse: Callable[..., Any], *data: Any) -> Any:
        """Parse untrusted data of the process. Raises StoppedError if it is malformed."""
        try:
            return parse(*data)
        except MALFORMED:
            raise self._stopped(stop_reasons.GARBAGE) from None

    def _stopped(
        self, sentence: str = "", line: int | None = None, otherwise: str = stop_reasons.GARBAGE, said: bytes = b""
    ) -> StoppedError:
        """End the process and return the exception that says why; without a sentence, infer it from how it ended.

        otherwise  the sentence if it does not end by itself
        said       a line that it has written, with which its stack may begin
        """
        assert self._process
        if not sentence:
            late = time.monotonic() - self._began >= self._limits.seconds
            text = b"\n".join([said, *self._last_lines()]).decode("utf-8", "replace")
            sentence, line = stop_reasons.explain(self._process.code(), text, self._file, late, otherwise)
        self._process.kill()
        self._end = StoppedError(stop_reasons.STOPPED) if self._halted else StoppedError(sentence, self._known(line))
        return self._end

    def _last_lines(self) -> Iterator[bytes]:
        """Yield what the process still writes, until it ends or GRACE is over."""
        until = time.monotonic() + GRACE
        with contextlib.suppress(queue.Empty):
            while (line := self._line(max(0, until - time.monotonic()))) is not None:
                yield line
