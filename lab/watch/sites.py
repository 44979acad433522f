"""Find the line of the user's own files behind an event."""

import ast
import linecache
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

_LIBRARIES = tuple(
    {
        str(Path(place).resolve()) + "/"
        for place in (*(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),)
    }
)
_WATCH_FOLDER = str(Path(__file__).parent.resolve()) + "/"


class Site(NamedTuple):
    """An instruction in a file: two calls in one line are two sites."""

    file: str
    line: int
    instruction: int = -1


NOWHERE = Site("", 0)


@cache
def is_library(filename: str) -> bool:
    """Tell whether a file is Python's own, installed, generated ("<frozen ...>") or part of this package."""
    if filename.startswith("<"):
        return True
    path = str(Path(filename).resolve())
    return path.startswith((*_LIBRARIES, _WATCH_FOLDER))


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's own code, or None."""
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def outer_frame(depth: int = 1) -> FrameType:
    """Return the innermost frame outside this package."""
    frame = sys._getframe(depth)
    while frame.f_code.co_filename.startswith(_WATCH_FOLDER) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def site(depth: int = 1) -> Site:
    """Return the user's instruction that led here, or NOWHERE."""
    frame = user_frame(sys._getframe(depth))
    return NOWHERE if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def site_outside_methods_of(own: Any) -> Site:
    """Return the user's innermost line outside an object's own methods: where it was made, not its `super()`."""
    frame = next((frame for frame in user_frames() if frame.f_locals.get("self") is not own), None)
    return NOWHERE if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def user_frames() -> list[FrameType]:
    """Return all running frames of the user's code, the innermost first."""
    frames, frame = [], user_frame(sys._getframe(1))
    while frame is not None:
        frames.append(frame)
        frame = user_frame(frame.f_back)
    return frames


def line_in_function(block: Site) -> int:
    """Return the line now running in the function that contains a site; 0 if that function is not running."""
    first = function_start(block.file, block.line)
    return next(
        (
            frame.f_lineno
            for frame in user_frames()
            if frame.f_code.co_filename == block.file and function_start(block.file, frame.f_lineno) == first
        ),
        0,
    )


def caller_of_function() -> Site:
    """Return the user's line that called the running function; NOWHERE if a library did, as for a module's forward."""
    frame = user_frame(sys._getframe(1))
    caller = None if frame is None else frame.f_back
    known = caller is not None and not is_library(caller.f_code.co_filename)
    return Site(caller.f_code.co_filename, caller.f_lineno) if known else NOWHERE  # type: ignore[union-attr]


@cache
def calls_of_decorated(filename: str, line: int) -> frozenset[int]:
    """Return the lines that call the function with a decorator in this line."""
    nodes = list(ast.walk(syntax_tree(filename)))
    names = {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef) and any(decorator.lineno == line for decorator in node.decorator_list)
    }
    return frozenset(node.lineno for node in nodes if isinstance(node, ast.Call) and last_name(node.func) in names)


def call_of_shared(decorator: Site) -> Site:
    """Return the running line that calls a decorated function if other lines call it too, or NOWHERE."""
    calls = calls_of_decorated(decorator.file, decorator.line)
    running = [Site(frame.f_code.co_filename, frame.f_lineno) for frame in user_frames()] if len(calls) > 1 else []
    return next((here for here in running if here.file == decorator.file and here.line in calls), NOWHERE)


