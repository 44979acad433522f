"""Find one operation in the source of each design, so that two can be read side by side."""

from __future__ import annotations

import ast
from functools import cache
from textwrap import dedent

from lab.designs.compare import Design

# Part -> its names in the six files: methods of the node's class, classes and functions.
PARTS = {
    "backward pass": (
        "backward",
        "_accumulate",
        "topological_order",
        "Function",
        "BackwardFunction",
        "columns",
        "gradient",
    ),
    "+": ("__add__", "Add", "AddBackward"),
    "-": ("__sub__", "Sub", "SubBackward"),
    "*": ("__mul__", "Mul", "MulBackward"),
    "/": ("__truediv__", "Div", "DivBackward"),
    "**": ("__pow__", "Pow", "PowBackward"),
    "neg": ("__neg__", "NegBackward"),
    "@": ("__matmul__", "MatMul", "MatMulBackward", "matmul"),
    "exp": ("exp", "Exp", "ExpBackward"),
    "log": ("log", "Log", "LogBackward"),
    "tanh": ("tanh", "Tanh", "TanhBackward"),
    "relu": ("relu", "ReLU", "ReLUBackward"),
    "sum": ("sum", "Sum", "SumBackward"),
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
        return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(statement.targets[0]))
    return isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and statement.name in names
