"""Runs a learner's code in a process of its own, which has limits, is isolated where possible, and is used once.

`Pool` keeps one process ready, with Python and NumPy loaded; `runner()` starts one. Either gives a `Sandbox`, a runner
for lab/practice/checker.py. Inside the process runs lab/practice/driver.py. Its output is not trusted: it is read up
to a limit, as JSON, and every part is validated before use.
"""

from __future__ import annotations

import contextlib
import functools
import glob
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
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.config import ROOT, hosted
from lab.practice import checker, driver, syscalls
from lab.practice.checker import Answer, Begins, CheckReport, Job, Problem, Stopped
from lab.training.fair_queue import FairQueue
from practice.task import Course, Inputs

MALFORMED = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)  # raised by bad answers
START_TIMEOUT = 90.0  # seconds until a process must be ready, even on a busy machine
GRACE = 0.3  # seconds that a process has, after its time, to report where it was
TICK = 0.1  # seconds between two looks at a process that does not answer
MAX_STRETCH = 10  # times the limit of waiting: seconds that all questions may take by the clock
CROWDED = 2  # times its processor time: seconds by the clock from which a process had to share its processor
MAX_CHECKS, MAX_TRAININGS = 8, 4  # processes that run learners' code; separate, so that no check waits for a training
MAX_PROGRAMS = 4  # processes that record the passes of programs
MAX_ANSWER = 2_000_000  # bytes of one answer
MAX_OUTPUT = 1_000_000  # bytes that the code may print
MAX_SHOWN_OUTPUT = 4_000  # bytes of the printed text that are shown
IMPORTED_FROM = ROOT.parents[0] if __name__.count(".") > 2 else ROOT  # the folder in which the names of modules begin
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", f"{sys.base_prefix}/lib")
PYTORCH = ("torch", "torchgen", "functorch", "sympy", "mpmath", "typing_extensions.py")  # with what it imports
CHUNK = 1 << 16  # bytes read or written at once: the capacity of a pipe

NOT_READY = "The process for your code did not start: check again."
BUSY = "Too many people are checking at the moment: check again in a few seconds."
BUSY_TRAINING = "Too many people are training at the moment: train again in a minute."
TOO_LONG = "Your code took too long and was stopped: look for a loop that never ends or runs too often."
TOO_SLOW = "Your code did not finish within {:g} seconds: it waits, or this machine is too busy. Try again later."
TOO_DEEP = "Your code took too long and was stopped in deep recursion: look for a function that calls itself endlessly."
TOO_MUCH_MEMORY = (
    "Your code needed more memory than allowed ({} MB): look for an array or a list that grows too large, or for a "
    "function that calls itself endlessly."
)
TOO_MUCH_OUTPUT = "Your code printed more than a million characters and was stopped: remove the print in a loop."
CRASHED = "Your code crashed Python itself ({}): look for a function that calls itself endlessly."
ENDED = "Your code ended Python itself ({}) before the check was done: remove what ends the program."
GARBAGE = "Your code interfered with the check. Remove everything that is not part of the task."
STOPPED = "Your code was stopped."

STACK = b"Stack (most recent call first):"  # the first line of the stack that Python writes when its time is over
DEEP_STACK = 100  # nested calls: the most that this stack lists

CUT = "\n… The rest of the printed text is not shown."
NOT_PERMITTED = ("[Errno 1]", "[Errno 38]")  # begin the message of a system call that the filter refuses
THREAD = "can't start new thread"  # in Python's message when the kernel refuses a thread
REFUSED = "Here your code cannot start programs, threads or connections, write files, or send signals."
NO_PROCESS = (
    "Your code cannot run here: that needs Linux or macOS (on Windows, the Windows Subsystem for Linux). "
    "Download the files and check them there."
)
NO_BUBBLEWRAP = (
    "Your code cannot run here: this server is for several people and lacks bubblewrap, which would isolate the code. "
    "Download the files and check them on your own machine."
)
UNCONFINED = (
    "Here nothing would keep the code from changing your files or using the network. That needs Linux on x86-64 or "
    "ARM, or bubblewrap."
)
ISOLATED = "Your code runs in a process of its own, without network and without access to your files."
OWN_RIGHTS = (
    "Your code runs in a process of its own, on this machine and with your rights: it can read what you can read."
)


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


