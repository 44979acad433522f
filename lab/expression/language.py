"""The language of expressions, besides the operations of lab.operation_table.

Its limits, its syntax, and what to write instead of Python that it does not have.
"""

import ast
import math
import operator

# Limits: enough for a lesson, and small enough that each call takes a small part of a second.
MAX_TEXT = 2_000  # characters
MAX_NODES = 500  # values and operations; also elements of a constant
MAX_DEPTH = 80  # levels of nesting, or terms of one sum: far below Python's recursion limit
MAX_NAMES = 40  # free names; each gets a slider
MAX_NAME = 30  # characters
MAX_WHOLE = 1_000_000  # an axis, a position, a length
MAX_AXES = 8  # of one array
MAX_SIZE = 100_000  # elements of one array
MAX_WORK = 2_000_000  # elements computed in one call; an `@` counts its multiplications


# ------------------------------------------------------------------------------------------ syntax -> what it is

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@"}
COMPARISONS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
CONSTANTS = {"pi": math.pi}
OF_TWO = {"max": "maximum", "min": "minimum"}  # max(a, b) compares two values, max(x) looks inside one


# ------------------------------------------------------------------------------------------ what to write instead

INSTEAD = {
    "log2": "log(x) / log(2)",
    "log10": "log(x) / log(10)",
    "tan": "sin(x) / cos(x)",
    "cosh": "(exp(x) + exp(-x)) / 2",
    "sinh": "(exp(x) - exp(-x)) / 2",
    "pow": "x**2",
    "square": "x**2",
    "dot": "x @ y",
    "matmul": "x @ y",
    "array": "[1, 2]",
    "mm": "x @ y",
    "tensor": "[1, 2]",
}
TOO_DEEP = (
    f"These are too many terms in one sum, or brackets in brackets: {MAX_DEPTH} at most. Give a part a line and a name "
    "of its own."
)
REFUSED = {
    ast.Compare: "A comparison can only stand in `where(a > b, x, y)`. To name a value, write one `=`: `h = a*b`.",
    ast.AugAssign: "Names do not change: give the new value a new name, as in `k = h + 1`.",
    ast.AnnAssign: "A line is `name = value`, without `:`.",
    ast.NamedExpr: "`:=` is not used here: a line is `h = a*b`.",
    ast.Tuple: "Write a vector with square brackets, as in `[1, 2]`.",
    ast.Starred: "`*` needs a value on both sides; a power is `**`.",
    ast.FloorDiv: "`//` has no useful derivative; `/` divides.",
}
