"""Find one operation in the source of each design, so that two can be read side by side."""

from __future__ import annotations

import inspect
from functools import cache
from textwrap import dedent
from types import FunctionType

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
    names, module = PARTS[part], design.module
    found = {}  # line -> source; names that are assigned together have one line
    for name, member in [*vars(module).items(), *vars(design.node).items()]:
        plain = name.strip("_").lower()
        own = isinstance(member, (type, FunctionType)) and member.__module__ == module.__name__
        if own and (plain in names or plain.removesuffix("backward") in names):
            lines, first = inspect.getsourcelines(member)
            found[first] = dedent("".join(lines))
    return "\n".join(found[line] for line in sorted(found))
