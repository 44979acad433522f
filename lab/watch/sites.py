"""Where in the user's own files something happens."""

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


def outside(depth: int = 1) -> FrameType:
    """The innermost frame that is none of this room's."""
    frame = sys._getframe(depth)
    while frame.f_code.co_filename.startswith(_HERE) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def site(depth: int = 1) -> Site:
    """The user's instruction that led here."""
    frame = user_frame(sys._getframe(depth))
    return NOWHERE if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def site_outside(own: Any) -> Site:
    """The user's innermost line that runs in no method of an object: where it was made, not its class's `super()`."""
    frame = next((frame for frame in user_frames() if frame.f_locals.get("self") is not own), None)
    return NOWHERE if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def user_frames() -> list[FrameType]:
    """All frames of the user's code that are running, the innermost first."""
    frames, frame = [], user_frame(sys._getframe(1))
    while frame is not None:
        frames.append(frame)
        frame = user_frame(frame.f_back)
    return frames


def line_in_function(block: Site) -> int:
    """The line that runs now in the function in which a line stands; 0 if that function does not run."""
    first = function_at(block.file, block.line)
    return next(
        (
            frame.f_lineno
            for frame in user_frames()
            if frame.f_code.co_filename == block.file and function_at(block.file, frame.f_lineno) == first
        ),
        0,
    )


def caller_of_function() -> Site:
    """The user's line that called the function which runs; nowhere if a library did, as a module calls its forward."""
    frame = user_frame(sys._getframe(1))
    caller = None if frame is None else frame.f_back
    known = caller is not None and not is_library(caller.f_code.co_filename)
    return Site(caller.f_code.co_filename, caller.f_lineno) if known else NOWHERE  # type: ignore[union-attr]


@cache
def calls_of_decorated(filename: str, line: int) -> frozenset[int]:
    """The lines that call the function which has a decorator in a line."""
    nodes = list(ast.walk(tree(filename)))
    names = {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef) and any(decorator.lineno == line for decorator in node.decorator_list)
    }
    return frozenset(node.lineno for node in nodes if isinstance(node, ast.Call) and last_name(node.func) in names)


def call_of_shared(decorator: Site) -> Site:
    """The running line that calls a decorated function, where other lines call it, too; else nowhere."""
    calls = calls_of_decorated(decorator.file, decorator.line)
    running = [Site(frame.f_code.co_filename, frame.f_lineno) for frame in user_frames()] if len(calls) > 1 else []
    return next((here for here in running if here.file == decorator.file and here.line in calls), NOWHERE)


