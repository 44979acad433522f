"""Runs a learner's code in a process of its own, which is limited, isolated where that is possible, and used once.

`Pool` keeps one process ready, with Python and NumPy loaded; `runner()` starts one. Either gives a `Sandbox`, a runner
for lab/practice/checker.py. What the process does inside is in lab/practice/driver.py; nothing that comes out of it is
trusted: it is read up to a limit, as JSON, and each part of it is looked at before it is used.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.config import ROOT, hosted
from lab.practice import checker, driver, syscalls
from lab.practice.checker import Answer, Job, Problem, Stopped
from practice.task import Inputs

NONSENSE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
PATIENCE = 20.0  # seconds until a process has to be ready, on however busy a machine
GRACE = 0.3  # seconds that a process has, after its time, to say where it was
CROWDED = 10  # times the time by the clock that code has at most, where others have the processors
MOST_CHECKS, MOST_TRAININGS = 8, 4  # processes that run learners' code: what is long keeps nothing quick waiting
MOST_ANSWER = 1_000_000  # bytes of one answer
MOST_OUTPUT = 1_000_000  # bytes that are printed
KEPT_OUTPUT = 4_000  # and how many of them are shown
CHUNK = 1 << 16  # bytes that are read or written at once: as many as a pipe holds

NOT_READY = "The process for your code did not start: check again."
BUSY = "Too many people check at this moment: check again in a few seconds."
BUSY_TRAINING = "Too many people train at this moment: train again in a minute."
TOO_LONG = "Your code took too long and was stopped: look for a loop that never ends, or that takes too many turns."
TOO_DEEP = "Your code took too long and was stopped, deep inside: look for a function that calls itself without an end."
TOO_MUCH_MEMORY = (
    "Your code wanted more memory than it may have ({} MB): look for an array or a list that grows too large, or for a "
    "function that calls itself without an end."
)
TOO_MUCH_OUTPUT = "Your code printed more than a million characters and was stopped: take out what prints in a loop."
CRASHED = "Your code crashed Python itself ({}): look for a function that calls itself without an end."
ENDED = "Your code ended Python itself ({}) before the check was done: take out what ends the program."
GARBAGE = "Your code interfered with the check. Remove everything that is not part of the task."
STOPPED = "Your code was stopped."

STACK = b"Stack (most recent call first):"  # how Python begins to say where it was when its time was over
DEEP = 100  # calls inside one another: as many as Python says then

CUT = "\n… The rest of what was printed is not shown."
NOT_PERMITTED = ("[Errno 1]", "[Errno 38]")  # what it says of a system call that the filter refuses
THREAD = "can't start new thread"  # what Python says where the kernel refuses one
REFUSED = "Here your code cannot start programs, threads or connections, write files, or send signals."
NO_PROCESS = (
    "Your code is not run here: that needs Linux or macOS (on Windows, the Windows Subsystem for Linux). "
    "Take the files and check them there."
)
NO_BUBBLEWRAP = (
    "Your code is not run here: this server is for several people and lacks bubblewrap, which would shut the code in. "
    "Take the files home and check them there."
)
SHUT_IN = "Your code runs in a process of its own, without network and without your files."
OWN_RIGHTS = (
    "Your code runs in a process of its own, on this machine and with your rights: it can read what you can read."
)


@dataclass(frozen=True)
class Limits:
    """What the code of one runner may use, all together.

    seconds  of processor time
    wall     seconds by the clock, while it has the turn; up to CROWDED times as many where others have the processors
    memory   bytes of address space, Python and NumPy included
    """

    seconds: float = 2.0
    wall: float = 2.5
    memory: int = 512 << 20


CHECK = Limits()


class Raised(Exception):
    """A program that was streamed raised an exception: `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.kind}: {problem.message}")
        self.problem = problem


# -- Where code is run -------------------------------------------------------------------------------------------------


def unavailable() -> str:
    """Why no learner's code is run here, in words for the page; "" where it is."""
    if os.name != "posix":
        return NO_PROCESS
    return NO_BUBBLEWRAP if hosted() and not boxes() else ""


def promise() -> str:
    """What the page says of how the code is run."""
    return SHUT_IN if boxes() else OWN_RIGHTS


@functools.cache
def boxes() -> bool:
    """Does bubblewrap work here? It is used wherever it does, as it costs a few milliseconds of a process that is
    started ahead of its use, and protects learners from their own mistakes, too."""
    if not shutil.which("bwrap"):
        return False
    command = [*_box("/.practice"), *_python(), "-c", "import numpy"]
    try:
        return subprocess.run(command, env=_environment(), capture_output=True, timeout=PATIENCE).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _python() -> list[str]:
    """The command of Python without this project, without site-packages (but see `_environment`) and unbuffered."""
    return [os.path.realpath(sys.executable), "-s", "-S", "-P", "-B", "-u", "-X", "utf8"]


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(_packages()), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def _packages() -> Path:
    return Path(np.__file__).resolve().parents[1]


def _box(folder: str) -> list[str]:
    """The command in front of a command that shuts it in: no network, no processes but its own, no rights, and of all
    files only the system's libraries, Python, NumPy and the driver, to be read. There is no /proc."""
    files = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/etc/alternatives"]
    files += [_python()[0], f"{sys.base_prefix}/lib", driver.__file__]
    files += [str(_packages() / name) for name in ("numpy", "numpy.libs")]
    command = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"]
    command += ["--new-session", "--die-with-parent", "--cap-drop", "ALL", "--hostname", "practice"]
    for file in files:
        if os.path.islink(file):
            command += ["--symlink", os.readlink(file), file]
        else:
            command += ["--ro-bind-try", file, file]
    return [*command, "--dev-bind", "/dev/null", "/dev/null", "--dir", folder, "--chdir", folder, "--remount-ro", "/"]


# -- A process, and the runner that uses it ----------------------------------------------------------------------------


class _Process:
    """The driver, started: it loads NumPy and then waits for its first question."""

    def __init__(self, boxed: bool) -> None:
        self._folder = None if boxed else tempfile.TemporaryDirectory(prefix="practice-", ignore_cleanup_errors=True)
        self.popen = subprocess.Popen(
            [*(_box("/.practice") if boxed else ()), *_python(), driver.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self._folder.name if self._folder else "/",
            env=_environment(),
            start_new_session=True,
        )
        self.pipes = [pipe.fileno() for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr) if pipe]
        for pipe in self.pipes:
            os.set_blocking(pipe, False)

    def kill(self) -> None:
        """End it, and whatever it may have started. Any thread may call this."""
        if self.popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.popen.pid, signal.SIGKILL)

    def interrupt(self) -> None:
        """Have it say where it is, and end."""
        with contextlib.suppress(OSError):
            os.kill(self._python(), signal.SIGALRM)

    def wants_processor(self) -> bool:
        """Is it running, or would be if it had a processor?"""
        try:
            return Path(f"/proc/{self._python()}/stat").read_text().rpartition(")")[2].split()[0] in "RD"
        except OSError:  # it has ended, or there is no /proc
            return False

    def _python(self) -> int:
        """The process of Python itself, a descendant of the one of bubblewrap."""
        pid = self.popen.pid
        while self._folder is None and (children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
            pid = int(children[0])
        return pid

    def code(self) -> int | None:
        """The exit code, that of a signal being negative; None where it has not ended by itself."""
        try:
            code = self.popen.wait(GRACE)
        except subprocess.TimeoutExpired:
            return None
        by_signal = self._folder is None and code - 128 in [*signal.Signals]  # as bubblewrap says it
        return 128 - code if by_signal else code

    def close(self) -> None:
        self.kill()
        with contextlib.suppress(OSError), self.popen:  # closes the pipes and waits
            pass
        if self._folder:
            self._folder.cleanup()


def understood(line: bytes) -> dict[str, Any]:
    """What a line of the process says. Raises one of NONSENSE where it is nothing that the driver says."""
    said = json.loads(line)
    if not isinstance(said, dict):
        raise TypeError("The driver says dicts.")
    return said


def answered(said: dict[str, Any], shows: tuple[str, ...]) -> Answer:
    """The answer to a job with these expressions. Raises one of NONSENSE where it is none."""
    answer = checker.answer(said)
    told = tuple(answer.values)
    if told != shows[: len(told)] or (answer.problem is None and len(told) < len(shows)):
        raise ValueError("That was not asked for.")
    return answer


class Sandbox:
    """A runner in a process of its own, for one text: `with ... as runner`. Other threads may call `stop` alone."""

    def __init__(self, start: Callable[[], _Process], limits: Limits = CHECK) -> None:
        self._start = start
        self._limits = limits
        self._left = limits.wall
        self._extra = (CROWDED - 1) * limits.wall
        self._process: _Process | None = None
        self._selector = selectors.DefaultSelector()
        self._question = self._answers = self._printed = b""
        self._amount = self._before = 0  # bytes that were printed in all, and before the text was loaded last
        self._gone = self._halted = False  # has the process closed its side, was it told to end?
        self._end: Stopped | None = None
        self._file, self._lines = "", 0
        self._begun = self._asked = 0.0

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        if self._process:
            self._process.close()

    @property
    def output(self) -> str:
        """What the code has printed since it was loaded last, or the beginning of it."""
        text = self._printed.decode("utf-8", "replace")
        return text + CUT if self._amount - self._before > len(self._printed) else text

    def stop(self) -> None:
        """End the code now: who waits for it gets Stopped."""
        self._halted = True
        if self._process:
            self._process.kill()

    def load(self, source: str, file: str, modules: Sequence[str] = ()) -> Problem | None:
        """Run the text as a module: what it raised. To be called before anything else; a second call runs the same text
        again. Raises Stopped."""
        self._file, self._lines = file, source.count("\n") + 1
        self._printed, self._before = b"", self._amount
        if not self._process:
            self._open()
            self._begun = time.monotonic()
        limits = {"seconds": self._limits.seconds, "memory": self._limits.memory, "allowed": syscalls.instructions()}
        texts = {name: (ROOT / f"{name}.py").read_text("utf-8") for name in modules}
        self._ask("load", source=source, file=file, modules=texts, **limits)
        answer = self._answer(self._said())
        self._pause()
        return answer.problem

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        """An answer for each job. Raises Stopped."""
        self._ask("run", jobs=[[job.program, checker.encoded(job.inputs, job.secret), [*job.shows]] for job in jobs])
        answers = [self._answer(self._said(), job.shows) for job in jobs]
        self._pause()
        return answers

    def stream(self, program: str, inputs: Inputs) -> Iterator[Any]:
        """What a program of this project tells while it runs: it sees the learner's names and those of `inputs`, and
        calls `emit(value)`, with what `driver.encode` knows. Raises Raised where it raises, and Stopped."""
        self._ask("stream", program=program, inputs=checker.encoded(inputs))
        while "message" in (said := self._said()):
            yield self._sensible(driver.decode, said["message"])
        answer = self._answer(said)
        self._pause()
        if answer.problem:
            raise Raised(answer.problem)

    def _open(self) -> None:
        try:
            self._process = self._start()
        except (OSError, Stopped) as error:
            self._end = error if isinstance(error, Stopped) else Stopped(NOT_READY)
            raise self._end from None
        if self._halted:
            self._process.kill()
        self._stdin, stdout, stderr = self._process.pipes
        self._selector.register(stdout, selectors.EVENT_READ, self._read_answers)
        self._selector.register(stderr, selectors.EVENT_READ, self._read_output)
        if self._line(time.monotonic() + PATIENCE) is None:
            raise self._ended(NOT_READY)

    def _ask(self, do: str, **question: Any) -> None:
        if self._end:
            raise self._end
        self._asked = time.monotonic()
        wall = self._left + self._extra + 2 * GRACE  # in case that nobody is left here to end it
        if not self._question:  # else the process has answered before it was asked
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write)
        self._question += json.dumps({"do": do, "wall": wall, **question}).encode() + b"\n"

    def _pause(self) -> None:
        """The answer is there: until the next question the time does not count."""
        self._left -= time.monotonic() - self._asked
        self._wait(0)  # what was printed before the answer

    def _said(self) -> dict[str, Any]:
        """The next thing that the process says. Raises Stopped."""
        assert self._process
        while (line := self._line(self._asked + self._left)) is None and self._may_go_on():
            pass
        if line is None:
            if not self._gone:
                self._process.interrupt()
            self._hear_out()
            raise self._ended() if self._gone else self._ended(TOO_LONG)
        if not line.startswith(b"{"):  # Python's last words: where the code was
            self._answers = line + b"\n" + self._answers
            self._hear_out()
            raise self._ended() if self._gone or line.startswith(STACK) else self._ended(GARBAGE)
        said: dict[str, Any] = self._sensible(understood, line)
        return said

    def _may_go_on(self) -> bool:
        """The time is over: is there a little more, as others have the processors that the process waits for?"""
        assert self._process
        if self._gone or self._extra <= 0 or not self._process.wants_processor():
            return False
        self._extra -= GRACE
        self._left += GRACE
        return True

    def _hear_out(self) -> None:
        until = time.monotonic() + GRACE
        while not self._gone and (left := until - time.monotonic()) > 0:
            self._wait(left)

    def _answer(self, said: dict[str, Any], shows: tuple[str, ...] = ()) -> Answer:
        answer: Answer = self._sensible(answered, said, shows)
        if problem := answer.problem:
            problem = replace(problem, line=self._place(problem.line))
            if problem.kind == "MemoryError":
                raise self._ended(TOO_MUCH_MEMORY.format(self._limits.memory >> 20), problem.line)
            if problem.kind == "BrokenPipeError" and self._amount > MOST_OUTPUT:
                raise self._ended(TOO_MUCH_OUTPUT, problem.line)
            if problem.message.startswith(NOT_PERMITTED) or THREAD in problem.message:
                problem = replace(problem, message=REFUSED)
        return replace(answer, problem=problem)

    def _place(self, line: int | None) -> int | None:
        return line if line is not None and 0 < line <= self._lines else None

    def _sensible(self, read: Callable[..., Any], *said: Any) -> Any:
        """What a function reads in something that the process said, which may be anything. Raises Stopped."""
        try:
            return read(*said)
        except NONSENSE:
            raise self._ended(GARBAGE) from None

    def _ended(self, sentence: str = "", line: int | None = None) -> Stopped:
        """Why there is no answer, or none of any use: without a sentence, as the process ended. It does so now."""
        assert self._process
        if not sentence:
            code = self._process.code()
            late = time.monotonic() - self._begun >= self._limits.seconds
            by_limit = late and code == -signal.SIGKILL  # the kernel's, for code that hears no other signal
            ending = code is None and self._answers.startswith(STACK)  # which takes a while where there is much to free
            sentence = TOO_LONG if by_limit or ending else _sentence(code)
            words = self._answers.decode("utf-8", "replace")
            places = re.findall(rf'File "{re.escape(self._file)}", line (\d{{1,9}})', words)
            line = self._place(int(places[0])) if places else None
            if sentence == TOO_LONG and len(places) >= DEEP:
                sentence = TOO_DEEP
        self._process.kill()
        if self._amount > MOST_OUTPUT:
            sentence = TOO_MUCH_OUTPUT
        self._end = Stopped(STOPPED) if self._halted else Stopped(sentence, line)
        return self._end

    # Reading and writing, none of which may wait for the other side for longer than it is allowed to take

    def _line(self, until: float) -> bytes | None:
        """The next line that the process says; None where it ends or is silent for too long."""
        while b"\n" not in self._answers:
            if len(self._answers) > MOST_ANSWER:
                raise self._ended(GARBAGE)
            left = until - time.monotonic()
            if self._gone or left <= 0:
                return None
            self._wait(left)
        line, _, self._answers = self._answers.partition(b"\n")
        return line

    def _wait(self, seconds: float) -> bool:
        """Read and write what can be within a time: was there anything?"""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            key.data(key.fd)
        return bool(ready)

    def _write(self, pipe: int) -> None:
        try:
            self._question = self._question[os.write(pipe, self._question[:CHUNK]) :]
        except BrokenPipeError:
            self._question = b""
        if not self._question:
            self._selector.unregister(pipe)

    def _read_answers(self, pipe: int) -> None:
        chunk = os.read(pipe, CHUNK)
        self._answers += chunk
        if not chunk:
            self._selector.unregister(pipe)
            self._gone = True

    def _read_output(self, pipe: int) -> None:
        chunk = os.read(pipe, CHUNK)
        self._printed += chunk[: KEPT_OUTPUT - len(self._printed)]
        self._amount += len(chunk)
        if not chunk or self._amount > MOST_OUTPUT:
            self._selector.unregister(pipe)
            if self._process and self._process.popen.stderr:
                self._process.popen.stderr.close()  # the next write of the code fails, in the line where it prints


def _sentence(code: int | None) -> str:
    """Why a process ended that had an answer to give, from its exit code; None: it closed what it answers through."""
    if code is None:
        return GARBAGE
    if -code not in [*signal.Signals]:
        return ENDED.format(f"exit code {code}")
    number = signal.Signals(-code)
    if number in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU):
        return TOO_LONG
    crashed = number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
    return (CRASHED if crashed else ENDED).format(number.name)


# -- Where runners come from -------------------------------------------------------------------------------------------


def runner(limits: Limits = CHECK) -> Sandbox:
    """A runner whose process starts when it is asked to load, and ends with the thread that asks."""
    return Sandbox(lambda: _Process(_shut_in()), limits)


def _shut_in() -> bool:
    """Is bubblewrap to be used? Raises Stopped where code may not be run at all."""
    if reason := unavailable():
        raise Stopped(reason)
    return boxes()


class Pool:
    """Runners, of which the next is always ready; for a server, which keeps one pool as long as it lives.

    boxed  whether they are shut in by bubblewrap; by default, where that works
    """

    def __init__(self, boxed: bool | None = None) -> None:
        self._boxed = boxed
        self._checks, self._trainings = map(threading.BoundedSemaphore, (MOST_CHECKS, MOST_TRAININGS))
        self._lock = threading.Lock()
        # Linux ends the processes of a thread that ends: all are started by one that stays.
        self._starter = ThreadPoolExecutor(1, "practice")
        self._spare = self._starter.submit(self._begun)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process that waits, and those in use."""
        self._starter.shutdown()
        if not self._spare.exception():
            self._spare.result().close()

    @contextlib.contextmanager
    def runner(self, limits: Limits = CHECK) -> Iterator[Sandbox]:
        """A runner, as soon as there are not too many in use: what may take longer than a check has places of its
        own."""
        long = limits.wall > CHECK.wall
        slots = self._trainings if long else self._checks
        free = slots.acquire(timeout=PATIENCE)
        try:
            busy = functools.partial(_busy, BUSY_TRAINING if long else BUSY)
            with Sandbox(self._take if free else busy, limits) as sandbox:
                yield sandbox
        finally:
            if free:
                slots.release()

    def _begun(self) -> _Process:
        return _Process(_shut_in() if self._boxed is None else self._boxed)

    def _take(self) -> _Process:
        with self._lock:
            spare, self._spare = self._spare, self._starter.submit(self._begun)
        process = spare.result()
        if process.popen.poll() is None:
            return process
        process.close()  # somebody has ended it meanwhile
        return self._starter.submit(self._begun).result()


def _busy(sentence: str) -> _Process:
    raise Stopped(sentence)