class Raised(Exception):
    """A streamed program raised an exception, which is `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.kind}: {problem.message}")
        self.problem = problem


# -- Isolation ---------------------------------------------------------------------------------------------------------


def unavailable() -> str:
    """Return why no learner's code can run here, in words for the page; "" if it can."""
    if os.name != "posix":
        return NO_PROCESS
    return NO_BUBBLEWRAP if hosted() and not bubblewrap_works() else ""


def isolation() -> str:
    """Describe in a sentence for the page how the code is isolated."""
    return ISOLATED if bubblewrap_works() else OWN_RIGHTS


def unconfined() -> str:
    """Return why only limits would hold a learner's code on this machine; "" if bubblewrap or the kernel does."""
    return "" if bubblewrap_works() or syscalls.instructions() else UNCONFINED


@functools.cache
def bubblewrap_works() -> bool:
    """Tell whether bubblewrap works on this machine. It is then always used, also on a learner's own machine: it costs
    only a few milliseconds and protects learners from their own mistakes."""
    if not shutil.which("bwrap"):
        return False
    command = [*_bubblewrap("/.practice"), *_python(), "-c", "import numpy"]
    try:
        return subprocess.run(command, env=_environment(), capture_output=True, timeout=START_TIMEOUT).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _python() -> list[str]:
    """Return the command that starts Python unbuffered, without this project and without site-packages."""
    return [os.path.realpath(sys.executable), "-s", "-S", "-P", "-B", "-u", "-X", "utf8"]


def _environment(watches: str = "") -> dict[str, str]:
    places = os.pathsep.join(map(str, [_packages(), IMPORTED_FROM] if watches else [_packages()]))
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    # Optimizers of PyTorch load its compiler, which looks for a folder that exists and never writes to it here
    return {"PYTHONPATH": places, "TORCHINDUCTOR_CACHE_DIR": "/", **threads}


def _packages() -> Path:
    return Path(np.__file__).resolve().parents[1]


def _bubblewrap(folder: str, watches: str = "") -> list[str]:
    """Return the command prefix that isolates a command: no network, no other processes, no rights, no /proc, and
    read-only access to nothing but the system's libraries, Python's own modules, NumPy and the driver; for one that
    watches, also PyTorch and what records its passes. Other packages and this project are hidden where they lie among
    the libraries."""
    shown = ["/etc/ld.so.cache", "/etc/alternatives", _python()[0]]
    shown += ["/proc/cpuinfo"] if watches == driver.TORCH else []  # else PyTorch would round otherwise than outside
    packages = ("numpy", "numpy.libs", *(PYTORCH if watches == driver.TORCH else ()))
    own = [str(ROOT / name) for name in ("__init__.py", "model.py", "nn.py", "lab")] if watches else [driver.__file__]
    needed = [*(str(_packages() / name) for name in packages), *own]
    kept = [os.path.realpath(library) for library in LIBRARIES]
    hidden = {os.path.realpath(path) for library in kept for path in glob.glob(f"{library}/python*/*-packages")}
    hidden |= {str(ROOT)} if any(ROOT.is_relative_to(library) for library in kept) else set()
    command = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"]
    command += ["--new-session", "--die-with-parent", "--cap-drop", "ALL", "--hostname", "practice"]
    for file in (*LIBRARIES, *shown):
        if os.path.islink(file):
            command += ["--symlink", os.readlink(file), file]
        else:
            command += ["--ro-bind-try", file, file]
    command += [word for path in sorted(hidden) for word in ("--tmpfs", path)]
    command += [word for file in needed for word in ("--ro-bind-try", file, file)]
    devices = ["/dev/null", *(["/dev/urandom"] if watches == driver.TORCH else [])]
    command += [word for device in devices for word in ("--dev-bind", device, device)]
    return [*command, "--dir", folder, "--chdir", folder, "--remount-ro", "/"]


# -- A process, and the runner that uses it ----------------------------------------------------------------------------


class _Process:
    """A running driver, which loads NumPy and then waits for its first question."""

    def __init__(self, boxed: bool, watches: str = "") -> None:
        self._boxed = boxed
        self._folder = None if boxed else _empty_folder()
        self.popen = subprocess.Popen(
            [
                *(_bubblewrap("/.practice", watches) if boxed else ()),
                *_python(),
                driver.__file__,
                *([watches] if watches else []),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self._folder or "/",
            env=_environment(watches),
            start_new_session=True,
        )
        self.pipes = [pipe.fileno() for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr) if pipe]
        for pipe in self.pipes:
            os.set_blocking(pipe, False)

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
        """Tell whether the process runs or waits for a processor; True where that is not known, without /proc."""
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
        with contextlib.suppress(OSError), self.popen:  # closes the pipes and waits
            pass
        if self._folder:
            with contextlib.suppress(OSError):
                os.rmdir(self._folder)


