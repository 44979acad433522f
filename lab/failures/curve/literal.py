"""Read numbers in nested lists and dicts, as Python and JSON print them, without running anything."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

from lab.text import syntax_tree

MAX_DEPTH = 8
WORDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "true": True}
_BRACKET = re.compile(r"""[\[({]|(?P<closing>[\])}])|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
_ESCAPE = re.compile(r"\\(?!u[0-9a-fA-F]{4}).")  # some of them are none in Python


def read_literal(text: str, at: int) -> tuple[Any, int]:
    """Return what the brackets that open at a place in a text hold, and where they close. Raises ValueError.

    Lists and tuples become lists, a call such as array([0.5]) its first argument, numbers floats, and None or any other
    word None.
    """
    depth = 0
    for found in _BRACKET.finditer(text, at):
        depth += 0 if found[0][0] in "\"'" else -1 if found["closing"] else 1
        if depth == 0 or depth > MAX_DEPTH:
            break
    if depth:
        raise ValueError(f"The bracket at {at} is not closed.")
    try:
        statement = syntax_tree(_ESCAPE.sub("_", text[at : found.end()])).body[0]
        return _value(statement), found.end()
    except (SyntaxError, OverflowError, MemoryError, RecursionError) as error:
        raise ValueError(f"It is no literal: {error}") from error


def _value(node: ast.AST | None) -> Any:
    match node:
        case ast.Expr(value) | ast.Call(args=[value, *_]):
            return _value(value)
        case ast.Constant(bool() | str() as value):
            return value
        case ast.Constant(int() | float() as number):
            return float(number)
        case ast.UnaryOp(op, operand):
            value = _value(operand)
            return -value if isinstance(op, ast.USub) and isinstance(value, float) else value
        case ast.Dict(keys, values):
            return {_name(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            return list(map(_value, items))
        case ast.Name(word) | ast.Attribute(attr=word):
            return WORDS.get(word.lower())
    return None


def _name(key: ast.expr | None) -> str:
    return str(key.value) if isinstance(key, ast.Constant) else ""
