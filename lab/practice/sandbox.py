"""Runs a learner's code in a process of its own, which has limits, is isolated where possible, and is used once.

A `Sandbox` is a runner for lab/practice/checker.py; lab/practice/runners.py keeps a process ready for the next one.
Inside the process runs lab/practice/driver.py. Its output is not trusted: it is read up to a limit, as JSON, and every
part is validated before use.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from lab.config import ROOT
from lab.practice import checker, driver, isolation, syscalls
from lab.practice.checker import Answer, Job, Problem, StoppedError
from lab.practice.endings import (
    GARBAGE,
    NOT_READY,
    REFUSED,
    STOPPED,
    TOO_DEEP,
    TOO_LONG,
    TOO_MUCH_MEMORY,
    TOO_MUCH_OUTPUT,
    TOO_SLOW,
    explain,
    was_refused,
)
from practice.task import Inputs

MALFORMED = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)  # raised by bad answers
START_TIMEOUT = 90.0  # seconds until a process must be ready, even on a busy machine
GRACE = 0.3  # seconds that a process has, after its time, to report where it was
TICK = 0.1  # seconds between two looks at a process that does not answer
MAX_STRETCH = 10  # times the limit of waiting: seconds that all questions may take by the clock
CROWDED = 2  # times its processor time: seconds by the clock from which a process had to share its processor
MAX_ANSWER = 2_000_000  # bytes of one answer
MAX_OUTPUT = 1_000_000  # bytes that the code may print
MAX_SHOWN_OUTPUT = 4_000  # bytes of the printed text that are shown
MAX_UNREAD = 8  # lines of answers that wait to be taken: with more, the process waits
CHUNK = 1 << 16  # bytes read at once: the capacity of a pipe
CUT = "\n… The rest of the printed text is not shown."


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
PROGRAMS = {driver.ENGINE: Limits(seconds=5.0), driver.TORCH: Limits(seconds=5.0, memory=2 << 30)}
REPEATED = Limits(seconds=1.5 * CHECK.seconds)  # for a second attempt on a crowded machine


class ProgramError(Exception):
    """A streamed program raised an exception, which is `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.kind}: {problem.message}")
        self.problem = problem


# -- A process, and the runner that uses it ----------------------------------------------------------------------------


class Process:
    """A running driver, which loads NumPy and then waits for its first question.

    One thread reads its answers, another what the code prints.

    lines    the lines of its answers that nobody has taken; None after the last
    printed  the beginning of what was printed since the last call of `forget_output`
    amount   bytes printed since the start
    """

    def __init__(self, boxed: bool, watches: str = "") -> None:
        self._boxed = boxed
        self.lines: queue.Queue[bytes | None] = queue.Queue(MAX_UNREAD)
        self.printed, self.amount, self._forgotten = b"", 0, 0
        self._ended = self._silent = False  # whether all of its answers, and all that it prints, has been read
        self._printing = threading.Lock()
        box = isolation.bubblewrap(watches) if boxed else ()
        self.popen = subprocess.Popen(
            [*box, *isolation.PYTHON, driver.__file__, *filter(None, [watches])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd="/",
            env=isolation.environment(watches),
            start_new_session=True,
        )
        self._threads: list[threading.Thread] = []
        for work in (self._read_answers, self._read_output):
            self._in_thread(work)

    def _in_thread(self, work: Callable[..., None], *arguments: Any) -> None:
        def until_closed() -> None:
            with contextlib.suppress(OSError, ValueError):  # the process has ended, or its pipe is closed
                work(*arguments)

        self._threads.append(threading.Thread(target=until_closed, daemon=True))
        self._threads[-1].start()

    def ask(self, question: bytes) -> None:
        """Send a question, in a thread of its own: a process may never read it."""
        self._in_thread(self._write, question)

    def _write(self, text: bytes) -> None:
        assert self.popen.stdin
        while text:
            text = text[self.popen.stdin.write(text) :]

    def _read_answers(self) -> None:
        assert self.popen.stdout
        rest = b""
        while len(rest) <= MAX_ANSWER and (chunk := self.popen.stdout.read(CHUNK)):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self.lines.put(line)
        self._ended = len(rest) <= MAX_ANSWER
        self.lines.put(None if self._ended else rest)

    def _read_output(self) -> None:
        while self.read_output(None):
            pass

    def read_output(self, milliseconds: int | None = 0) -> bool:
        """Read a part of what was printed, waiting for it this long, None without end. Return False at its end, or if
        nothing was printed."""
        assert self.popen.stderr
        if self._silent or not _is_readable(self.popen.stderr, milliseconds):
            return False
        with self._printing:
            if self._silent or not _is_readable(self.popen.stderr, 0):  # another thread was first
                return not self._silent
            chunk = self.popen.stderr.read(CHUNK)
            self.printed += chunk[: MAX_SHOWN_OUTPUT - len(self.printed)]
            self.amount += len(chunk)
            if not chunk or self.amount > MAX_OUTPUT:
                self._silent = True
                self.popen.stderr.close()  # so that the code's next print fails, in its own line
        return True

    def forget_output(self) -> None:
        with self._printing:
            self.printed, self._forgotten = b"", self.amount

    @property
    def output(self) -> str:
        text = self.printed.decode("utf-8", "replace")
        return text + CUT if self.amount - self._forgotten > len(self.printed) else text

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

    def last_lines(self) -> list[bytes]:
        """Return what the process still writes, until it ends or GRACE is over."""
        until, found = time.monotonic() + GRACE, list[bytes]()
        with contextlib.suppress(queue.Empty):
            while not (self._ended and self.lines.empty()):
                if (line := self.lines.get(timeout=max(0, until - time.monotonic()))) is not None:
                    found.append(line)
        return found

    def close(self) -> None:
        self.kill()
        until = time.monotonic() + 10 * GRACE
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < until:
            with contextlib.suppress(queue.Empty):  # the thread that reads answers may wait for room
                self.lines.get(timeout=0.005)
        with contextlib.suppress(OSError), self.popen:  # closes the pipes and waits
            pass


def _is_readable(pipe: IO[bytes], milliseconds: int | None) -> bool:
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(milliseconds))


def parse_answer(message: dict[str, Any], shows: tuple[str, ...]) -> Answer:
    """Read the answer to a job with these expressions from a message. Raises one of MALFORMED."""
    answer = checker.answer(message)
    given = tuple(answer.values)
    if given != shows[: len(given)] or (answer.problem is None and len(given) < len(shows)):
        raise ValueError("The answer is to other expressions.")
    return answer


class Sandbox:
    """A runner in a process of its own, for one text: `with ... as runner`. Other threads may only call `stop`."""

    def __init__(self, start: Callable[[], Process], limits: Limits = CHECK) -> None:
        self._start = start
        self._limits = limits
        self._asleep = self._open_for = 0.0  # seconds in which the code slept, and in which a question was open
        self._process: Process | None = None
        self._halted = False  # whether `stop` was called
        self._end: StoppedError | None = None
        self._file, self._lines = "", 0
        self._loaded = self._asked = 0.0  # times of the first load and of the last question

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.close()

    @property
    def output(self) -> str:
        """The beginning of the text that the code has printed since it was last loaded."""
        return self._process.output if self._process else ""

    @property
    def crowded(self) -> bool:
        """Whether the code was stopped for taking too long while it had to share its processor."""
        long = self._end is not None and str(self._end) in (TOO_LONG, TOO_DEEP)
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
        self._send("load", source, file, modules=texts)
        answer = self._answer(self._message())
        self._pause()
        return answer.problem

    def watch(self, source: str, file: str, keep: Callable[[Any], None]) -> Answer:
        """Run the text as a script in a process that watches (see Pool). Give `keep` each record of it, parsed JSON
        that anybody may have written, and return its report as such JSON, under that name. Raises StoppedError."""
        self._send("watch", source, file)
        while "message" in (message := self._message()):
            self._parsed(keep, message["message"])
        answer = self._answer(message, ("report",))
        self._pause()
        return answer

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        """Run each job and return its answer. Raises StoppedError."""
        self._ask("run", jobs=[[job.program, checker.encoded(job.inputs, job.secret), [*job.shows]] for job in jobs])
        answers = [self._answer(self._message(), job.shows) for job in jobs]
        self._pause()
        return answers

    def stream(self, program: str, inputs: Inputs) -> Iterator[Any]:
        """Run a program of this project and yield each value that it emits while it runs. The program sees the
        learner's names and `inputs`, and calls `emit(value)`. Raises ProgramError, with its exception, and
        StoppedError."""
        self._ask("stream", program=program, inputs=checker.encoded(inputs))
        while "message" in (message := self._message()):
            yield self._parsed(driver.decode, message["message"])
        answer = self._answer(message)
        self._pause()
        if answer.problem:
            raise ProgramError(answer.problem)

    def _send(self, do: str, source: str, file: str, **more: Any) -> None:
        """Send a text and the limits, in a process that is started the first time."""
        self._file, self._lines = file, source.count("\n") + 1
        if not self._process:
            self._process = self._open()
            self._loaded = time.monotonic()
        self._process.forget_output()
        limits = {"seconds": self._limits.seconds, "memory": self._limits.memory, "allowed": syscalls.instructions()}
        self._ask(do, source=source, file=file, **more, **limits)

    def _open(self) -> Process:
        try:
            process = self._process = self._start()
            if self._halted:
                process.kill()
            if process.lines.get(timeout=START_TIMEOUT):
                return process
        except StoppedError as stopped:
            self._end = stopped
            raise
        except (OSError, queue.Empty):
            pass
        self._end = StoppedError(STOPPED if self._halted else NOT_READY)
        raise self._end

    def _ask(self, do: str, **question: Any) -> None:
        if self._end:
            raise self._end
        assert self._process
        self._asked = time.monotonic()
        wall = MAX_STRETCH * self._limits.wall + 2 * GRACE  # the driver's own limit, in case this process dies
        self._process.ask(json.dumps({"do": do, "wall": wall, **question}).encode() + b"\n")

    def _pause(self) -> None:
        """Stop the clock until the next question, and read what was printed before the answer."""
        assert self._process
        self._open_for += time.monotonic() - self._asked
        while self._process.read_output():
            pass

    def _message(self) -> dict[str, Any]:
        """Wait for the next message of the process. Raises StoppedError."""
        assert self._process
        while True:
            try:
                line = self._process.lines.get(timeout=TICK)
                break
            except queue.Empty:
                self._check_time(self._process)
        if line is None:
            raise self._stopped()
        if not line.startswith(b"{"):  # perhaps the stack that Python writes before it ends
            raise self._stopped(said=[line])
        message: dict[str, Any] = self._parsed(json.loads, line)
        return message

    def _check_time(self, process: Process) -> None:
        """Count what the code sleeps. Raises StoppedError if it has slept, or taken by the clock, for too long."""
        if not process.wants_processor():
            self._asleep += TICK
        longest = MAX_STRETCH * self._limits.wall
        slow = self._open_for + time.monotonic() - self._asked > longest
        if slow or self._asleep > self._limits.wall:
            process.interrupt()
            raise self._stopped(TOO_SLOW.format(longest) if slow else "", otherwise=TOO_LONG)

    def _answer(self, message: dict[str, Any], shows: tuple[str, ...] = ()) -> Answer:
        assert self._process
        answer: Answer = self._parsed(parse_answer, message, shows)
        if not (problem := answer.problem):
            return answer
        if problem.kind == "MemoryError":
            raise self._stopped(TOO_MUCH_MEMORY.format(self._limits.memory >> 20), problem.line)
        if problem.kind == "BrokenPipeError" and self._process.amount > MAX_OUTPUT:
            raise self._stopped(TOO_MUCH_OUTPUT, problem.line)
        said = REFUSED if was_refused(problem.message) else problem.message
        return replace(answer, problem=replace(problem, line=self._place(problem.line), message=said))

    def _place(self, line: int | None) -> int | None:
        return line if line is not None and 0 < line <= self._lines else None

    def _parsed(self, parse: Callable[..., Any], *data: Any) -> Any:
        """Parse untrusted data of the process. Raises StoppedError if it is malformed."""
        try:
            return parse(*data)
        except MALFORMED:
            raise self._stopped(GARBAGE) from None

    def _stopped(
        self, sentence: str = "", line: int | None = None, otherwise: str = GARBAGE, said: Sequence[bytes] = ()
    ) -> StoppedError:
        """End the process and return the exception that says why; without a sentence, infer it from how it ended.

        otherwise  the sentence if it does not end by itself
        said       lines that it has written, of which its stack may be made
        """
        assert self._process
        self._open_for += time.monotonic() - self._asked
        if not sentence:
            text = b"\n".join([*said, *self._process.last_lines()]).decode("utf-8", "replace")
            late = time.monotonic() - self._loaded >= self._limits.seconds
            sentence, line = explain(self._process.code(), text, self._file, late, otherwise)
        line = self._place(line)
        self._process.kill()
        if self._process.amount > MAX_OUTPUT:
            sentence = TOO_MUCH_OUTPUT
        self._end = StoppedError(STOPPED) if self._halted else StoppedError(sentence, line)
        return self._end