def _empty_folder() -> str:
    """Make a folder for a process to start in, and remove those of servers that were killed."""
    for left in glob.glob(f"{glob.escape(tempfile.gettempdir())}/practice-*-*"):
        with contextlib.suppress(OSError, ValueError, OverflowError):
            server = int(os.path.basename(left).split("-")[1])
            try:
                os.kill(server, 0)
            except ProcessLookupError:
                os.rmdir(left)
    return tempfile.mkdtemp(prefix=f"practice-{os.getpid()}-")


def parse_line(line: bytes) -> dict[str, Any]:
    """Parse a line from the driver. Raises one of MALFORMED."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise TypeError("Each line of the driver is a dict.")
    return message


def parse_answer(message: dict[str, Any], shows: tuple[str, ...]) -> Answer:
    """Read the answer to a job with these expressions from a message. Raises one of MALFORMED."""
    answer = checker.answer(message)
    given = tuple(answer.values)
    if given != shows[: len(given)] or (answer.problem is None and len(given) < len(shows)):
        raise ValueError("The answer is to other expressions.")
    return answer


class Sandbox:
    """A runner in a process of its own, for one text: `with ... as runner`. Other threads may only call `stop`."""

    def __init__(self, start: Callable[[], _Process], limits: Limits = CHECK) -> None:
        self._start = start
        self._limits = limits
        self._asleep = self._open_for = 0.0  # seconds in which the code slept, and in which a question was open
        self._process: _Process | None = None
        self._selector = selectors.DefaultSelector()
        self._question = self._answers = self._printed = b""
        self._amount = self._before = 0  # bytes printed in total, and before the last load
        self._closed = self._halted = False  # whether the process closed its side, and whether `stop` was called
        self._end: Stopped | None = None
        self._file, self._lines = "", 0
        self._loaded = self._asked = 0.0  # times of the first load and of the last question

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        if self._process:
            self._process.close()

    @property
    def output(self) -> str:
        """The beginning of the text that the code has printed since it was last loaded."""
        text = self._printed.decode("utf-8", "replace")
        return text + CUT if self._amount - self._before > len(self._printed) else text

    def check(
        self, course: Course, key: str, source: str, seed: int, begins: Begins = lambda task, one: None
    ) -> CheckReport:
        """Check a text, as the function `check` does."""
        return checker.check(course, key, source, self, seed, begins)

    @property
    def crowded(self) -> bool:
        """Whether the code was stopped for taking too long while it had to share its processor."""
        long = self._end is not None and str(self._end) in (TOO_LONG, TOO_DEEP)
        return long and self._open_for - self._asleep > CROWDED * self._limits.seconds

    @property
    def _most(self) -> float:
        """Seconds that all questions together may take by the clock."""
        return MAX_STRETCH * self._limits.wall

    def stop(self) -> None:
        """End the code now. A thread that waits for it gets Stopped."""
        self._halted = True
        if self._process:
            self._process.kill()

    def load(self, source: str, file: str, modules: Sequence[str] = ()) -> Problem | None:
        """Run the text as a module and return what it raised, or None. Call it before anything else; a second call must
        give the same text and runs it again. Raises Stopped."""
        # In an installed copy they import each other from the package, which is hidden from the learner's process
        package = __name__.removesuffix("lab.practice.sandbox")
        texts = {name: (ROOT / f"{name}.py").read_text("utf-8") for name in modules}
        texts = {name: text.replace(f"from {package}model import", "from model import") for name, text in texts.items()}
        self._send("load", source, file, modules=texts)
        answer = self._answer(self._message())
        self._pause()
        return answer.problem

    def watch(self, source: str, file: str, keep: Callable[[Any], None]) -> Answer:
        """Run the text as a script in a process that watches (see Pool). Give `keep` each record of it, parsed JSON
        that anybody may have written, and return its report as such JSON, under that name. Raises Stopped."""
        self._send("watch", source, file)
        while "message" in (message := self._message()):
            self._parsed(keep, message["message"])
        answer = self._answer(message, ("report",))
        self._pause()
        return answer

    def _send(self, do: str, source: str, file: str, **more: Any) -> None:
        """Send a text and the limits, in a process that is started the first time."""
        self._file, self._lines = file, source.count("\n") + 1
        self._printed, self._before = b"", self._amount
        if not self._process:
            self._open()
            self._loaded = time.monotonic()
        limits = {"seconds": self._limits.seconds, "memory": self._limits.memory, "allowed": syscalls.instructions()}
        self._ask(do, source=source, file=file, **more, **limits)

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        """Run each job and return its answer. Raises Stopped."""
        self._ask("run", jobs=[[job.program, checker.encoded(job.inputs, job.secret), [*job.shows]] for job in jobs])
        answers = [self._answer(self._message(), job.shows) for job in jobs]
        self._pause()
        return answers

    def stream(self, program: str, inputs: Inputs) -> Iterator[Any]:
        """Run a program of this project and yield each value that it emits while it runs. The program sees the
        learner's names and `inputs`, and calls `emit(value)`. Raises Raised with its exception, and Stopped."""
        self._ask("stream", program=program, inputs=checker.encoded(inputs))
        while "message" in (message := self._message()):
            yield self._parsed(driver.decode, message["message"])
        answer = self._answer(message)
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
        if self._line(time.monotonic() + START_TIMEOUT) is None:
            raise self._stopped(NOT_READY)

    def _ask(self, do: str, **question: Any) -> None:
        if self._end:
            raise self._end
        self._asked = time.monotonic()
        wall = self._most + 2 * GRACE  # the driver's own limit, in case this process dies
        if not self._question:  # else the process answered before it had read the last question
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write)
        self._question += json.dumps({"do": do, "wall": wall, **question}).encode() + b"\n"

    def _pause(self) -> None:
        """Stop the clock until the next question."""
        self._open_for += time.monotonic() - self._asked
        self._wait(0)  # reads what was printed before the answer

    def _message(self) -> dict[str, Any]:
        """Wait for the next message of the process. Raises Stopped."""
        assert self._process
        while (line := self._line(time.monotonic() + TICK)) is None and not self._closed:
            if not self._process.wants_processor():
                self._asleep += TICK
            slow = self._open_for + time.monotonic() - self._asked > self._most
            if slow or self._asleep > self._limits.wall:
                self._process.interrupt()
                self._read_rest()
                raise self._stopped(TOO_SLOW.format(self._most) if slow else "" if self._closed else TOO_LONG)
        if line is None:
            raise self._stopped()
        if not line.startswith(b"{"):  # the stack that Python writes before it ends
            self._answers = line + b"\n" + self._answers
            self._read_rest()
            raise self._stopped() if self._closed or line.startswith(STACK) else self._stopped(GARBAGE)
        message: dict[str, Any] = self._parsed(parse_line, line)
        return message

    def _read_rest(self) -> None:
        until = time.monotonic() + GRACE
        while not self._closed and (left := until - time.monotonic()) > 0:
            self._wait(left)

    def _answer(self, message: dict[str, Any], shows: tuple[str, ...] = ()) -> Answer:
        answer: Answer = self._parsed(parse_answer, message, shows)
        if problem := answer.problem:
            problem = replace(problem, line=self._place(problem.line))
            if problem.kind == "MemoryError":
                raise self._stopped(TOO_MUCH_MEMORY.format(self._limits.memory >> 20), problem.line)
            if problem.kind == "BrokenPipeError" and self._amount > MAX_OUTPUT:
                raise self._stopped(TOO_MUCH_OUTPUT, problem.line)
            if problem.message.startswith(NOT_PERMITTED) or THREAD in problem.message:
                problem = replace(problem, message=REFUSED)
        return replace(answer, problem=problem)

    def _place(self, line: int | None) -> int | None:
        return line if line is not None and 0 < line <= self._lines else None

    def _parsed(self, parse: Callable[..., Any], *data: Any) -> Any:
        """Parse untrusted data of the process. Raises Stopped if it is malformed."""
        try:
            return parse(*data)
        except MALFORMED:
            raise self._stopped(GARBAGE) from None

    def _stopped(self, sentence: str = "", line: int | None = None) -> Stopped:
        """End the process and return the exception that says why; without a sentence, infer it from how it ended."""
        assert self._process
        self._open_for += time.monotonic() - self._asked
        if not sentence:
            code = self._process.code()
            late = time.monotonic() - self._loaded >= self._limits.seconds
            by_limit = late and code == -signal.SIGKILL  # from the kernel, for code that ignores the other signals
            ending = code is None and self._answers.startswith(STACK)  # freeing much memory takes a while
            sentence = TOO_LONG if by_limit or ending else _sentence(code)
            text = self._answers.decode("utf-8", "replace")
            places = re.findall(rf'File "{re.escape(self._file)}", line (\d{{1,9}})', text)
            line = self._place(int(places[0])) if places else None
            if sentence == TOO_LONG and len(places) >= DEEP_STACK:
                sentence = TOO_DEEP
        self._process.kill()
        if self._amount > MAX_OUTPUT:
            sentence = TOO_MUCH_OUTPUT
        self._end = Stopped(STOPPED) if self._halted else Stopped(sentence, line)
        return self._end

    # Reading and writing, always with a time limit

    def _line(self, until: float) -> bytes | None:
        """Return the next line from the process; None if it ends, or if nothing waits to be read when time is over."""
        while b"\n" not in self._answers:
            if len(self._answers) > MAX_ANSWER:
                raise self._stopped(GARBAGE)
            left = until - time.monotonic()
            if self._closed or (not self._wait(max(left, 0)) and left <= 0):
                return None
        line, _, self._answers = self._answers.partition(b"\n")
        return line

    def _wait(self, seconds: float) -> bool:
        """Wait at most this long for the pipes, then read and write; return whether there was anything to do."""
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
            self._closed = True

    def _read_output(self, pipe: int) -> None:
        chunk = os.read(pipe, CHUNK)
        self._printed += chunk[: MAX_SHOWN_OUTPUT - len(self._printed)]
        self._amount += len(chunk)
        if not chunk or self._amount > MAX_OUTPUT:
            self._selector.unregister(pipe)
            if self._process and self._process.popen.stderr:
                self._process.popen.stderr.close()  # so that the code's next print fails, in its own line


