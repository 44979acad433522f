"""A learner's text, such as `h = a*b` and then `(h + c).relu()`, as a function of Tensors.

    text  --Source, ast.parse-->  Python's syntax tree  --_Builder-->  parts  -->  Expression

The text is never run as Python. `ast.parse` only takes it apart; `_Builder` has one method for each kind of syntax that
the language has, and what is not in the tables below is refused with an ExpressionError. Each accepted piece becomes
a `Part`: a closure that computes it with the engine, and the same piece as Python for a script.

The language: lines (or `;`) of `name = value`; the last line may be a value alone. Values are made of + - * / ** @, the
functions and methods below, `.T`, elements `x[0, 1:]` and lists `[1, [2, a]]`. A name that no line defines is a free
name: a leaf. The only constant is `pi`; `e` is a name like any other, because a lesson may want it as one. Numbers are
floats. What contains no name is computed while parsing and is a constant. inf and nan are values, not errors.
"""

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np

from lab.expression.language import (
    COMPARISONS,
    CONSTANTS,
    FUNCTIONS,
    INSTEAD,
    MAX_AXES,
    MAX_DEPTH,
    MAX_NAME,
    MAX_NAMES,
    MAX_NODES,
    MAX_SIZE,
    MAX_TEXT,
    MAX_WHOLE,
    MAX_WORK,
    METHODS,
    OF_TWO,
    OPERATORS,
    PROPERTIES,
    REFUSED,
)
from lab.expression.source import ExpressionError, Source
from model import Tensor, stack


class Expression:
    """What `parse` returns. Call it with a value for each of its names: numbers, arrays or Tensors.

    names        the free names, in order of appearance
    text         what the learner typed
    result_name  the name that the result has in `to_python()`
    """

    def __init__(self, builder: "_Builder", lines: list[tuple[str, "Part"]]) -> None:
        self.text = builder.source.text
        self.names = list(builder.free)
        self.result_name = lines[-1][0] or "result"
        while self.result_name in builder.free or (not lines[-1][0] and self.result_name in builder.assigned):
            self.result_name += "_"
        self._source, self._free, self._lines = builder.source, builder.free, lines

    def __call__(self, /, **values: Any) -> Tensor:  # `/`: a learner may call a leaf `self`
        """The value of the last line. Leaves and named lines without a label get their name as label.

        ExpressionError: a value is missing, is not numeric or has no elements; shapes do not fit; too much work.
        """
        for name in values:
            if name not in self._free:
                names = ", ".join(self.names)
                raise self._source.error(f"There is no `{name}` in the expression; its names are {names}.")
        run = _Run(self._source)
        with np.errstate(all="ignore"):
            for name, place in self._free.items():
                if name not in values:
                    raise self._source.error(f"`{name}` has no value yet.", *place)
                run.values[name] = _labelled(run.leaf(name, values[name], place), name)
            for name, part in self._lines:
                result = run.values[name] = _labelled(part.value(run), name)
        return result

    def to_python(self, /, **values: Any) -> str:
        """The expression as Python over Tensor, ending in `<result_name> = ...`.

        With values for the names, a line for each leaf stands before it, and the whole runs as a script.
        """
        run = _Run(self._source)
        lines = []
        for name, place in self._free.items():
            if name in values:
                value = _literal(run.leaf(name, values[name], place).numpy())
                lines.append(f'{name} = Tensor({ast.unparse(value)}, label="{name}")')
        lines += [f"{name or self.result_name} = {ast.unparse(part.python)}" for name, part in self._lines]
        body = "\n".join(lines)
        numpy = "import numpy as np\n\n" if re.search(r"\bnp\.", body) else ""
        used = sorted(FUNCTIONS.keys() & set(re.findall(r"\w+(?=\()", body)))
        return f"{numpy}from model import {', '.join(['Tensor', *used])}\n\n{body}\n"

    def __reduce__(self) -> tuple:
        return parse, (self.text,)  # closures cannot be pickled, their text can