def handed_in(tensors: list[Any], made_at: Sequence[int]) -> Site:
    """The outermost call that was given all these tensors, which were made in the lines `made_at`: where the function
    that computes with them only got them as arguments."""
    chosen = NOWHERE
    frames = user_frames()
    for inner, caller in pairwise(frames):
        code = inner.f_code
        given = [inner.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        first = function_at(code.co_filename, inner.f_lineno)
        own = any(line and function_at(code.co_filename, line) == first for line in made_at)
        if own or not all(any(value is tensor for value in given) for tensor in tensors):
            break
        chosen = Site(caller.f_code.co_filename, caller.f_lineno)
    return chosen


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


@cache
def function_at(filename: str, line: int) -> int:
    """The first line of the innermost function that a line stands in; 0 for none."""
    inside = [
        node.lineno
        for node in ast.walk(tree(filename))
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(inside, default=0)


def line_of_argument(filename: str, line: int, name: str) -> int:
    """The line of the number that a call is given as the argument `name`, where it stands elsewhere: in a variable, or
    under a key of a dict; else the line of the call."""
    for node in ast.walk(tree(filename)):
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


def given_a_quotient(filename: str, line: int, name: str) -> bool:
    """True if a call in a line is given a quotient as the argument `name`: `lr=0.1 / k`."""
    return any(
        given.arg == name and isinstance(given.value, ast.BinOp) and isinstance(given.value.op, ast.Div)
        for node in ast.walk(tree(filename))
        if isinstance(node, ast.Call) and node.lineno == line
        for given in node.keywords
    )


def line_of_dtype(filename: str, line: int) -> int:
    """The line that gives a name to the dtype which a call is given by that name; else the line of the call."""
    for node in ast.walk(tree(filename)):
        if isinstance(node, ast.Call) and node.lineno == line:
            names = {
                last_name(given.value)
                for given in node.keywords
                if given.arg == "dtype" and isinstance(given.value, ast.Name)
            }
            set_in = [
                other.lineno
                for other in ast.walk(tree(filename))
                if isinstance(other, ast.Assign) and any(last_name(target) in names for target in other.targets)
            ]
            if len(set_in) == 1:
                return set_in[0]
    return line


def line_that_names(filename: str, line: int, name: str) -> int:
    """The one other line that names a class or function, where the line in which it is called does not; else that
    line."""
    named = {
        node.lineno
        for node in ast.walk(tree(filename))
        if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node).lower() == name.lower()
    }
    return named.pop() if len(named) == 1 else line


def line_that_keeps(filename: str, read: int) -> int:
    """For `net.hidden.grad` in a line: the one line that keeps something as the attribute `hidden`; 0 for none."""
    read_names = {
        node.value.attr
        for node in ast.walk(tree(filename))
        if isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and node.lineno == read
        and isinstance(node.value, ast.Attribute)
    }
    kept = {
        node.lineno
        for node in ast.walk(tree(filename))
        if isinstance(node, ast.Assign)
        and not isinstance(node.value, ast.Constant)
        and any(isinstance(target, ast.Attribute) and target.attr in read_names for target in node.targets)
    }
    return kept.pop() if len(kept) == 1 else 0


def names_read_for_grad(filename: str, after: int) -> dict[str, int]:
    """The variables whose `.grad` is read in the same function below a line, with the last line above that sets each;
    0 where there is none."""
    function = function_at(filename, after)
    inside = [
        node for node in ast.walk(tree(filename)) if function_at(filename, getattr(node, "lineno", 0)) == function
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
    """The line of the number that a gradient is multiplied by in a line, under its name; 0 for none."""
    for node in ast.walk(tree(filename)):
        if isinstance(node, (ast.AugAssign, ast.Assign, ast.Expr)) and node.lineno == line:
            for part in ast.walk(node.value):
                if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
                    found = line_of_number(filename, last_name(part))
                    if found:
                        return found
    return 0


def line_with_bare(filename: str, name: str) -> int:
    """The line in which a method is named as a statement, and not called: `optimizer.step`; 0 for none."""
    return next(
        (
            node.lineno
            for node in ast.walk(tree(filename))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr == name
        ),
        0,
    )


def numbers_named(node: ast.AST, name: str) -> list[int]:
    """The lines of the numbers that a piece of code gives to a name: a variable, a key, a default, an option."""
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
    """The one line that gives a name, or a key of a dict, a number; 0 for none, or for several."""
    found = {line for node in ast.walk(tree(filename)) for line in numbers_named(node, name)}
    return found.pop() if len(found) == 1 else 0


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def line_that_fills(filename: str, name: str) -> int:
    """The line that appends to a container, or stores in it; 0 for none."""
    for node in ast.walk(tree(filename)):
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
    """The line that appends what got a name in a line of the same function; 0 for none."""
    nodes = list(ast.walk(tree(filename)))
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
            and function_at(filename, node.lineno) == function_at(filename, line)
            and any(isinstance(value, ast.Name) and value.id in names for value in node.args)
        ),
        0,
    )


def name_of_container(node: ast.AST) -> str:
    """`x` of x, of a.x, and of `a.setdefault("x", [])`."""
    if isinstance(node, ast.Call) and last_name(node.func) == "setdefault" and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    return last_name(node)


def line_that_hands_in(filename: str, fill: ast.Call) -> int:
    """The one line that calls the function in which a container is filled with nothing but arguments; 0 for none."""
    for node in ast.walk(tree(filename)):
        if isinstance(node, ast.FunctionDef) and any(part is fill for part in ast.walk(node)):
            given = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)} - {"self"}
            put = {part.id for value in fill.args for part in ast.walk(value) if isinstance(part, ast.Name)}
            calls = [
                call.lineno
                for call in ast.walk(tree(filename))
                if isinstance(call, ast.Call) and last_name(call.func) == node.name
            ]
            if put and put <= given and len(calls) == 1:
                return calls[0]
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
    """True if a loop, or a function, calls backward() in each turn, and takes the step below an `if` in it."""
    repeated = [
        node
        for node in ast.walk(tree(filename))
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


def micro_batches(filename: str, backward: int, step: int) -> bool:
    """True if backward() stands in a loop over the parts of a batch, and the step behind that loop."""
    loops = [
        node
        for node in ast.walk(tree(filename))
        if isinstance(node, ast.For) and node.lineno <= backward <= (node.end_lineno or 0)
    ]
    inner = max(loops, key=lambda node: node.lineno, default=None)
    if inner is None or inner.lineno <= step <= (inner.end_lineno or 0):
        return False
    over = ast.unparse(inner.iter)
    return any(word in over.lower() for word in ("chunk", "split", "accum", "micro"))


def kept_aside(filename: str, line: int) -> bool:
    """True for `self.last = hidden.detach()`: something that is kept for a look at it, and what it was made of is there
    under another name."""
    for node in ast.walk(tree(filename)):
        if isinstance(node, ast.Assign) and node.lineno == line and isinstance(node.targets[0], ast.Attribute):
            value = node.value
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                return isinstance(value.func.value, ast.Name)
    return False
