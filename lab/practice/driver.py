"""The learner's side of a check: loads their text, runs programs with it, answers with plain data.

It runs in the process of the learner's code, with Python and NumPy and nothing else of this project: whatever the code
does to it, it can only spoil its own answers. The other side, lab/practice/checker.py, judges them.

An answer is a dict: {"values": {expression: value}} where the program ran, {"error": {...}} where it did not; see
`failed`. Values are numbers, texts, bools, None and arrays; `plain` and `lively` take them to JSON and back.
"""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np

PROGRAM = "<check>"  # the file name of a check's program in tracebacks
MOST_NUMBERS = 100_000  # in one value; who checks asks for far fewer


def plain(value: Any) -> Any:
    """A value as JSON has it. What is neither a number, an array nor a text goes as the name of its type."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (list, tuple)) and len(value) <= MOST_NUMBERS:
        return {"list": [plain(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[plain(key), plain(item)] for key, item in value.items()]}
    if isinstance(value, (int, float, np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind in "bfiu" and array.size <= MOST_NUMBERS:
            numbers = [float(number).hex() for number in array.ravel()]  # nan and inf too, to the last digit
            return {"dtype": array.dtype.name, "shape": list(array.shape), "numbers": numbers}
    return {"type": type(value).__name__}


def lively(value: Any) -> Any:
    """The inverse of `plain`: numbers come as NumPy arrays, those without axes as Python's own numbers."""
    if not isinstance(value, dict):
        return value
    if "list" in value:
        return [lively(item) for item in value["list"]]
    if "dict" in value:
        return {lively(key): lively(item) for key, item in value["dict"]}
    if "numbers" in value:
        array = np.array([float.fromhex(number) for number in value["numbers"]])
        array = array.reshape(value["shape"]).astype(value["dtype"])
        return array if array.ndim else array.item()
    return value


def load(source: str, file: str) -> dict[str, Any]:
    """Run the learner's text as a module: its namespace. Raises whatever it raises, SyntaxError among it."""
    namespace: dict[str, Any] = {"__name__": file.removesuffix(".py"), "__builtins__": __builtins__}
    exec(compile(source, file, "exec", dont_inherit=True), namespace)
    return namespace


def run(namespace: dict[str, Any], file: str, program: str, inputs: dict[str, Any], shows: list[str]) -> dict[str, Any]:
    """The answer of one program, which sees the learner's names and the inputs, and leaves both as they were."""
    scope = {**namespace, **inputs}
    values = {}
    try:
        exec(compile(program, PROGRAM, "exec", dont_inherit=True), scope)
        for expression in shows:
            values[expression] = plain(eval(compile(expression, PROGRAM, "eval", dont_inherit=True), scope))
    except Exception as error:
        return {"values": values, "error": failed(error, file)}
    return {"values": values}


def failed(error: BaseException, file: str) -> dict[str, Any]:
    """What is told of an exception: its kind, its message, and the last line of the learner's file on its way."""
    if isinstance(error, SyntaxError) and error.filename == file:
        line, column = error.lineno, error.offset
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        line, column = (frames[-1].lineno, None) if frames else (None, None)
    message = str(error.msg if isinstance(error, SyntaxError) else error)
    return {"kind": type(error).__name__, "message": message[:2000], "line": line, "column": column}
