"""Parse a learner's text, such as `h = a*b` and then `(h + c).relu()`, into a function of Tensors.

    text  --Source, ast.parse-->  Python's syntax tree  --_Builder-->  parts  -->  Expression

The text is never run as Python. `ast.parse` only parses it; `_Builder` has one method for each kind of syntax in the
language, and anything that is neither there nor in lab/operation_table.py raises an ExpressionError. Each accepted
piece becomes a `Part`: a closure that computes it with the engine, and the same piece as Python for a script.

The language: lines (or `;`) of `name = value`; the last line may be a value alone. Values are made of + - * / ** @, the
functions and methods of lab/operation_table.py, `.T`, elements `x[0, 1:]` and lists `[1, [2, a]]`. A name that no line
defines is a free name: a leaf. The only constant is `pi`; `e` is a name like any other, because a lesson may want it as
one. Numbers are floats. Parts without names are computed while parsing and become constants. inf and nan are values,
not errors.
"""

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from lab.expression.evaluation import Evaluation, labelled, stacked
from lab.expression.language import (
    COMPARISONS,
    CONSTANTS,
    INSTEAD,
    MAX_DEPTH,
    MAX_NAME,
    MAX_NAMES,
    MAX_NODES,
    MAX_TEXT,
    MAX_WHOLE,
    OF_TWO,
    OPERATORS,
    REFUSED,
    TOO_DEEP,
)
from lab.expression.source import ExpressionError, Source
from lab.operation_table import OPS, Cost, Op, elementwise, joined
from lab.text import syntax_tree
from model import Tensor


