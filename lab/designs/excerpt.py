"""Find one operation in the source of each design, so that two can be read side by side."""

from __future__ import annotations

import ast
from functools import cache
from textwrap import dedent

from lab.designs.compare import Design

# Part -> its names in the six files, in small letters without underscores in front and "Backward" at the end.
PARTS = {
    "backward pass": (
        "backward",
        "accumulate",
        "topological_order",
        "function",
        "backwardfunction",
        "columns",
        "gradient",
    ),
    "+": ("add",),
    "-": ("sub",),
    "*": ("mul",),
    "/": ("truediv", "div"),
    "**": ("pow",),
    "@": ("matmul",),
    **{name: (name,) for name in ("neg", "exp", "log", "tanh", "relu", "sum")},
}


@cache  # the files do not change while the lab runs
def excerpt(design: Design, part: str) -> str:
    """Return the source lines of a part of a design, methods without indentation; "" if the design lacks the part.

    Raises KeyError if there is no such part.
    """
    names, source = PARTS[part], design.source
    found: list[ast.stmt] = []
    for statement in ast.parse(source).body:
        if _is_called(statement, names):
            found.append(statement)
        elif isinstance(statement, ast.ClassDef) and statement.name == design.node.__name__:
            found += [inner for inner in statement.body if _is_called(inner, names)]
    lines = source.splitlines()
    return "\n\n".join(dedent("\n".join(lines[one.lineno - 1 : one.end_lineno])) for one in found)


def _is_called(statement: ast.stmt, names: tuple[str, ...]) -> bool:
    if isinstance(statement, ast.Assign):  # several at once: `exp, log = ...`
        found = [node.id for node in ast.walk(statement.targets[0]) if isinstance(node, ast.Name)]
    else:
        found = [statement.name] if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else []
    plain = [name.strip("_").lower() for name in found]
    return any(name in names or name.removesuffix("backward") in names for name in plain)