def parse(text: str) -> Expression:
    """Check a learner's text and turn it into an Expression. ExpressionError: it will not do, and why, and where."""
    if not isinstance(text, str):
        raise ExpressionError("An expression is a text, such as `a*b + c`.")
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"The text is too long: {MAX_TEXT} characters at most.")
    source = Source(text)
    source.check_characters()
    tree = _syntax_tree(source)
    if not tree.body:
        raise source.error("Type an expression, for example `(a*b + c).relu()`.")
    _check_extent(source, tree)
    builder = _Builder(source)
    with np.errstate(all="ignore"):
        lines = [builder.line(statement, statement is tree.body[-1]) for statement in tree.body]
    result = lines[-1][1]
    if not result.differentiable:
        message = "The result does not depend on any name, so there is no gradient to find: use one, such as `a`."
        source.refuse(message, tree.body[-1])
    if builder.is_leaf(result):
        source.refuse("A name alone is nothing to differentiate: compute something with it.", tree.body[-1])
    return Expression(builder, lines)


def _syntax_tree(source: Source) -> ast.Module:
    for _ in range(5):
        try:
            return ast.parse("\n".join(source.lines))
        except SyntaxError as error:
            raise source.syntax_error(error) from None
        except (ValueError, MemoryError):
            break
        except (SystemError, RecursionError):
            # Up to Python 3.12, threads that parse at the same time disturb each other's count of the depth
            # (CPython issue 106905), and every visitor's page runs in a thread. A second attempt is a new count.
            continue
    raise source.error("Python cannot read this text: try a shorter one.")


def _check_extent(source: Source, tree: ast.Module) -> None:
    """Refuse what is too large or too deep, before anything recursive looks at it."""
    count, pending = 0, [(statement, 0) for statement in reversed(tree.body)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, ast.expr):
            count, depth = count + 1, depth + 1
            if count > MAX_NODES:
                source.refuse(f"The expression is too long: {MAX_NODES} values and operations at most.", node)
            if depth > MAX_DEPTH:
                message = (
                    f"This is nested too deeply, {MAX_DEPTH} levels at most: give a part a line and a name of its own."
                )
                source.refuse(message, node)
        pending += [(child, depth) for child in ast.iter_child_nodes(node)][::-1]


# ------------------------------------------------------------------------------------------ values