class Expression:
    """A parsed expression. Call it with a value for each of its names: numbers, arrays or Tensors.

    names        the free names, in order of appearance
    text         the text that the learner typed
    result_name  the name of the result in `to_python()`
    """

    def __init__(self, builder: "_Builder", lines: list[tuple[str, "Part"]]) -> None:
        self.text: str = builder.source.text
        self.names = list(builder.free)
        self.result_name = lines[-1][0] or "result"
        while self.result_name in builder.free or (not lines[-1][0] and self.result_name in builder.assigned):
            self.result_name += "_"
        self._source, self._ops, self._free, self._lines = builder.source, builder.ops, builder.free, lines

    def __call__(self, /, **values: Any) -> Tensor:  # `/`: a learner may call a leaf `self`
        """Compute the value of the last line. Leaves and named lines without a label get their name as label.

        Raises ExpressionError if a value is missing, not numeric or empty, shapes do not fit, or it is too much work.
        """
        for name in values:
            if name not in self._free:
                names = ", ".join(self.names)
                raise self._source.error(f"There is no `{name}` in the expression; its names are {names}.")
        evaluation = Evaluation(self._source, self._ops)
        with np.errstate(all="ignore"):
            for name, place in self._free.items():
                if name not in values:
                    raise self._source.error(f"`{name}` has no value yet.", *place)
                evaluation.values[name] = labelled(evaluation.leaf(name, values[name], place), name)
            for name, part in self._lines:
                evaluation.values[name] = labelled(part.value(evaluation), name)
        result: Tensor = evaluation.values[self._lines[-1][0]]
        return result

    def to_python(self, /, **values: Any) -> str:
        """Write the expression as Python that uses Tensor, ending in `<result_name> = ...`.

        Given values for the names, it starts with a line for each leaf and runs as a script.
        """
        leaves = self.values_as_python(values)
        return self.program([f'{name} = Tensor({value}, label="{name}")' for name, value in leaves.items()])

    def values_as_python(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return each free name that has a value, with the value as Python source."""
        evaluation = Evaluation(self._source, self._ops)
        places = {name: place for name, place in self._free.items() if name in values}
        return {
            name: ast.unparse(_literal(evaluation.leaf(name, values[name], place).numpy()))
            for name, place in places.items()
        }

    @property
    def lines(self) -> list[str]:
        """The lines of the text as Python that uses Tensor; the last one defines `result_name`."""
        return [f"{name or self.result_name} = {ast.unparse(part.python)}" for name, part in self._lines]

    def program(self, before: Sequence[str] = (), after: Sequence[str] = ()) -> str:
        """Write a script: the imports that are needed, the lines `before`, those of the expression, those `after`."""
        body = "\n".join([*before, *self.lines, *after])
        numpy = "import numpy as np\n\n" if re.search(r"\bnp\.", body) else ""
        called = set(re.findall(r"\w+(?=\()", body))
        used = sorted(name for name, op in self._ops.items() if op.form == "function" and name in called)
        return f"{numpy}from model import {', '.join(['Tensor', *used])}\n\n{body}\n"

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self.text,)  # closures cannot be pickled, their text can


def parse(text: str, ops: Mapping[str, Op] = OPS) -> Expression:
    """Check a learner's text and turn it into an Expression.

    ops  the operations that the text may use: those of the engine, and perhaps some of a learner's own

    Raises ExpressionError, with the reason and the place, if the text is not a valid expression.
    """
    if not isinstance(text, str):
        raise ExpressionError("An expression is a text, such as `a*b + c`.")
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"The text is too long: {MAX_TEXT} characters at most.")
    source = Source(text)
    source.check_characters()
    tree = _read(source)
    if not tree.body:
        raise source.error("Type an expression, for example `(a*b + c).relu()`.")
    _check_extent(source, tree)
    builder = _Builder(source, ops)
    with np.errstate(all="ignore"):
        lines = [builder.line(statement, statement is tree.body[-1]) for statement in tree.body]
    result = lines[-1][1]
    if not result.differentiable:
        message = "The result does not depend on any name, so there is no gradient to find: use one, such as `a`."
        source.refuse(message, tree.body[-1])
    if builder.is_leaf(result):
        source.refuse("A name alone is nothing to differentiate: compute something with it.", tree.body[-1])
    return Expression(builder, lines)


def _read(source: Source) -> ast.Module:
    try:
        return syntax_tree("\n".join(source.lines))
    except SyntaxError as error:
        raise source.syntax_error(error) from None
    except (ValueError, MemoryError, SystemError, RecursionError):
        raise source.error("Python cannot read this text: try a shorter one.") from None


def _check_extent(source: Source, tree: ast.Module) -> None:
    """Refuse a tree that is too large or too deep, before recursive code reads it."""
    count = 0
    pending: list[tuple[ast.AST, int]] = [(statement, 0) for statement in reversed(tree.body)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, ast.expr):
            count, depth = count + 1, depth + 1
            if count > MAX_NODES:
                source.refuse(f"The expression is too long: {MAX_NODES} values and operations at most.", node)
            if depth > MAX_DEPTH:
                source.refuse(TOO_DEEP, node)
        pending += [(child, depth) for child in ast.iter_child_nodes(node)][::-1]


def _literal(value: Any) -> ast.expr:
    """Return a constant as a Python syntax tree."""
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

    value: Callable[[Evaluation], Any]  # computes it: a Tensor, or a number or array if no gradient can flow through it
    python: ast.expr  # the same as Python that uses Tensor, for a script
    constant: bool  # contains no free name
    differentiable: bool  # a gradient can flow through it to a free name


class _Builder:
    """Turns syntax into parts and refuses the rest. Holds the `free` names with their places, and those `assigned`."""

    def __init__(self, source: Source, ops: Mapping[str, Op] = OPS) -> None:
        self.source, self.ops = source, ops
        # A method may be called either way: x.sum(axis=0) or sum(x, axis=0).
        self.methods = {name: op for name, op in ops.items() if op.form == "method"}
        self.functions = {name: op for name, op in ops.items() if op.form in ("method", "function")}
        self.properties = {name: op for name, op in ops.items() if op.form == "property"}
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
        """Build the part for any value; refuse each kind of syntax that is not in `_PARTS`."""
        if type(node) not in _PARTS:
            self.refuse(node)
        part = _PARTS[type(node)](self, node)
        if not part.constant or isinstance(node, (ast.Name, ast.Constant)):
            return part
        value = part.value(Evaluation(self.source, self.ops))  # a part without names is computed now
        if np.size(value) > MAX_NODES:
            self.source.refuse(f"A constant has {MAX_NODES} elements at most: use a name, and give that a value.", node)
        return Part(lambda evaluation: value, _literal(value), constant=True, differentiable=False)

    def operation(
        self,
        node: ast.expr,
        function: Callable[..., Any],
        parts: Sequence[Part],
        python: ast.expr,
        cost: Cost = elementwise,
        ints: tuple[int, ...] = (),
    ) -> Part:
        def value(evaluation: Evaluation) -> Any:
            return evaluation.apply(node, function, [part.value(evaluation) for part in parts], cost, ints)

        constant, differentiable = all(p.constant for p in parts), any(p.differentiable for p in parts)
        return Part(value, python, constant, differentiable)

    def refuse(self, node: ast.expr | ast.stmt) -> NoReturn:
        kind = type(node)
        self.source.refuse(REFUSED.get(kind, f"This kind of Python ({kind.__name__}) is not used here."), node)

    def is_leaf(self, part: Part) -> bool:
        node = part.python
        while isinstance(node, ast.Name) and node.id in self.assigned:
            node = self.assigned[node.id].python
        return isinstance(node, ast.Name)

    # -- one method per kind of syntax

    def constant(self, node: ast.Constant) -> Part:
        if not isinstance(node.value, int | float) or isinstance(node.value, bool):
            self.source.refuse(f"`{ast.unparse(node)}` is not a number.", node)
        try:
            number = float(node.value)
        except OverflowError:
            self.source.refuse("This whole number is too large: write one such as `1e30`.", node)
        return Part(lambda evaluation: number, node, True, False)

    def name(self, node: ast.Name) -> Part:
        name = node.id
        if name in CONSTANTS:
            return Part(lambda evaluation: CONSTANTS[name], _literal(CONSTANTS[name]), True, False)
        if name in self.assigned:
            part = self.assigned[name]
            value = part.value if part.constant else lambda evaluation: evaluation.values[name]
            return Part(value, node, part.constant, part.differentiable)
        self.check_name(name, node)
        self.free.setdefault(name, self.source.place(node))
        if len(self.free) > MAX_NAMES:
            self.source.refuse(f"Too many names without a value: {MAX_NAMES} at most.", node)
        return Part(lambda evaluation: evaluation.values[name], node, False, True)

    def check_name(self, name: str, node: ast.expr) -> None:
        if name in self.functions:
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
        op = self.ops[OPERATORS[type(node.op)]]
        python = ast.BinOp(left.python, node.op, right.python)
        return self.operation(node, op.function, [left, right], python, op.cost)

    def transposed(self, node: ast.Attribute) -> Part:
        if node.attr not in self.properties:
            raise self.unknown(node)
        part = self.part(node.value)
        function = self.properties[node.attr].function
        return self.operation(node, function, [part], ast.Attribute(part.python, node.attr))

    def element(self, node: ast.Subscript) -> Part:
        part, index = self.part(node.value), self.index(node.slice)
        return self.operation(node, lambda x: x[index], [part], ast.Subscript(part.python, node.slice))

    def vector(self, node: ast.List) -> Part:
        parts = self.parts(node)
        python = ast.Call(ast.Name("stack"), [ast.List([part.python for part in parts])], [])
        return self.operation(node, stacked, parts, python, joined)

    def call(self, node: ast.Call) -> Part:
        """Build the call of a function, f(x, axis=0), or a method, x.f(axis=0), that has a row in `ops`."""
        if isinstance(node.func, ast.Attribute):
            name, arguments, known = node.func.attr, [node.func.value, *node.args], self.methods
        elif isinstance(node.func, ast.Name):
            name, arguments, known = node.func.id, node.args, self.functions
            name = OF_TWO.get(name, name) if len(arguments) > 1 else name
        else:
            self.source.refuse("A sign is missing before the bracket: to multiply, write `*`.", node)
        if name not in known:
            raise self.unknown(node.func)
        op = known[name]

        parts: list[Part] = []
        operands: list[ast.expr] = []  # `parts` as Python
        ints: tuple[int, ...] = ()
        options = {}
        for parameter, kind, argument in self.bound(node, op, arguments):
            if kind == "values":
                parts = self.parts(argument)
                operands = [ast.List([part.python for part in parts])]
            elif kind in _OPERANDS:
                parts.append(_OPERANDS[kind](self, argument))
                operands.append(parts[-1].python)
            elif kind == "ints":
                ints = self.ints(argument)
            else:
                options[parameter] = _OPTIONS[kind](self, argument)

        def function(*values: Any) -> Any:
            return op.function(*values, *ints, **options)

        called: ast.expr = ast.Name(name)
        if op.form == "method":
            called, operands = ast.Attribute(operands[0], name), operands[1:]
        keywords = [ast.keyword(parameter, _literal(value)) for parameter, value in options.items()]
        python = ast.Call(called, [*operands, *map(_literal, ints)], keywords)
        return self.operation(node, function, parts, python, op.cost, ints)

    def bound(self, node: ast.Call, op: Op, arguments: Sequence[ast.expr]) -> list[tuple[str, str, ast.expr]]:
        """Match the arguments of a call to parameters; return name, kind and argument of each that was given."""
        kinds = op.signature
        if len(arguments) > len(kinds) and list(kinds.values())[-1].startswith("ints"):  # reshape(x, 2, 3)
            last = len(kinds) - 1
            arguments = [*arguments[:last], ast.Tuple(list(arguments[last:]))]
        if len(arguments) > len(kinds):
            counted = " (the value before the point counts)" if isinstance(node.func, ast.Attribute) else ""
            self.source.refuse(f"Too many values{counted}: it is `{op.usage}`.", arguments[len(kinds)])
        given = dict(zip(kinds, arguments, strict=False))
        for word in node.keywords:
            if word.arg is None or word.arg not in kinds or word.arg in given:
                self.source.refuse(f"`{word.arg or '**'}` cannot be given here: it is `{op.usage}`.", word)
            given[word.arg] = word.value
        for parameter, kind in kinds.items():
            if parameter not in given and not kind.endswith("?"):
                self.source.refuse(f"`{parameter}` is missing: it is `{op.usage}`.", node)
        return [
            (parameter, kind.rstrip("?"), given[parameter]) for parameter, kind in kinds.items() if parameter in given
        ]

    def unknown(self, node: ast.Name | ast.Attribute) -> ExpressionError:
        """Return the error for an unknown function (a Name), method or property (an Attribute), with a suggestion."""
        if isinstance(node, ast.Name):
            name, known, place = node.id, self.functions, self.source.place(node)
            message = f"There is no function `{name}`."
        else:
            name, known = node.attr, self.methods | self.properties
            place = self.source.place_of_attribute(node)
            message = f"A value has no `{name}` here."
        if name in self.methods:
            return self.source.error(f"`{name}` is a function: write `.{name}()`, with brackets.", *place)
        if name in self.properties:
            return self.source.error(f"`{name}` takes no brackets: write `.{name}`.", *place)
        close = [other for other, op in known.items() if name.casefold() in (other.casefold(), *op.aliases)]
        close = close or difflib.get_close_matches(name.lower(), known, 1)
        if name in INSTEAD:
            message += f" Write `{INSTEAD[name]}`."
        elif close:
            message += f" Did you mean `{close[0]}`?"
        if isinstance(node, ast.Name) and (len(name) == 1 or name in self.assigned):
            message += f" To multiply, write `{name}*(...)`."
        return self.source.error(message, *place)

    # -- arguments that are written out, not computed: they never depend on a name

    def integer(self, node: ast.expr) -> int:
        digits, sign = node, 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            digits, sign = node.operand, -1
        number = digits.value if isinstance(digits, ast.Constant) else None
        if not isinstance(digits, ast.Constant):
            self.source.refuse("Write a whole number here, such as 0 or -1: not a name or a calculation.", node)
        if not isinstance(number, int) or isinstance(number, bool) or number > MAX_WHOLE:
            self.source.refuse(f"Write a whole number here, such as 0 or -1, of at most {MAX_WHOLE:,}.", node)
        return sign * number

    def ints(self, node: ast.expr) -> tuple[int, ...]:
        return tuple(self.integer(n) for n in (node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]))

    def axis(self, node: ast.expr) -> int | tuple[int, ...] | None:
        if isinstance(node, ast.Constant) and node.value is None:
            return None
        return self.ints(node) if isinstance(node, ast.Tuple) else self.integer(node)

    def flag(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, bool):
            self.source.refuse("Write `True` or `False` here.", node)
        return node.value

    def number(self, node: ast.expr) -> float:
        part = self.part(node)
        value = part.value(Evaluation(self.source, self.ops)) if part.constant else None
        if not isinstance(value, float):
            self.source.refuse("Write a number here: it cannot depend on a name.", node)
        return value

    def index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(self.index(element) for element in node.elts)
        if isinstance(node, ast.Slice):
            return slice(*(end and self.integer(end) for end in (node.lower, node.upper, node.step)))
        if isinstance(node, ast.Constant) and node.value in (None, ...):
            return node.value
        return self.integer(node)

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
_PARTS: dict[type[ast.expr], Callable[[_Builder, Any], Part]] = {
    ast.Constant: _Builder.constant,
    ast.Name: _Builder.name,
    ast.UnaryOp: _Builder.unary,
    ast.BinOp: _Builder.binary,
    ast.Attribute: _Builder.transposed,
    ast.Subscript: _Builder.element,
    ast.List: _Builder.vector,
    ast.Call: _Builder.call,
}
# The kinds of parameters in lab/operation_table.py, besides "values" and "ints".
_OPERANDS: dict[str, Callable[[_Builder, ast.expr], Part]] = {
    "value": _Builder.part,
    "condition": _Builder.condition,
    "prediction": _Builder.prediction,
}
_OPTIONS: dict[str, Callable[[_Builder, ast.expr], Any]] = {
    "axis": _Builder.axis,
    "flag": _Builder.flag,
    "labels": _Builder.ints,
    "number": _Builder.number,
    "int": _Builder.integer,
}
