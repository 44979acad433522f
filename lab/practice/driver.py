"""The learner's side of a check: loads their text, runs programs with it, answers with plain data.

It runs in the process of the learner's code, with Python and NumPy and nothing else of this project: whatever the code
does to it, it can only spoil its own answers. The other side, lab/practice/checker.py, judges them. Started by
lab/practice/sandbox.py, this file is that process: one line of JSON asks, and each answer is one line of JSON.

An answer is a dict: {"values": {expression: value}} where the program ran, {"error": {...}} where it did not; see
`failed`. Values are numbers, texts, bools, None and arrays; `encode` and `decode` take them to JSON and back.
"""

from __future__ import annotations

import ctypes
import faulthandler
import functools
import json
import math
import os
import re
import signal
import struct
import sys
import traceback
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

import numpy as np

PROGRAM = "<check>"  # the file name of a check's program in tracebacks
MOST_NUMBERS = 10_000  # in one value of an answer; who checks asks for far fewer
DTYPES = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64|96|128)")


def encode(value: Any, most: float = MOST_NUMBERS) -> Any:
    """A value as JSON has it. What is neither a number, an array nor a text, what has more than `most` elements, and a
    dict by anything else than texts and numbers, goes as the name of its type."""
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
            return (
                {"dtype": array.dtype.name, "shape": list(array.shape), "numbers": numbers}
                if array.ndim
                else numbers[0]
            )
    return {"type": type(value).__name__}


def decode(value: Any) -> Any:
    """The inverse of `encode`: numbers come as NumPy arrays, those without axes as Python's own numbers.

    Raises ValueError, KeyError, TypeError, OverflowError or RecursionError for what `encode` does not make: who reads
    the answers of another process may rely on it.
    """
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return int(np.int64(value)) if value < 2**63 else int(np.uint64(value))
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half a character of two halves would spoil a page
    if "list" in value:
        return [decode(item) for item in value["list"]]
    if "dict" in value:
        return {decode(key): decode(item) for key, item in value["dict"]}
    if "numbers" in value:
        if not DTYPES.fullmatch(value["dtype"]) or not all(type(size) is int and size >= 0 for size in value["shape"]):
            raise ValueError("There is no such array.")
        with np.errstate(over="ignore"):  # of float16
            return np.array(value["numbers"], value["dtype"]).reshape(value["shape"])
    return {"type": decode(str(value["type"]))}


@functools.lru_cache(3000)  # more than a task has variants of its reference, of 20 kB each: else none would be kept
def compiled(text: str, mode: str, file: str = PROGRAM) -> CodeType:
    """A check runs the same few texts in many cases, and to compile one takes longer than to run it."""
    return compile(text, file, mode, dont_inherit=True)


def load(source: str, file: str) -> dict[str, Any]:
    """Run the learner's text as a module: its namespace. Raises whatever it raises, SyntaxError among it."""
    namespace: dict[str, Any] = {"__name__": file.removesuffix(".py"), "__builtins__": __builtins__}
    try:
        code = compiled(source, "exec", file)
    except (MemoryError, RecursionError):  # the parser's stack is full, however much memory there is
        raise SyntaxError("an expression has too many parts inside one another") from None
    exec(code, namespace)
    return namespace


def run(namespace: dict[str, Any], file: str, program: str, inputs: dict[str, Any], shows: list[str]) -> dict[str, Any]:
    """The answer of one program, which sees the learner's names and the inputs, and leaves both as they were."""
    scope = {**namespace, **inputs}
    values = {}
    try:
        exec(compiled(program, "exec"), scope)
        for expression in shows:
            values[expression] = encode(eval(compiled(expression, "eval"), scope))
    except Exception as error:
        return {"values": values, "error": failed(error, file)}
    return {"values": values}


def failed(error: BaseException, file: str) -> dict[str, Any]:
    """What is told of an exception: its kind, its message, and the last line of the learner's file on its way."""
    if isinstance(error, SyntaxError) and error.filename == file:
        line, column = error.lineno, error.offset
    else:
        steps = traceback.walk_tb(error.__traceback__)  # extract_tb would read files, with modules that may be gone
        lines = [number for frame, number in steps if frame.f_code.co_filename == file]
        line, column = (lines[-1] if lines else None), None
    try:
        message = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:  # the text of an exception may come from code of theirs, too
        message = ""
    return {"kind": type(error).__name__, "message": message[:2000], "line": line, "column": column}


