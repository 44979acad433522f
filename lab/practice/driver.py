"""The learner's side of a check: loads their code, runs programs with it and answers with plain data.

It runs in the process of the learner's code, with only Python and NumPy. That code can change everything here and send
any answer. So no right answer is ever in this process, and it is asked for numbers, not for verdicts: the other side,
lab/practice/checker.py, compares them. lab/practice/sandbox.py starts this file as that process: each question is one
line of JSON, and so is each answer.

An answer is a dict: {"values": {expression: value}} if the program ran, with {"error": {...}} if it raised; see
`failed`. Values are numbers, texts, bools, None and arrays; `encode` and `decode` convert them to JSON and back.
"""

from __future__ import annotations

import builtins
import ctypes
import faulthandler
import functools
import io
import json
import math
import os
import re
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

import numpy as np

PROGRAM = "<check>"  # the file name of a check's program in tracebacks
MAX_NUMBERS = 50_000  # in one value of an answer, such as the weights of a layer
MAX_MESSAGE = 2000  # characters of an exception's message
MAX_NAME = 100  # characters of the name of a type
ENGINE, TORCH = "engine", "torch"  # argument of a process that records programs (`Server.watch`): what they import
MAX_BASES = 20  # classes that an exception is reported to belong to
BUILTINS = dict(vars(builtins))  # as they were before the learner's code could replace any of them
DTYPES = re.compile(r"[<>|=]?[biuf]\d{1,2}")  # of numbers or truth values, as NumPy writes them for short: "<f8"


