"""Find the line of the user's own files behind an event."""

import ast
import linecache
import sys
import sysconfig
from collections.abc import Collection
from functools import cache
from pathlib import Path
from traceback import walk_stack
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

from lab.trace.recording import ENGINE_FILES

_INSTALLED = frozenset(("site-packages", "dist-packages"))
_LIBRARIES = tuple(
    f"{Path(sysconfig.get_path(name)).resolve()}/" for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_WATCH_FOLDER = str(Path(__file__).parent.resolve()) + "/"
FILLS = frozenset(("append", "extend", "insert", "add", "appendleft"))
CALL = "<lab.watch>"  # name of the code that calls a function for a line of the script


class Site(NamedTuple):
    """An instruction in a file: two calls in one line are two sites."""

    file: str
    line: int
    instruction: int = -1

    def __bool__(self) -> bool:
        return self.line > 0

    @property
    def whole_line(self) -> "Site":
        """The same for all instructions of a line."""
        return Site(self.file, self.line)


NOWHERE = Site("", 0)


@cache
def is_library(filename: str) -> bool:
    """Return whether a file is installed, generated ("<frozen ...>"), Python's, the engine's or this package's."""
    if filename.startswith("<"):
        return True
    path = Path(filename).resolve()
    installed = not _INSTALLED.isdisjoint(path.parts)  # also for the user alone, or for the system's Python
    return installed or filename in ENGINE_FILES or str(path).startswith((*_LIBRARIES, _WATCH_FOLDER))


def is_ours(code: CodeType) -> bool:
    """Return whether code belongs to this package, or calls a function for a line of the script."""
    return code.co_name == CALL or code.co_filename.startswith(_WATCH_FOLDER)


def without_us(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package that begin it."""
    while trace is not None and is_ours(trace.tb_frame.f_code):
        trace = trace.tb_next
    return trace


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's own code, or None."""
    while frame is not None and (frame.f_code.co_name == CALL or is_library(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame


def script_frame() -> FrameType | None:
    """Return the innermost frame of the user's own code that led here, or None."""
    return user_frame(sys._getframe(1))


def outer_frame(frame: FrameType | None = None) -> FrameType:
    """Return the innermost frame outside this package that led to a frame, or here."""
    frame = frame or sys._getframe(1)
    while is_ours(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def site_of(frame: FrameType | None) -> Site:
    """Return the instruction that a frame runs; NOWHERE for None."""
    return NOWHERE if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def site() -> Site:
    """Return the user's instruction that led here, or NOWHERE."""
    return site_of(script_frame())


def user_frames() -> list[FrameType]:
    """Return all running frames of the user's code, the innermost first."""
    frames = (frame for frame, _ in walk_stack(sys._getframe(1)) if frame.f_code.co_name != CALL)
    return [frame for frame in frames if not is_library(frame.f_code.co_filename)]


@cache
def in_attribute_list(where: Site) -> bool:
    """Return whether an instruction is in a list or dict that becomes an attribute."""
    assigned = (node for node in ast.walk(syntax_tree(where.file)) if isinstance(node, ast.Assign))
    boxes = (one for one in assigned if isinstance(one.value, ast.List | ast.ListComp | ast.Dict | ast.DictComp))
    held = (one for one in boxes if isinstance(one.targets[0], ast.Attribute))
    return any(one.lineno <= where.line <= (one.end_lineno or 0) for one in held)


@cache
def syntax_tree(filename: str) -> ast.Module:
    """Parse a file; return an empty module if that fails."""
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ast.Module([], [])


@cache
def nodes_of(filename: str, *kinds: type[ast.AST], line: int = 0) -> list[Any]:
    """Return the nodes of these kinds in a file, breadth first; with `line`, those that begin there."""
    nodes = [node for node in ast.walk(syntax_tree(filename)) if isinstance(node, kinds)]
    return [node for node in nodes if line in (0, getattr(node, "lineno", 0))]


def last_name(node: ast.AST) -> str:
    """Return `x` for x, for a.x and for a["x"]."""
    if isinstance(node, ast.Subscript):
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else last_name(node.value)
    return str(getattr(node, "id", getattr(node, "attr", "")))


def names_in(*nodes: ast.AST) -> set[str]:
    """Return the variables, attributes and constant keys in some expressions."""
    parts = [part for node in nodes for part in ast.walk(node)]
    return {str(part.value) if isinstance(part, ast.Constant) else last_name(part) for part in parts} - {""}


def line_that_sets(filename: str, name: str) -> int:
    """Return the only line that gives a variable, attribute or default of this name a constant; 0 if none or more."""
    given = [(last_name(to), node.value) for node in nodes_of(filename, ast.Assign) for to in node.targets]
    given += [(last_name(node.target), node.value) for node in nodes_of(filename, ast.AnnAssign)]
    for node in nodes_of(filename, ast.arguments):
        given += [(arg.arg, value) for arg, value in zip(node.args[::-1], node.defaults[::-1], strict=False)]
    values = [value for to, value in given if to == name]
    lines = {value.lineno if isinstance(value, ast.Constant | ast.Attribute) else 0 for value in values}
    return lines.pop() if len(lines) == 1 else 0


def site_of_argument(call: Site, name: str, place: int = -1) -> Site:
    """Return the line that sets the variable passed to a call as an argument, or the line of the argument."""
    for node in nodes_of(call.file, ast.Call, line=call.line):
        given = [keyword.value for keyword in node.keywords if keyword.arg == name]
        given += node.args[place : place + 1] if place >= 0 else []
        if given:
            return Site(call.file, line_that_sets(call.file, last_name(given[0])) or int(given[0].lineno))
    return call.whole_line


def line_has_quotient(here: Site) -> bool:
    """Return whether a call in a line gets a quotient by name: `lr=0.1 / k`."""
    given = [keyword.value for call in nodes_of(here.file, ast.Call, line=here.line) for keyword in call.keywords]
    return any(isinstance(getattr(value, "op", None), ast.Div) for value in given)


def site_that_keeps(made: Site, holders: Collection[str] = ()) -> Site:
    """Return the line that puts the variable set in a line into a container, else one that fills a `holder`, else
    NOWHERE."""
    names = {last_name(target) for node in nodes_of(made.file, ast.Assign, line=made.line) for target in node.targets}
    fills = [node for node in nodes_of(made.file, ast.Call) if getattr(node.func, "attr", "") in FILLS]
    lines = [call.lineno for call in fills if names & names_in(*call.args)]
    lines += [call.lineno for call in fills if not names_in(call.func.value).isdisjoint(holders)]
    return Site(made.file, lines[0]) if lines else NOWHERE


@cache
def steps_conditionally(backward: Site, step: Site) -> bool:
    """Return whether a loop or function always calls backward() but steps only under an `if`."""

    def covers(node: Any, here: Site) -> bool:
        return bool(node.lineno <= here.line <= node.end_lineno)

    repeated = [node for node in nodes_of(backward.file, ast.For, ast.While, ast.FunctionDef) if covers(node, backward)]
    inner = ast.walk(max(repeated, key=lambda node: node.lineno)) if repeated else ()
    tests = [node for node in inner if isinstance(node, ast.If)]
    return any(node.lineno < step.line and covers(node, step) and not covers(node, backward) for node in tests)