def outermost_call_with(tensors: list[Any], made_at: Sequence[int]) -> Site:
    """Return the outermost call that passed all these tensors as arguments, or NOWHERE; `made_at` are the lines that
    made them."""
    chosen = NOWHERE
    frames = user_frames()
    for inner, caller in pairwise(frames):
        code = inner.f_code
        given = [inner.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        first = function_start(code.co_filename, inner.f_lineno)
        own = any(line and function_start(code.co_filename, line) == first for line in made_at)
        if own or not all(any(value is tensor for value in given) for tensor in tensors):
            break
        chosen = Site(caller.f_code.co_filename, caller.f_lineno)
    return chosen


@cache
def syntax_tree(filename: str) -> ast.Module:
    """Parse a file; return an empty module if that fails."""
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ast.Module([], [])


def last_name(node: ast.AST) -> str:
    """Return `x` for x, for a.x and for a["x"]."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else last_name(node.value)
    return ""


@cache
def function_start(filename: str, line: int) -> int:
    """Return the first line of the innermost function that contains a line; 0 for none."""
    inside = [
        node.lineno
        for node in ast.walk(syntax_tree(filename))
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(inside, default=0)


def line_of_argument(filename: str, line: int, name: str) -> int:
    """Return the line of the number passed to a call as argument `name`, also through a variable or a dict, or the
    line of the call."""
    for node in ast.walk(syntax_tree(filename)):
        if isinstance(node, ast.Call) and node.lineno == line:
            for given in node.keywords:
                if given.arg is None:  # **options
                    return line_of_number(filename, name) or line
                if given.arg == name:
                    return (
                        given.value.lineno
                        if is_number(given.value)
                        else (line_of_number(filename, last_name(given.value)) or line)
                    )
            for value in node.args[1:2]:
                return line_of_number(filename, last_name(value)) or line
    return line


def argument_is_quotient(filename: str, line: int, name: str) -> bool:
    """Tell whether a call in a line gets a quotient as argument `name`: `lr=0.1 / k`."""
    return any(
        given.arg == name and isinstance(given.value, ast.BinOp) and isinstance(given.value.op, ast.Div)
        for node in ast.walk(syntax_tree(filename))
        if isinstance(node, ast.Call) and node.lineno == line
        for given in node.keywords
    )


def line_of_dtype(filename: str, line: int) -> int:
    """Return the line that sets the variable passed to a call as its dtype, or the line of the call."""
    for node in ast.walk(syntax_tree(filename)):
        if isinstance(node, ast.Call) and node.lineno == line:
            names = {
                last_name(given.value)
                for given in node.keywords
                if given.arg == "dtype" and isinstance(given.value, ast.Name)
            }
            set_in = [
                other.lineno
                for other in ast.walk(syntax_tree(filename))
                if isinstance(other, ast.Assign) and any(last_name(target) in names for target in other.targets)
            ]
            if len(set_in) == 1:
                return set_in[0]
    return line


def line_that_names(filename: str, line: int, name: str) -> int:
    """Return the only line that names a class or function, or the given line if there is not exactly one."""
    named = {
        node.lineno
        for node in ast.walk(syntax_tree(filename))
        if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node).lower() == name.lower()
    }
    return named.pop() if len(named) == 1 else line


def line_of_attribute(filename: str, read: int) -> int:
    """Return, for `net.hidden.grad` in a line, the only line that sets the attribute `hidden`; 0 if there is none."""
    read_names = {
        node.value.attr
        for node in ast.walk(syntax_tree(filename))
        if isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and node.lineno == read
        and isinstance(node.value, ast.Attribute)
    }
    set_in = {
        node.lineno
        for node in ast.walk(syntax_tree(filename))
        if isinstance(node, ast.Assign)
        and not isinstance(node.value, ast.Constant)
        and any(isinstance(target, ast.Attribute) and target.attr in read_names for target in node.targets)
    }
    return set_in.pop() if len(set_in) == 1 else 0


def names_read_for_grad(filename: str, after: int) -> dict[str, int]:
    """Return the variables whose `.grad` is read in the same function below line `after`, each with the last line
    above it that sets the variable, or 0."""
    function = function_start(filename, after)
    inside = [
        node
        for node in ast.walk(syntax_tree(filename))
        if function_start(filename, getattr(node, "lineno", 0)) == function
    ]
    names = [
        node.value.id
        for node in inside
        if isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and isinstance(node.value, ast.Name)
        and node.lineno > after
    ]
    return {
        name: max(
            (
                node.lineno
                for node in inside
                if isinstance(node, ast.Assign)
                and node.lineno < after
                and any(last_name(target) == name for target in node.targets)
            ),
            default=0,
        )
        for name in names
    }


def line_of_factor(filename: str, line: int) -> int:
    """Return the line that sets the factor by which a gradient is multiplied in a line; 0 if there is none."""
    for node in ast.walk(syntax_tree(filename)):
        if isinstance(node, (ast.AugAssign, ast.Assign, ast.Expr)) and node.lineno == line:
            for part in ast.walk(node.value):
                if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
                    found = line_of_number(filename, last_name(part))
                    if found:
                        return found
    return 0


def line_of_missing_call(filename: str, name: str) -> int:
    """Return the line that names a method as a statement without calling it, `optimizer.step`; 0 if there is none."""
    return next(
        (
            node.lineno
            for node in ast.walk(syntax_tree(filename))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr == name
        ),
        0,
    )


def numbers_named(node: ast.AST, name: str) -> list[int]:
    """Return the lines of the numbers that a node gives to a name: a variable, a key, a default or an option."""
    if isinstance(node, ast.Assign):
        pairs = [(last_name(target), node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        pairs = [(last_name(node.target), node.value)]
    elif isinstance(node, ast.keyword):
        pairs = [(node.arg or "", node.value)]
    elif isinstance(node, ast.Dict):
        pairs = [
            (str(key.value), value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        ]
    elif isinstance(node, ast.arguments):
        pairs = [(arg.arg, value) for arg, value in zip(node.args[::-1], node.defaults[::-1], strict=False)]
    elif isinstance(node, ast.Call) and last_name(node.func) == "add_argument" and node.args:
        option = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
        pairs = [
            (str(option).lstrip("-").replace("-", "_"), given.value)
            for given in node.keywords
            if given.arg == "default"
        ]
    else:
        return []
    return [value.lineno for known, value in pairs if known == name and is_number(value)]


def line_of_number(filename: str, name: str) -> int:
    """Return the only line that gives a name, or a key of a dict, a number; 0 if there is not exactly one."""
    found = {line for node in ast.walk(syntax_tree(filename)) for line in numbers_named(node, name)}
    return found.pop() if len(found) == 1 else 0


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def line_that_fills(filename: str, name: str) -> int:
    """Return the line that appends to a container or stores in it; 0 if there is none."""
    for node in ast.walk(syntax_tree(filename)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            fills = node.func.attr in ("append", "extend", "insert", "add")
            if fills and name_of_container(node.func.value) == name:
                return line_that_hands_in(filename, node) or node.lineno
        elif (isinstance(node, ast.AugAssign) and last_name(node.target) == name) or (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Subscript)
            and last_name(node.targets[0].value) == name
        ):
            return node.lineno
    return 0


def line_that_stores(filename: str, line: int) -> int:
    """Return the line that appends a variable set in the given line of the same function; 0 if there is none."""
    nodes = list(ast.walk(syntax_tree(filename)))
    names = {
        last_name(target)
        for node in nodes
        if isinstance(node, ast.Assign) and node.lineno == line
        for target in node.targets
    }
    return next(
        (
            node.lineno
            for node in nodes
            if isinstance(node, ast.Call)
            and last_name(node.func) == "append"
            and function_start(filename, node.lineno) == function_start(filename, line)
            and any(isinstance(value, ast.Name) and value.id in names for value in node.args)
        ),
        0,
    )


def name_of_container(node: ast.AST) -> str:
    """Return `x` for x, for a.x and for `a.setdefault("x", [])`."""
    if isinstance(node, ast.Call) and last_name(node.func) == "setdefault" and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    return last_name(node)


def line_that_hands_in(filename: str, fill: ast.Call) -> int:
    """Return the only call of the function that fills a container with its arguments alone; 0 if there is none."""
    for node in ast.walk(syntax_tree(filename)):
        if isinstance(node, ast.FunctionDef) and any(part is fill for part in ast.walk(node)):
            given = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)} - {"self"}
            put = {part.id for value in fill.args for part in ast.walk(value) if isinstance(part, ast.Name)}
            calls = [
                call.lineno
                for call in ast.walk(syntax_tree(filename))
                if isinstance(call, ast.Call) and last_name(call.func) == node.name
            ]
            if put and put <= given and len(calls) == 1:
                return calls[0]
    return 0


def line_that_sets(filename: str, name: str) -> int:
    """Return the line that assigns an attribute or variable of this name; 0 if there is none."""
    for node in ast.walk(syntax_tree(filename)):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, (ast.Attribute, ast.Name)) and last_name(target) == name for target in targets):
            return next(target.lineno for target in targets)
    return 0


def steps_conditionally(filename: str, backward: int, step: int) -> bool:
    """Tell whether a loop or function always calls backward() but steps only under an `if`."""
    repeated = [
        node
        for node in ast.walk(syntax_tree(filename))
        if isinstance(node, (ast.For, ast.While, ast.FunctionDef)) and node.lineno <= backward <= (node.end_lineno or 0)
    ]
    if not repeated:
        return False
    inner = max(repeated, key=lambda node: node.lineno)
    tests = [
        node
        for node in ast.walk(inner)
        if isinstance(node, ast.If)
        and node.lineno < step <= (node.end_lineno or 0)
        and not node.lineno <= backward <= (node.end_lineno or 0)
    ]
    return bool(tests)


def loops_over_micro_batches(filename: str, backward: int, step: int) -> bool:
    """Tell whether backward() runs in a loop over parts of a batch, and the step after that loop."""
    loops = [
        node
        for node in ast.walk(syntax_tree(filename))
        if isinstance(node, ast.For) and node.lineno <= backward <= (node.end_lineno or 0)
    ]
    inner = max(loops, key=lambda node: node.lineno, default=None)
    if inner is None or inner.lineno <= step <= (inner.end_lineno or 0):
        return False
    over = ast.unparse(inner.iter)
    return any(word in over.lower() for word in ("chunk", "split", "accum", "micro"))


def stores_in_attribute(filename: str, line: int) -> bool:
    """Tell whether a line is like `self.last = hidden.detach()`: a copy kept to look at; `hidden` stays in use."""
    for node in ast.walk(syntax_tree(filename)):
        if isinstance(node, ast.Assign) and node.lineno == line and isinstance(node.targets[0], ast.Attribute):
            value = node.value
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                return isinstance(value.func.value, ast.Name)
    return False