def encode(value: Any, most: float = MAX_NUMBERS) -> Any:
    """Return a value as JSON data. One of an unknown type, with more than `most` elements, or a dict with keys other
    than texts and numbers, becomes the name of its type."""
    if value is None or type(value) is float or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (list, tuple)) and len(value) <= most:
        return {"list": [encode(item, most) for item in value]}
    if isinstance(value, dict) and len(value) <= most:
        pairs = [[encode(key, most), encode(item, most)] for key, item in value.items()]
        if not any(isinstance(key, dict) for key, _ in pairs):
            return {"dict": pairs}
    if isinstance(value, (int, float, np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind in "bfiu" and array.size <= most:
            numbers = (array.astype(float) if array.dtype.kind == "f" else array).ravel().tolist()  # nan and inf, too
            shaped = {"dtype": array.dtype.str, "shape": list(array.shape), "numbers": numbers}
            return shaped if array.ndim else numbers[0]
    return {"type": type(value).__name__[:MAX_NAME]}


def decode(value: Any) -> Any:
    """Invert `encode`: arrays become NumPy arrays, those without axes Python numbers.

    Raises ValueError, KeyError, TypeError, OverflowError or RecursionError, and nothing else, for anything that
    `encode` does not make, so that answers of an untrusted process can be read.
    """
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return int(np.int64(value)) if value < 2**63 else int(np.uint64(value))
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # a lone surrogate would break the page
    if "list" in value:
        return [decode(item) for item in value["list"]]
    if "dict" in value:
        return {decode(key): decode(item) for key, item in value["dict"]}
    if "numbers" in value:
        sizes = all(type(size) is int and size >= 0 for size in value["shape"])
        if not sizes or not DTYPES.fullmatch(value["dtype"]):
            raise ValueError("There is no such array.")
        with np.errstate(over="ignore"):  # of float16
            return np.array(value["numbers"], value["dtype"]).reshape(value["shape"])
    return {"type": decode(str(value["type"])[:MAX_NAME])}


@functools.lru_cache(3000)  # more than a task has variants of its reference (20 kB each): with fewer, none would stay
def compiled(text: str, mode: str, file: str = PROGRAM) -> CodeType:
    """Compile a text, with a cache: a check runs the same few texts in many cases, and compiling takes longest."""
    return compile(text, file, mode, dont_inherit=True)


def load(source: str, file: str) -> dict[str, Any]:
    """Run the learner's text as a module and return its namespace. Raises whatever it raises, also SyntaxError."""
    namespace: dict[str, Any] = {"__name__": file.removesuffix(".py"), "__builtins__": __builtins__}
    try:
        code = compiled(source, "exec", file)
    except (MemoryError, RecursionError):  # the parser's stack overflowed, however much memory is free
        raise SyntaxError("an expression has too many parts inside one another") from None
    exec(code, namespace)
    return namespace


def run(namespace: dict[str, Any], file: str, program: str, inputs: dict[str, Any], shows: list[str]) -> dict[str, Any]:
    """Run a program with the learner's names and the inputs, and return its answer; both namespaces stay unchanged.

    Names of Python's own, such as `sum`, mean in the program what they mean in Python, whatever the learner defines.
    """
    own = dict(BUILTINS)
    public = {name: value for name, value in own.items() if not name.startswith("__")}
    scope = {**namespace, **public, **inputs, "__builtins__": own}
    values = {}
    try:
        exec(compiled(program, "exec"), scope)
        for expression in shows:
            values[expression] = encode(eval(compiled(expression, "eval"), scope))
    except Exception as error:
        return {"values": values, "error": failed(error, file)}
    return {"values": values}


def failed(error: BaseException, file: str) -> dict[str, Any]:
    """Return an exception as a dict: kind, the names of its classes, message, and the innermost line and column in the
    learner's file."""
    if isinstance(error, SyntaxError) and error.filename == file:
        line, column = error.lineno, error.offset
    else:
        steps = traceback.walk_tb(error.__traceback__)  # extract_tb would read files, by modules that may be gone
        lines = [number for frame, number in steps if frame.f_code.co_filename == file]
        line, column = (lines[-1] if lines else None), None
    try:
        message = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:  # the learner's own __str__ may fail
        message = ""
    bases = [base.__name__ for base in type(error).__mro__[:MAX_BASES]]
    return {"kind": bases[0], "bases": bases, "message": message[:MAX_MESSAGE], "line": line, "column": column}


# -- The process -------------------------------------------------------------------------------------------------------

SPARE = 8 << 20  # bytes held in reserve and freed when memory runs out, so that the answer can still be sent
NOTHING: dict[str, Any] = {"values": {}}
READY = json.dumps(NOTHING).encode()
PRINTED = b'{"printed"'  # begins a line with a text that the code prints
MAX_OUTPUT = 1_000_000  # characters that the code may print
AT_ONCE = 2_000  # of them, characters that are sent as soon as they are printed; later ones in parts of about as many


class OutputError(Exception):
    """The code has printed more than MAX_OUTPUT."""


class Output(io.TextIOBase):
    """Standard output of the learner's code: it sends what is printed. Nothing else does, as the file descriptors 1
    and 2 lead nowhere."""

    def __init__(self, say: Callable[[Any], None]) -> None:
        self._say = say
        self._amount = 0  # characters
        self._waiting = ""

    def write(self, text: str) -> int:
        self._amount += len(text)
        if self._amount > MAX_OUTPUT:
            raise OutputError
        self._waiting += text
        if self._amount <= AT_ONCE or len(self._waiting) > AT_ONCE:
            self.send()
        return len(text)

    def send(self) -> None:
        """Send what was printed and is not sent yet."""
        for start in range(0, len(self._waiting), AT_ONCE):
            self._say({"printed": self._waiting[start : start + AT_ONCE]})
        self._waiting = ""


def main() -> None:
    """Answer the questions on standard input, on what was standard output. The learner's own input is empty."""
    questions, answers, nowhere = os.fdopen(os.dup(0), "rb"), os.dup(1), os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    if sys.argv[1:]:
        _prepare(sys.argv[1] == TORCH)
    for place in os.environ.pop("PYTHONPATH").split(os.pathsep):
        sys.path.remove(place)  # NumPy is loaded; the learner may not import other packages
    np.linalg.inv(np.eye(64) @ np.eye(64))  # makes BLAS take its memory before the limit holds
    np.random.default_rng(0)
    spare = bytearray(SPARE)

    def send(message: Any) -> None:
        line = json.dumps(message).encode() + b"\n"
        while line:
            line = line[os.write(answers, line) :]

    def say(message: Any) -> None:
        output.send()  # what was printed before the message comes before it
        send(message)

    sys.stdout = sys.stderr = output = Output(send)
    server = Server(say, answers)
    for line in questions:
        question = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, question.pop("wall", 0))
        try:
            getattr(server, question.pop("do"))(**question)
        except MemoryError as error:
            spare.clear()
            say(NOTHING | {"error": failed(error.__context__ or error, server.file)})
        except BaseException as error:  # also SystemExit and KeyboardInterrupt
            say(NOTHING | {"error": failed(error, server.file)})
        signal.setitimer(signal.ITIMER_REAL, 0)


def _prepare(torch: bool) -> None:
    """Load the engine, the recorder of passes, and PyTorch if it is wanted and installed."""
    import model as engine
    import nn as networks
    from lab.watch import recorded_program

    # By these names in an installed copy, too, where they are parts of the package
    sys.modules |= {"model": engine, "nn": networks}
    recorded_program.prepare(torch)


class Server:
    """The questions that the process answers: each public method is one."""

    def __init__(self, say: Callable[[Any], None], answers: int) -> None:
        self._say = say
        self._answers = answers
        self.file = ""

    def limit(self, seconds: float, memory: int, allowed: list[list[Any]]) -> None:
        """Limit this process from now on: processor time, bytes of address space, and the allowed system calls. When
        the time is over, Python writes the current line to the answers and ends."""
        import resource  # not on Windows, where this is never called

        if sys.platform == "linux":
            _prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        limits = {"CORE": 0, "FSIZE": 0, "NOFILE": 64, "NPROC": 0}  # the last does not hold for root
        limits["CPU"] = math.ceil(time.process_time() + seconds) + 1
        if sys.platform != "darwin":  # macOS has this limit but does not accept it
            limits["AS"] = memory
        for name, most in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
        faulthandler.enable(self._answers, all_threads=False)
        for number in (signal.SIGPROF, signal.SIGALRM):
            faulthandler.register(number, self._answers, all_threads=False, chain=True)  # then it ends, as by default
        signal.setitimer(signal.ITIMER_PROF, seconds)
        if allowed:
            _install(allowed)
        self._say(NOTHING)

    def load(self, source: str, file: str, modules: dict[str, str]) -> None:
        self.file = file
        for name, text in modules.items():
            sys.modules[name] = module = ModuleType(name)
            exec(compile(text, f"{name}.py", "exec", dont_inherit=True), vars(module))
        self._namespace = load(source, file)
        self._say(NOTHING)

    def run(self, jobs: list[list[Any]]) -> None:
        for program, inputs, shows in jobs:
            inputs = {name: decode(value) for name, value in inputs.items()}
            self._say(run(self._namespace, self.file, program, inputs, shows))

    def watch(self, source: str, file: str, seconds: float) -> None:
        from lab.watch import recorded_program

        self.file = file
        report, error = recorded_program.run(source, file, lambda record: self._say({"message": record}), seconds)
        self._say({"values": {"report": json.dumps(report)}} | ({"error": failed(error, file)} if error else {}))

    def stream(self, program: str, inputs: dict[str, Any]) -> None:
        scope = {name: decode(value) for name, value in inputs.items()}
        scope["emit"] = lambda value: self._say({"message": encode(value)})
        self._say(run(self._namespace, self.file, program, scope, []))


_PARENT_DEATH_SIGNAL, _NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 1, 38, 22, 2  # numbers of prctl


def _prctl(option: int, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *(ctypes.c_ulong(number) for number in [*arguments, 0, 0, 0, 0][:4])):
        raise OSError(ctypes.get_errno(), "The kernel does not limit this process")


def _install(allowed: list[list[Any]]) -> None:
    """Install the filter of system calls that lab/practice/syscalls.py writes."""
    code = [(*step, os.getpid() if constant == "pid" else constant) for *step, constant in allowed]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *instruction) for instruction in code))
    header = ctypes.create_string_buffer(struct.pack("HP", len(code), ctypes.addressof(program)))
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _prctl(_SECCOMP, _FILTER, ctypes.addressof(header))


if __name__ == "__main__":
    main()
