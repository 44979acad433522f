"""Where in the user's own files something happens."""

import ast
import linecache
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import FrameType
from typing import NamedTuple

_LIBRARIES = tuple(
    {
        str(Path(place).resolve()) + "/"
        for place in (*(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),)
    }
)
_HERE = str(Path(__file__).parent.resolve()) + "/"


class Site(NamedTuple):
    """An instruction of a file: two calls in one line are two sites."""

    file: str
    line: int
    instruction: int = -1


NOWHERE = Site("", 0)


@cache
def is_library(filename: str) -> bool:
    """True if the file is Python's own, installed, made up ("<frozen ...>") or part of this room."""
    if filename.startswith("<"):
        return True
    path = str(Path(filename).resolve())
    return path.startswith((*_LIBRARIES, _HERE))


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's own code."""
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def site(depth: int = 1) -> Site:
    """The user's instruction that led here."""
    frame = user_frame(sys._getframe(depth))
    return NOWHERE if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def user_frames() -> list[FrameType]:
    """All frames of the user's code that are running, the innermost first."""
    frames, frame = [], user_frame(sys._getframe(1))
    while frame is not None:
        frames.append(frame)
        frame = user_frame(frame.f_back)
    return frames


@cache
def tree(filename: str) -> ast.Module:
    """The parsed file; an empty one where it cannot be parsed."""
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ast.Module([], [])


def last_name(node: ast.AST) -> str:
    """`x` of x, of a.x, and of a["x"]."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else last_name(node.value)
    return ""


def line_that_fills(filename: str, name: str) -> int:
    """The line that appends to a container, or stores in it; 0 for none."""
    for node in ast.walk(tree(filename)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            fills = node.func.attr in ("append", "extend", "insert", "add")
            if fills and last_name(node.func.value) == name:
                return node.lineno
        elif (isinstance(node, ast.AugAssign) and last_name(node.target) == name) or (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Subscript)
            and last_name(node.targets[0].value) == name
        ):
            return node.lineno
    return 0


def line_that_sets(filename: str, name: str) -> int:
    """The line that assigns an attribute or a variable of this name; 0 for none."""
    for node in ast.walk(tree(filename)):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, (ast.Attribute, ast.Name)) and last_name(target) == name for target in targets):
            return next(target.lineno for target in targets)
    return 0


def stepped_now_and_then(filename: str, backward: int, step: int) -> bool:
    """True if a loop calls backward() in each turn, and takes the step below an `if` in the same loop."""
    loops = [
        node
        for node in ast.walk(tree(filename))
        if isinstance(node, (ast.For, ast.While)) and node.lineno <= backward <= (node.end_lineno or 0)
    ]
    if not loops:
        return False
    inner = max(loops, key=lambda node: node.lineno)
    tests = [
        node
        for node in ast.walk(inner)
        if isinstance(node, ast.If) and node.lineno < step <= (node.end_lineno or 0)
        and not node.lineno <= backward <= (node.end_lineno or 0)
    ]  # fmt: skip
    return bool(tests)