# -- The process -------------------------------------------------------------------------------------------------------

SPARE = 8 << 20  # bytes that are given back where memory has run out, so that this can be told
NOTHING: dict[str, Any] = {"values": {}}


def main() -> None:
    """Answer what standard input asks until it ends.

    The answers go where standard output went; what the learner's code prints goes to standard error, and what it reads
    from standard input is nothing.
    """
    sys.path.remove(os.environ.pop("PYTHONPATH"))  # NumPy is loaded; the packages beside it are no business of theirs
    np.linalg.inv(np.eye(64) @ np.eye(64))  # takes the memory that BLAS wants before there is a limit
    np.random.default_rng(0)
    questions, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    spare = bytearray(SPARE)

    def say(message: Any) -> None:
        line = json.dumps(message).encode() + b"\n"
        while line:
            line = line[os.write(answers, line) :]

    say(NOTHING)
    server = Server(say, answers)
    for line in questions:
        question = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, question.pop("wall"))
        try:
            getattr(server, question.pop("do"))(**question)
        except MemoryError as error:
            spare.clear()
            say(NOTHING | {"error": failed(error.__context__ or error, server.file)})
        except BaseException as error:  # SystemExit and what else is no Exception
            say(NOTHING | {"error": failed(error, server.file)})
        signal.setitimer(signal.ITIMER_REAL, 0)


class Server:
    """What can be asked of the process: each public method is a question."""

    def __init__(self, say: Callable[[Any], None], answers: int) -> None:
        self._say = say
        self._answers = answers
        self.file = ""

    def load(self, source: str, file: str, modules: dict[str, str], **limits: Any) -> None:
        if not self.file:  # the first time: the limits hold for good
            self.file = file
            limit(**limits, report=self._answers)
        for name, text in modules.items():
            sys.modules[name] = module = ModuleType(name)
            exec(compile(text, f"{name}.py", "exec", dont_inherit=True), vars(module))
        self._namespace = load(source, file)
        self._say(NOTHING)

    def run(self, jobs: list[list[Any]]) -> None:
        for program, inputs, shows in jobs:
            inputs = {name: decode(value) for name, value in inputs.items()}
            self._say(run(self._namespace, self.file, program, inputs, shows))

    def stream(self, program: str, inputs: dict[str, Any]) -> None:
        scope = {name: decode(value) for name, value in inputs.items()}
        scope["emit"] = lambda value: self._say({"message": encode(value)})
        self._say(run(self._namespace, self.file, program, scope, []))


def limit(seconds: float, memory: int, allowed: list[list[Any]], report: int) -> None:
    """From now on: so much processor time and address space, and of system calls only those that are allowed.

    Where the time is over, Python writes to the file descriptor `report` which line it was at, and ends.
    """
    import resource  # not on Windows, where this is never called

    if sys.platform == "linux":
        _prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    limits = {
        "CORE": 0,
        "FSIZE": 0,
        "NOFILE": 64,
        "NPROC": 0,  # does not hold for root
        "CPU": math.ceil(seconds) + 1,
    }
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if sys.platform != "darwin":  # which knows this limit and does not accept it
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    faulthandler.enable(report, all_threads=False)
    for number in (signal.SIGPROF, signal.SIGALRM):
        faulthandler.register(number, report, all_threads=False, chain=True)  # and then what it does anyway: end
    signal.setitimer(signal.ITIMER_PROF, seconds)
    if allowed:
        _install(allowed)


_PARENT_DEATH_SIGNAL, _NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 1, 38, 22, 2  # numbers of prctl


def _prctl(option: int, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *(ctypes.c_ulong(number) for number in [*arguments, 0, 0, 0, 0][:4])):
        raise OSError(ctypes.get_errno(), "The kernel does not limit this process")


def _install(allowed: list[list[Any]]) -> None:
    """Have Linux refuse all system calls but those of the filter: see lab/practice/syscalls.py."""
    code = [(*step, os.getpid() if constant == "pid" else constant) for *step, constant in allowed]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *instruction) for instruction in code))
    header = ctypes.create_string_buffer(struct.pack("HP", len(code), ctypes.addressof(program)))
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _prctl(_SECCOMP, _FILTER, ctypes.addressof(header))


if __name__ == "__main__":
    main()
