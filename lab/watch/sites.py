"""Find the line of the user's own files behind an event."""

import ast
import linecache
import sys
import sysconfig
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

_INSTALLED = frozenset(("site-packages", "dist-packages"))
_LIBRARIES = tuple(
    f"{Path(sysconfig.get_path(name)).resolve()}/" for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_WATCH_FOLDER = str(Path(__file__).parent.resolve()) + "/"
CALL = "<lab.watch>"  # name of the code that calls a function for a line of the script


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
    path = Path(filename).resolve()
    installed = not _INSTALLED.isdisjoint(path.parts)  # also for the user alone, or for the system's Python
    return installed or str(path).startswith((*_LIBRARIES, _WATCH_FOLDER))


def is_ours(code: CodeType) -> bool:
    """Tell whether code belongs to this package, or calls a function for a line of the script."""
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


def outer_frame() -> FrameType:
    """Return the innermost frame outside this package."""
    return outside_us(sys._getframe(1))


def outside_us(frame: FrameType) -> FrameType:
    """Return a frame, or the innermost of its callers outside this package."""
    while is_ours(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def site_of(frame: FrameType | None) -> Site:
    """Return the instruction that a frame runs; NOWHERE for None."""
    return NOWHERE if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def site() -> Site:
    """Return the user's instruction that led here, or NOWHERE."""
    return site_of(user_frame(sys._getframe(1)))


def site_outside_methods_of(own: Any) -> Site:
    """Return the user's innermost line outside an object's own methods: where it was made, not its `super()`."""
    return site_of(next((frame for frame in user_frames() if frame.f_locals.get("self") is not own), None))


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
    if caller is None or is_library(caller.f_code.co_filename):
        return NOWHERE
    return Site(caller.f_code.co_filename, caller.f_lineno)


@cache
def calls_of_decorated(filename: str, line: int) -> frozenset[int]:
    """Return the lines that call the function with a decorator in this line, except those in a no_grad block."""
    blocks = [node for node in nodes_of(filename, ast.With) if "no_grad" in ast.dump(node.items[0])]
    functions = nodes_of(filename, ast.FunctionDef)
    names = {node.name for node in functions if any(part.lineno == line for part in node.decorator_list)}
    return frozenset(call for call in calls_of(filename, names) if not any(covers(block, call) for block in blocks))


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
def nodes_of(filename: str, *kinds: type[ast.AST], line: int = 0) -> list[Any]:
    """Return the nodes of these kinds in a file, breadth first; with `line`, those that begin there."""
    nodes = [node for node in ast.walk(syntax_tree(filename)) if isinstance(node, kinds)]
    return [node for node in nodes if line in (0, getattr(node, "lineno", 0))]


def covers(node: Any, line: int) -> bool:
    return bool(node.lineno <= line <= (node.end_lineno or 0))


def only(lines: Iterable[int], otherwise: int = 0) -> int:
    """Return the only line of several, or the other one if there is not exactly one."""
    found = set(lines)
    return found.pop() if len(found) == 1 else otherwise


def calls_of(filename: str, names: Collection[str]) -> set[int]:
    """Return the lines that call a function with one of these names."""
    return {node.lineno for node in nodes_of(filename, ast.Call) if last_name(node.func) in names}


def assignments_to(filename: str, names: Collection[str]) -> list[Any]:
    """Return the assignments to variables, attributes or keys with one of these names."""
    nodes = nodes_of(filename, ast.Assign)
    return [node for node in nodes if any(last_name(target) in names for target in node.targets)]


@cache
def function_start(filename: str, line: int) -> int:
    """Return the first line of the innermost function that contains a line; 0 for none."""
    functions = nodes_of(filename, ast.FunctionDef, ast.Lambda)
    return max((node.lineno for node in functions if covers(node, line)), default=0)


def line_of_argument(filename: str, line: int, name: str) -> int:
    """Return the line of the number passed to a call as argument `name`, also through a variable or a dict, or the
    line of that argument or of the call."""
    for call in nodes_of(filename, ast.Call, line=line):
        for given in call.keywords:
            if given.arg is None:  # **options
                return line_of_number(filename, name) or line
            if given.arg == name:
                return line_of_number(filename, last_name(given.value)) or given.value.lineno
        for value in call.args[1:2]:
            return line_of_number(filename, last_name(value)) or line
    return line


def argument_is_quotient(filename: str, line: int, name: str) -> bool:
    """Tell whether a call in a line gets a quotient as argument `name`: `lr=0.1 / k`."""
    given = [keyword for call in nodes_of(filename, ast.Call, line=line) for keyword in call.keywords]
    values = [keyword.value for keyword in given if keyword.arg == name]
    return any(isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) for value in values)


def line_of_dtype(filename: str, line: int) -> int:
    """Return the line that sets the variable or default passed to a call as its dtype, or the line of the call."""
    given = [keyword for call in nodes_of(filename, ast.Call, line=line) for keyword in call.keywords]
    names = {last_name(keyword.value) for keyword in given if keyword.arg == "dtype"}
    defaults = [pair for node in nodes_of(filename, ast.arguments) for pair in defaults_of(node)]
    set_in = [value.lineno for name, value in defaults if name in names]
    return only(set_in + [node.lineno for node in assignments_to(filename, names)], line)


def line_that_names(filename: str, line: int, name: str) -> int:
    """Return the only line that names a class or function, or the given line if there is not exactly one."""
    nodes = nodes_of(filename, ast.Name, ast.Attribute)
    return only((node.lineno for node in nodes if last_name(node).lower() == name.lower()), line)


def line_of_attribute(filename: str, read: int) -> int:
    """Return, for `net.hidden.grad` in a line, the only line that sets the attribute `hidden`; 0 if there is none."""
    reads = [node.value for node in nodes_of(filename, ast.Attribute, line=read) if node.attr == "grad"]
    names = {value.attr for value in reads if isinstance(value, ast.Attribute)}
    return only(
        node.lineno
        for node in nodes_of(filename, ast.Assign)
        if not isinstance(node.value, ast.Constant)
        and any(isinstance(target, ast.Attribute) and target.attr in names for target in node.targets)
    )


def names_read_for_grad(filename: str, after: int) -> dict[str, int]:
    """Return the variables whose `.grad` is read in the same function below line `after`, each with the last line
    above it that sets the variable, or 0."""
    start, reads = function_start(filename, after), nodes_of(filename, ast.Attribute)
    below = [node for node in reads if node.lineno > after and function_start(filename, node.lineno) == start]
    names = {node.value.id for node in below if node.attr == "grad" and isinstance(node.value, ast.Name)}
    lines = {name: [node.lineno for node in assignments_to(filename, [name])] for name in names}
    return {
        name: max((line for line in set_in if line < after and function_start(filename, line) == start), default=0)
        for name, set_in in lines.items()
    }


def line_of_factor(filename: str, line: int) -> int:
    """Return the line that sets the factor by which a gradient is multiplied in a line; 0 if there is none."""
    statements = nodes_of(filename, ast.AugAssign, ast.Assign, ast.Expr, line=line)
    names = (last_name(part) for node in statements for part in ast.walk(node.value))
    return next((found for name in names if (found := line_of_number(filename, name))), 0)


def line_of_missing_call(filename: str, name: str) -> int:
    """Return the line that names a method as a statement without calling it, `optimizer.step`; 0 if there is none."""
    values = [node.value for node in nodes_of(filename, ast.Expr)]
    return next((value.lineno for value in values if isinstance(value, ast.Attribute) and value.attr == name), 0)


def defaults_of(arguments: ast.arguments) -> list[tuple[str, ast.expr]]:
    return [(arg.arg, value) for arg, value in zip(arguments.args[::-1], arguments.defaults[::-1], strict=False)]


def numbers_named(node: ast.AST, name: str) -> list[int]:
    """Return the lines of the numbers that a node gives to a name: a variable, a key, a default or an option."""
    if isinstance(node, ast.Assign):
        pairs = [(last_name(target), node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        pairs = [(last_name(node.target), node.value)]
    elif isinstance(node, ast.keyword):
        pairs = [(node.arg or "", node.value)]
    elif isinstance(node, ast.Dict):
        entries = zip(node.keys, node.values, strict=True)
        pairs = [(str(key.value), value) for key, value in entries if isinstance(key, ast.Constant)]
    elif isinstance(node, ast.arguments):
        pairs = defaults_of(node)
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
    return only(line for node in ast.walk(syntax_tree(filename)) for line in numbers_named(node, name) if name)


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def line_that_fills(filename: str, name: str) -> int:
    """Return the line that appends to a container or stores in it; 0 if there is none."""
    for node in nodes_of(filename, ast.Call, ast.AugAssign, ast.Assign):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            fills = node.func.attr in ("append", "extend", "insert", "add")
            if fills and name_of_container(node.func.value) == name:
                return line_that_hands_in(filename, node) or int(node.lineno)
        elif (isinstance(node, ast.AugAssign) and last_name(node.target) == name) or (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Subscript)
            and last_name(node.targets[0].value) == name
        ):
            return int(node.lineno)
    return 0


def line_that_stores(filename: str, line: int) -> int:
    """Return the line that appends a variable set in the given line of the same function; 0 if there is none."""
    names = {last_name(target) for node in nodes_of(filename, ast.Assign, line=line) for target in node.targets}
    calls = [node for node in nodes_of(filename, ast.Call) if last_name(node.func) == "append"]
    same = [node for node in calls if function_start(filename, node.lineno) == function_start(filename, line)]
    return next((node.lineno for node in same if names & names_in(node.args)), 0)


def names_in(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names of the variables in these nodes."""
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def name_of_container(node: ast.AST) -> str:
    """Return `x` for x, for a.x and for `a.setdefault("x", [])`."""
    if isinstance(node, ast.Call) and last_name(node.func) == "setdefault" and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    return last_name(node)


def line_that_hands_in(filename: str, fill: ast.Call) -> int:
    """Return the only call of the function that fills a container with its arguments alone; 0 if there is none."""
    for node in nodes_of(filename, ast.FunctionDef):
        if any(part is fill for part in ast.walk(node)):
            given = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)} - {"self"}
            put, call = names_in(fill.args), only(calls_of(filename, [node.name]))
            if put and put <= given and call:
                return call
    return 0


def line_that_sets(filename: str, name: str) -> int:
    """Return the line that assigns an attribute or variable of this name; 0 if there is none."""
    for node in nodes_of(filename, ast.Assign, ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, (ast.Attribute, ast.Name)) and last_name(target) == name for target in targets):
            return int(targets[0].lineno)
    return 0


def line_that_filters(filename: str, key: str) -> int:
    """Return the first line that gives a key of a dict a list with a condition, also through a variable; 0 if none
    does, or if one list has no condition."""
    given = [value for known, value in entries_of_dicts(filename) if known.value == key]
    lists = [value for value in given if not isinstance(value, ast.Name)]
    names = [value.id for value in given if isinstance(value, ast.Name)]
    lists += [node.value for node in assignments_to(filename, names)]
    tests = [[part for part in ast.walk(value) if isinstance(part, ast.comprehension) and part.ifs] for value in lists]
    return min((parts[0].ifs[0].lineno for parts in tests), default=0) if all(tests) else 0


def entries_of_dicts(filename: str) -> list[tuple[ast.Constant, ast.expr]]:
    """Return the entries of all dict displays whose key is a constant."""
    dicts = nodes_of(filename, ast.Dict)
    entries = [entry for node in dicts for entry in zip(node.keys, node.values, strict=True)]
    return [(key, value) for key, value in entries if isinstance(key, ast.Constant)]


def line_of_choice(filename: str, line: int, name: str) -> int | None:
    """Return the only line that names the key of the table (a dict) that makes a layer in the given line; 0 if there
    are several such lines, None if it is made by no table."""
    entries, here = entries_of_dicts(filename), nodes_of(filename, ast.Name, ast.Attribute, line=line)
    keys = [key for key, value in entries if isinstance(value, ast.Lambda) and covers(value, line)]
    if not any(last_name(node).lower() == name for node in here):
        keys += [key for key, value in entries if last_name(value).lower() == name]
    strings = [node for node in nodes_of(filename, ast.Constant) if keys and node.value == keys[0].value]
    return only(node.lineno for node in strings if node is not keys[0]) if keys else None


def line_of_list(filename: str, *lines: int) -> int:
    """Return the line of the list that makes objects of the different classes with these lines; 0 if there is none."""
    classes = {node.name for node in nodes_of(filename, ast.ClassDef) if any(covers(node, line) for line in lines)}
    for node in nodes_of(filename, ast.List, ast.Tuple) if len(classes) == len(lines) else ():
        if classes <= {last_name(made.func) for made in node.elts if isinstance(made, ast.Call)}:
            return int(node.lineno)
    return 0


def line_of_return(filename: str, start: int) -> int:
    """Return the first line of a function or lambda that returns a value; `start` is its first line."""
    functions = nodes_of(filename, ast.FunctionDef, line=start)
    returns = [part for node in functions for part in ast.walk(node) if isinstance(part, ast.Return)]
    return min((part.lineno for part in returns), default=start)


def line_that_makes(filename: str, name: str) -> int:
    """Return the only line that assigns a name, or the decorator that caches the property; 0 if there is none."""
    functions = [node for node in nodes_of(filename, ast.FunctionDef) if node.name == name]
    cached = [part for node in functions for part in node.decorator_list if "cache" in ast.unparse(part)]
    return only(node.lineno for node in cached + assignments_to(filename, [name]))


def line_next_to(filename: str, line: int, step: int) -> int:
    """Return the only line in the function of the step that calls the function of the given line, or that line."""
    start, outer = function_start(filename, line), function_start(filename, step)
    names = [node.name for node in nodes_of(filename, ast.FunctionDef, line=start) if start not in (0, outer)]
    return only((call for call in calls_of(filename, names) if function_start(filename, call) == outer), line)


@cache
def steps_conditionally(filename: str, backward: int, step: int) -> bool:
    """Tell whether a loop or function always calls backward() but steps only under an `if`."""
    backward = line_next_to(filename, backward, step)
    repeated = [node for node in nodes_of(filename, ast.For, ast.While, ast.FunctionDef) if covers(node, backward)]
    inner = ast.walk(max(repeated, key=lambda node: node.lineno)) if repeated else ()
    tests = [node for node in inner if isinstance(node, ast.If)]
    return any(node.lineno < step and covers(node, step) and not covers(node, backward) for node in tests)


@cache
def loops_over_micro_batches(filename: str, backward: int, step: int) -> bool:
    """Tell whether backward() runs in a loop over parts of a batch, and the step after that loop."""
    backward = line_next_to(filename, backward, step)
    loops = [node for node in nodes_of(filename, ast.For, ast.ListComp, ast.GeneratorExp) if covers(node, backward)]
    inner = max(loops, key=lambda node: node.lineno, default=None)
    if inner is None or covers(inner, step):
        return False
    over = ast.unparse(inner.iter if isinstance(inner, ast.For) else inner.generators[0].iter)
    return any(word in over.lower() for word in ("chunk", "split", "accum", "micro"))


def stores_in_attribute(filename: str, line: int) -> bool:
    """Tell whether a line is like `self.last = hidden.detach()`: a copy kept to look at; `hidden` stays in use."""
    nodes = [node for node in nodes_of(filename, ast.Assign, line=line) if isinstance(node.targets[0], ast.Attribute)]
    calls = [node.value.func for node in nodes if isinstance(node.value, ast.Call)]
    return any(isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) for func in calls)
