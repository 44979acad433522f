"""Write numbers, lists and JSON for readers; read TOML files and Python source. Used by every other room."""

import ast
import inspect
import json
import linecache
import math
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

MINUS = "−"
MAX_PERCENT_DIGITS = 6  # of a share so near to 1 that fewer would make it 100%
MAX_ELEMENTS = 6  # of an array that is shown in a sentence or a table cell


def numeral(number: float) -> str:
    """Format a number for a reader: four significant digits, a real minus sign, "NaN" and "∞".

    The player writes numbers in the same way (static/player/format.js).
    """
    if math.isnan(number):
        return "NaN"
    size = abs(number)
    if math.isinf(number):
        text = "∞"
    elif size >= 1e6 or 0 < size < 1e-4:
        mantissa, exponent = f"{size:.3e}".split("e")
        text = with_minus(f"{float(mantissa):g}e{int(exponent)}")
    else:  # digits before the decimal point are never rounded away
        text = f"{rounded(size):.7g}"
    return f"{MINUS}{text}" if number < 0 else text


def rounded(number: float) -> float:
    """Round a number as `numeral` does."""
    return float(f"{number:.0f}" if 1e4 <= abs(number) < 1e6 else f"{number:.4g}")


def equals(terms: Iterable[float], result: float) -> str:
    """Return the sign before the result of a sum: "=" if the digits that are shown hold, otherwise "≈".

    terms: in the digits shown; the player does the same (static/player/format.js)
    """
    *parts, due = *terms, rounded(result)
    size = sum(map(abs, parts))
    return "=" if math.isclose(sum(parts), due, rel_tol=0, abs_tol=1e-12 * size) else "≈"


def short(number: float | None, digits: int = 3) -> str:
    """Format a number with `digits` significant digits, keeping all before the point: "0.0213", "1234", "−1.2e22"."""
    if number is None or math.isnan(number):
        return "not a number"
    whole = 10**digits <= abs(number) < 1e6
    return numeral(float(f"{number:.0f}" if whole else f"{number:.{digits}g}"))


def percent_text(share: float | None, digits: int = 0) -> str:
    """Format a share with `digits` decimals, or with more where it would be rounded up to 100%: "97%", "99.5%"."""
    if share is None or math.isnan(share):
        return "not a number"
    while digits < MAX_PERCENT_DIGITS and share < 1 and f"{share:.{digits}%}" == f"{1:.{digits}%}":
        digits += 1
    return f"{share:.{digits}%}"


def with_minus(text: str) -> str:
    """Replace each hyphen in a formatted number by a real minus sign."""
    return text.replace("-", MINUS)


def brief(value: Any) -> str:
    """Format a number or an array in a few characters: four significant digits, long arrays shortened."""
    array = np.asarray(value)
    if array.ndim == 0:
        return numeral(float(array))
    text = np.array2string(
        array, separator=", ", threshold=6, edgeitems=2, formatter={"float_kind": lambda number: numeral(float(number))}
    )
    return " ".join(text.split())


def elements(array: np.ndarray | None) -> str:
    """List the first elements of an array in reading order, in brackets unless it is a single number."""
    if array is None:
        return "None"
    shown = [numeral(value) for value in np.ravel(array)[:MAX_ELEMENTS]]
    text = ", ".join(shown) + (", …" if np.size(array) > MAX_ELEMENTS else "")
    return f"[{text}]" if np.ndim(array) else text


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: "1 step", "2 steps", "1,000 steps"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(names: Iterable[str]) -> str:
    """Join names into a list for a sentence: "a", "a and b", "a, b and c"."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def layer_name(name: str) -> str:
    """Write the name that a layer has in the records: "layer1" becomes "layer 1"."""
    return name.replace("layer", "layer ")


def strict_json(value: Any) -> str:
    """Write JSON that every parser accepts: nan and the infinities become the strings "nan", "inf" and "-inf"."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_strict(value), allow_nan=False)


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def read_rows(file: Path) -> dict[str, Any]:
    """Read a TOML file, with tuples in place of lists, for the fields of frozen dataclasses."""
    content: dict[str, Any] = _with_tuples(tomllib.loads(file.read_text(encoding="utf-8")))
    return content


def _with_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_tuples(each) for name, each in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


def syntax_tree(text: str) -> ast.Module:
    """Parse Python source as `ast.parse` does, with its errors, and retry where threads disturb each other.

    Up to Python 3.12, threads that parse at the same time share a depth counter (CPython issue 106905)."""
    for _ in range(4):
        try:
            return ast.parse(text)
        except (SystemError, RecursionError):
            continue
    return ast.parse(text)


def define(text: str, name: str, names: Mapping[str, Any]) -> Any:
    """Run source that the lab has written, and return what it defines under a name. names: those that it may use.

    Traces and `inspect.getsource` find its lines."""
    file, namespace = f"{name}.py", dict(names)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def run_lines(text: str, names: dict[str, Any]) -> None:
    """Run lines that the lab has written, never a visitor's. names: those that they may use; they add their own."""
    exec(text, names)


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """Compute an expression that the lab has written, never a visitor's, from these names."""
    return eval(text, {}, names)


@cache  # the files do not change while the lab runs
def body(function: Callable) -> str:
    """Return the source lines inside a function, without its docstring and the `return` at the end."""
    text = textwrap.dedent(inspect.getsource(function))
    definition = syntax_tree(text).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise TypeError(f"{function} is not a function that was written with def.")
    statements = definition.body
    if isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        statements = statements[1:]
    lines = text.splitlines()
    last = statements[-1].lineno - 1 if isinstance(statements[-1], ast.Return) else len(lines)
    return textwrap.dedent("\n".join(lines[statements[0].lineno - 1 : last])).rstrip() + "\n"