class _Run:
    """One evaluation: the values of the names so far, and the work done."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.values: dict[str, Any] = {}
        self.work = 0

    def leaf(self, name: str, value: Any, place: tuple[int, int]) -> Tensor:
        try:
            shape = np.shape(value)
            if not 0 < math.prod(shape) <= MAX_SIZE or len(shape) > MAX_AXES:
                raise ValueError(f"It has shape {shape}: 1 to {MAX_SIZE:,} elements and {MAX_AXES} axes are possible")
            return value if isinstance(value, Tensor) else Tensor(value)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise self.source.error(f"The value of `{name}` cannot be used. {_sentence(error)}", *place) from error

    def apply(self, node: ast.AST, function: Callable, operands: Sequence[Any], cost: Callable) -> Any:
        """function(*operands), if it is not too large: a Tensor if one of the operands is, else a number or array."""
        try:
            size, work = cost(*[np.shape(operand) for operand in operands])
        except (ValueError, RuntimeError):
            size = work = 0  # the shapes do not fit, or have too many axes: the engine will say it better
        self.work += max(size, work)
        if size > MAX_SIZE:
            self.source.refuse(f"This would have {size:,} elements; {MAX_SIZE:,} at most.", node)
        if self.work > MAX_WORK:
            self.source.refuse("This is too much work for one expression: use smaller arrays or fewer lines.", node)
        constant = not any(isinstance(operand, Tensor) for operand in operands)
        try:
            result = function(*(Tensor(x, requires_grad=False) for x in operands)) if constant else function(*operands)
        except (ValueError, TypeError, IndexError, ArithmeticError) as error:
            raise self.source.error(_sentence(error), *self.source.place(node)) from error
        if result.size == 0:
            self.source.refuse(f"Nothing is left here: the result has shape {result.shape}.", node)
        if result.ndim > MAX_AXES:
            self.source.refuse(f"This would have {result.ndim} axes; {MAX_AXES} at most.", node)
        return _plain(result) if constant else result


def _labelled(value: Any, name: str) -> Any:
    if isinstance(value, Tensor) and not value.label:
        value.label = name
    return value


def _plain(value: Any) -> Any:
    """A number or array, from a tensor or array that needs no gradient."""
    array = value.numpy() if isinstance(value, Tensor) else value
    return array if array.ndim else array.item()


def _sentence(error: Exception) -> str:
    """The engine's errors are sentences; NumPy's nearly are."""
    text = str(error).strip().rstrip(".")
    named = text.split(" ")[0] in METHODS | FUNCTIONS
    return f"{text if named else text[:1].upper() + text[1:]}."


def _elementwise(*shapes: tuple[int, ...]) -> tuple[int, int]:
    size = math.prod(np.broadcast_shapes(*shapes))
    return size, size


def _matmul(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, int]:
    if not a or not b:
        return 0, 0
    size = math.prod((*np.broadcast_shapes(a[:-2], b[:-2]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ())))
    return size, size * a[-1]


def _joined(*shapes: tuple[int, ...]) -> tuple[int, int]:
    size = sum(math.prod(shape) for shape in shapes)
    return size, size


def _stacked(*elements: Any) -> Tensor:
    """A list as the learner wrote it: its elements along a new first axis."""
    shapes = [np.shape(element) for element in elements]
    if len(set(shapes)) > 1:
        listed = ", ".join(map(str, dict.fromkeys(shapes)))
        raise ValueError(f"The elements of a list must have one shape, but these have shapes {listed}")
    return stack(elements)


def _literal(value: Any) -> ast.expr:
    """A constant as Python source."""
    if isinstance(value, np.ndarray):
        rows = _literal(value.tolist())
        return ast.Call(ast.Attribute(ast.Name("np"), "array"), [rows], []) if value.ndim else rows
    if isinstance(value, list):
        return ast.List([_literal(row) for row in value])
    if not isinstance(value, float):
        return ast.Constant(value)
    if math.isnan(value):
        return ast.Attribute(ast.Name("np"), "nan")
    if math.copysign(1.0, value) < 0:  # not Constant(-2), which would lose its brackets in (-2)**x
        return ast.UnaryOp(ast.USub(), _literal(-value))
    if value == math.inf:
        return ast.Attribute(ast.Name("np"), "inf")
    return ast.Constant(int(value) if value.is_integer() and 0 < value < 1e15 else value)


# ------------------------------------------------------------------------------------------ from syntax to parts


@dataclass(frozen=True)
class Part:
    """An accepted piece of an expression."""

    value: Callable[[_Run], Any]  # computes it: a Tensor, or a number or array if no gradient can flow through it
    python: ast.expr  # the same over Tensor, for a script
    constant: bool  # contains no free name
    differentiable: bool  # a gradient can flow through it to a free name


class _Builder:
    """Turns syntax into parts and refuses the rest. It knows the names: `free` with their places, and `assigned`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.free: dict[str, tuple[int, int]] = {}
        self.assigned: dict[str, Part] = {}

    def line(self, node: ast.stmt, last: bool) -> tuple[str, Part]:
        if isinstance(node, ast.Expr):
            part = self.part(node.value)
            if not last:
                self.source.refuse("The value of this line is not used: give it a name, as in `h = a*b`.", node)
            return "", part
        if not isinstance(node, ast.Assign):
            self.refuse(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Name):
            self.source.refuse("A line gives a value to one name, as in `h = a*b`.", target)
        part, name = self.part(node.value), target.id
        self.check_name(name, target)
        if name in self.assigned:
            self.source.refuse(f"`{name}` has a value already: choose another name for this one.", target)
        if name in self.free:
            raise self.source.error(
                f"`{name}` is used here, before line {node.lineno} gives it a value: choose another name for it.",
                *self.free[name],
            )
        self.assigned[name] = part
        return name, part

    def part(self, node: ast.expr) -> Part:
        """The only way in: a kind of syntax that is not in `_PARTS` is refused."""
        if type(node) not in _PARTS:
            self.refuse(node)
        part = _PARTS[type(node)](self, node)
        if not part.constant or isinstance(node, (ast.Name, ast.Constant)):
            return part
        value = part.value(_Run(self.source))  # what contains no name is computed now
        if np.size(value) > MAX_NODES:
            self.source.refuse(f"A constant has {MAX_NODES} elements at most: use a name, and give that a value.", node)
        return Part(lambda run: value, _literal(value), constant=True, differentiable=False)

    def operation(
        self,
        node: ast.expr,
        function: Callable,
        parts: Sequence[Part],
        python: ast.expr,
        cost: Callable = _elementwise,
    ) -> Part:
        def value(run: _Run) -> Any:
            return run.apply(node, function, [part.value(run) for part in parts], cost)

        constant, differentiable = all(p.constant for p in parts), any(p.differentiable for p in parts)
        return Part(value, python, constant, differentiable)

    def refuse(self, node: ast.AST) -> NoReturn:
        kind = type(node)
        self.source.refuse(REFUSED.get(kind, f"This kind of Python ({kind.__name__}) is not used here."), node)

    def is_leaf(self, part: Part) -> bool:
        node = part.python
        while isinstance(node, ast.Name) and node.id in self.assigned:
            node = self.assigned[node.id].python
        return isinstance(node, ast.Name)

    # -- one method per kind of syntax

    def constant(self, node: ast.Constant) -> Part:
        if type(node.value) not in (int, float):
            self.source.refuse(f"`{node.value}` is not a number.", node)
        try:
            number = float(node.value)
        except OverflowError:
            self.source.refuse("This whole number is too large: write one such as `1e30`.", node)
        return Part(lambda run: number, node, True, False)

    def name(self, node: ast.Name) -> Part:
        name = node.id
        if name in CONSTANTS:
            return Part(lambda run: CONSTANTS[name], _literal(CONSTANTS[name]), True, False)
        if name in self.assigned:
            part = self.assigned[name]
            value = part.value if part.constant else lambda run: run.values[name]
            return Part(value, node, part.constant, part.differentiable)
        self.check_name(name, node)
        self.free.setdefault(name, self.source.place(node))
        if len(self.free) > MAX_NAMES:
            self.source.refuse(f"Too many names without a value: {MAX_NAMES} at most.", node)
        return Part(lambda run: run.values[name], node, False, True)

    def check_name(self, name: str, node: ast.AST) -> None:
        if name in METHODS or name in FUNCTIONS:
            self.source.refuse(f"`{name}` is a function: write `{name}(...)`, or choose another name.", node)
        if name in CONSTANTS:
            self.source.refuse(f"`{name}` has a value already: choose another name.", node)
        if len(name) > MAX_NAME or name.startswith("_"):
            self.source.refuse(f"A name starts with a letter and has {MAX_NAME} characters at most.", node)

    def unary(self, node: ast.UnaryOp) -> Part:
        part = self.part(node.operand)
        if isinstance(node.op, ast.UAdd):
            return part
        if not isinstance(node.op, ast.USub):
            self.source.refuse("Only `+` and `-` can stand before a value.", node)
        return self.operation(node, operator.neg, [part], ast.UnaryOp(node.op, part.python))

    def binary(self, node: ast.BinOp) -> Part:
        if type(node.op) not in OPERATORS:
            self.source.refuse(REFUSED.get(type(node.op), "Values are combined by + - * / ** and @."), node)
        left, right = self.part(node.left), self.part(node.right)
        cost = _matmul if isinstance(node.op, ast.MatMult) else _elementwise
        python = ast.BinOp(left.python, node.op, right.python)
        return self.operation(node, OPERATORS[type(node.op)], [left, right], python, cost)

    def transposed(self, node: ast.Attribute) -> Part:
        if node.attr not in PROPERTIES:
            raise self.unknown(node)
        part = self.part(node.value)
        return self.operation(node, PROPERTIES[node.attr], [part], ast.Attribute(part.python, node.attr))

    def element(self, node: ast.Subscript) -> Part:
        part, index = self.part(node.value), self.index(node.slice)
        return self.operation(node, lambda x: x[index], [part], ast.Subscript(part.python, node.slice))

    def vector(self, node: ast.List) -> Part:
        parts = self.parts(node)
        python = ast.Call(ast.Name("stack"), [ast.List([part.python for part in parts])], [])
        return self.operation(node, _stacked, parts, python, _joined)

    def call(self, node: ast.Call) -> Part:
        """A function, f(x, axis=0), or a method, x.f(axis=0). Only names in METHODS and FUNCTIONS reach the engine."""
        if isinstance(node.func, ast.Attribute):
            name, arguments, known = node.func.attr, [node.func.value, *node.args], METHODS
        elif isinstance(node.func, ast.Name):
            name, arguments, known = node.func.id, node.args, METHODS | FUNCTIONS
            name = OF_TWO.get(name, name) if len(arguments) > 1 else name
        else:
            self.source.refuse("A sign is missing before the bracket: to multiply, write `*`.", node)
        if name not in known:
            raise self.unknown(node.func)
        function, signature = FUNCTIONS.get(name, (None, f"x:value {METHODS.get(name)}"))

        parts, operands, wholes, options = [], [], [], {}  # operands: `parts` as Python
        for parameter, kind, argument in self.bound(node, name, signature, arguments):
            if kind == "values":
                parts = self.parts(argument)
                operands = [ast.List([part.python for part in parts])]
            elif kind in _OPERANDS:
                parts.append(_OPERANDS[kind](self, argument))
                operands.append(parts[-1].python)
            elif kind == "wholes":
                wholes = self.wholes(argument)
            else:
                options[parameter] = _OPTIONS[kind](self, argument)

        keywords = [ast.keyword(parameter, _literal(value)) for parameter, value in options.items()]
        if function:
            python = ast.Call(ast.Name(name), operands, keywords)
            return self.operation(node, partial(function, **options), parts, python, _COSTS.get(name, _elementwise))
        python = ast.Call(ast.Attribute(operands[0], name), [_literal(n) for n in wholes], keywords)
        cost = partial(_elementwise, tuple(wholes)) if name == "broadcast_to" else _elementwise
        return self.operation(node, operator.methodcaller(name, *wholes, **options), parts, python, cost)

    def bound(
        self, node: ast.Call, name: str, signature: str, arguments: Sequence[ast.expr]
    ) -> list[tuple[str, str, ast.expr]]:
        """The parameters that were given: name, kind and argument of each."""
        kinds = dict(word.split(":") for word in signature.split())
        usage = f"`{name}({', '.join(kinds)})`"
        if len(arguments) > len(kinds) and list(kinds.values())[-1].startswith("wholes"):  # reshape(x, 2, 3)
            last = len(kinds) - 1
            arguments = [*arguments[:last], ast.Tuple(arguments[last:])]
        if len(arguments) > len(kinds):
            self.source.refuse(f"Too many values in the brackets: it is {usage}.", arguments[len(kinds)])
        given = dict(zip(kinds, arguments, strict=False))
        for word in node.keywords:
            if word.arg not in kinds or word.arg in given:
                self.source.refuse(f"`{word.arg or '**'}` cannot be given here: it is {usage}.", word)
            given[word.arg] = word.value
        for parameter, kind in kinds.items():
            if parameter not in given and not kind.endswith("?"):
                self.source.refuse(f"`{parameter}` is missing: it is {usage}.", node)
        return [
            (parameter, kind.rstrip("?"), given[parameter]) for parameter, kind in kinds.items() if parameter in given
        ]

    def unknown(self, node: ast.Name | ast.Attribute) -> ExpressionError:
        """Neither a function (a Name) nor a method or property (an Attribute): what may have been meant."""
        function = isinstance(node, ast.Name)
        name, known = (node.id, METHODS | FUNCTIONS) if function else (node.attr, METHODS | PROPERTIES)
        place = self.source.place(node) if function else self.source.place_of_last(node, name)
        if name in METHODS:
            return self.source.error(f"`{name}` is a function: write `.{name}()`, with brackets.", *place)
        if name in PROPERTIES:
            return self.source.error(f"`{name}` takes no brackets: write `.{name}`.", *place)
        message = f"There is no function `{name}`." if function else f"A value has no `{name}` here."
        close = difflib.get_close_matches(name, known, 1)
        if name in INSTEAD:
            message += f" Write `{INSTEAD[name]}`."
        elif close:
            message += f" Did you mean `{close[0]}`?"
        if function and (len(name) == 1 or name in self.assigned):
            message += f" To multiply, write `{name}*(...)`."
        return self.source.error(message, *place)

    # -- arguments that are written out, not computed: they never depend on a name

    def whole(self, node: ast.expr) -> int:
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        digits = node.operand if negative else node
        if not isinstance(digits, ast.Constant) or type(digits.value) is not int or digits.value > MAX_WHOLE:
            self.source.refuse(f"Write a whole number here, such as 0 or -1, of at most {MAX_WHOLE:,}.", node)
        return -digits.value if negative else digits.value

    def wholes(self, node: ast.expr) -> tuple[int, ...]:
        return tuple(self.whole(n) for n in (node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]))

    def axis(self, node: ast.expr) -> int | tuple[int, ...] | None:
        if isinstance(node, ast.Constant) and node.value is None:
            return None
        return self.wholes(node) if isinstance(node, ast.Tuple) else self.whole(node)

    def flag(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, bool):
            self.source.refuse("Write `True` or `False` here.", node)
        return node.value

    def number(self, node: ast.expr) -> float:
        part = self.part(node)
        value = part.value(_Run(self.source)) if part.constant else None
        if not isinstance(value, float):
            self.source.refuse("Write a number here: it cannot depend on a name.", node)
        return value

    def index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(self.index(element) for element in node.elts)
        if isinstance(node, ast.Slice):
            return slice(*(end and self.whole(end) for end in (node.lower, node.upper, node.step)))
        if isinstance(node, ast.Constant) and node.value in (None, ...):
            return node.value
        return self.whole(node)

    # -- arguments that are computed

    def parts(self, node: ast.expr) -> list[Part]:
        if not isinstance(node, (ast.List, ast.Tuple)) or not node.elts:
            self.source.refuse("Write a list of at least one value here, as in `[a, b]`.", node)
        return [self.part(element) for element in node.elts]

    def condition(self, node: ast.expr) -> Part:
        if not isinstance(node, ast.Compare):
            self.source.refuse("The first value of `where` is a comparison, such as `a > 0`.", node)
        if len(node.ops) > 1 or type(node.ops[0]) not in COMPARISONS:
            self.source.refuse("Compare two values at a time, as in `a > 0`.", node)
        left, right = self.part(node.left), self.part(node.comparators[0])
        python = ast.Compare(left.python, node.ops, [right.python])
        part = self.operation(node, COMPARISONS[type(node.ops[0])], [left, right], python)
        return replace(part, differentiable=False)

    def prediction(self, node: ast.expr) -> Part:
        part = self.part(node)
        if not part.differentiable:
            self.source.refuse("The first value of a loss is the prediction: it must depend on a name.", node)
        return part


# The whitelist: each kind of syntax that can be a value, and the method that checks it.
_PARTS = {
    ast.Constant: _Builder.constant,
    ast.Name: _Builder.name,
    ast.UnaryOp: _Builder.unary,
    ast.BinOp: _Builder.binary,
    ast.Attribute: _Builder.transposed,
    ast.Subscript: _Builder.element,
    ast.List: _Builder.vector,
    ast.Call: _Builder.call,
}
_OPERANDS = {"value": _Builder.part, "condition": _Builder.condition, "prediction": _Builder.prediction}
_OPTIONS = {
    "axis": _Builder.axis,
    "flag": _Builder.flag,
    "labels": _Builder.wholes,
    "number": _Builder.number,
    "whole": _Builder.whole,
}
_COSTS = {"concatenate": _joined, "stack": _joined}