def _sentence(code: int | None) -> str:
    """Say why a process ended without its answer. code: its exit code; None if it only closed its output."""
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
    """Return a runner whose process starts at the first `load` and ends with the thread that called it."""
    return Sandbox(lambda: _Process(_use_bubblewrap()), limits)


def _use_bubblewrap() -> bool:
    """Tell whether to use bubblewrap. Raises Stopped if code may not run here at all."""
    if reason := unavailable():
        raise Stopped(reason)
    return bubblewrap_works()


class Pool:
    """Runners for a server, with the process of the next one always ready. A server keeps one pool for its lifetime.

    boxed    whether to use bubblewrap; by default, if it works
    watches  what the programs import that its processes record: driver.ENGINE or driver.TORCH; "" if they record none.
             They take long to start, so the next one starts when a program has ended
    """

    def __init__(self, boxed: bool | None = None, watches: str = "") -> None:
        self._boxed, self._watches = boxed, watches
        self._checks, self._trainings = FairQueue(MAX_PROGRAMS if watches else MAX_CHECKS), FairQueue(MAX_TRAININGS)
        self._lock = threading.Lock()
        # Linux ends these processes with the thread that started them: so one lasting thread starts them all.
        self._starter = ThreadPoolExecutor(1, "practice")
        self._spare: Future[_Process] | None = self._starter.submit(self._start)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the spare process, and those in use."""
        self._starter.shutdown()
        if self._spare and not self._spare.exception():
            self._spare.result().close()

    @contextlib.contextmanager
    def runner(self, limits: Limits = CHECK, visitor: Hashable = None) -> Iterator[Sandbox]:
        """Provide a runner when it is this visitor's turn, or anybody's without a visitor; anything longer than a check
        counts as a training."""
        long = limits.wall > CHECK.wall
        queue, start = self._trainings if long else self._checks, self._take_spare
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(queue.place(visitor or object(), START_TIMEOUT))
            except TimeoutError:
                start = functools.partial(_busy, BUSY_TRAINING if long else BUSY)
            with Sandbox(start, limits) as sandbox:
                yield sandbox
            self._prepare_spare()

    def _start(self) -> _Process:
        return _Process(_use_bubblewrap() if self._boxed is None else self._boxed, self._watches)

    def _prepare_spare(self) -> None:
        with self._lock:
            self._spare = self._spare or self._starter.submit(self._start)

    def _take_spare(self) -> _Process:
        with self._lock:
            spare, self._spare = self._spare or self._starter.submit(self._start), None
        if not self._watches:
            self._prepare_spare()
        process = spare.result()
        if process.popen.poll() is None:
            return process
        process.close()  # it has been killed in the meantime
        return self._starter.submit(self._start).result()


def _busy(sentence: str) -> _Process:
    raise Stopped(sentence)
