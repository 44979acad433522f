"""What the language of expressions has: its limits, its functions, and what to write instead of what it has not."""

import ast
import math
import operator

from model import binary_cross_entropy_with_logits, concatenate, cross_entropy, maximum, minimum, mse_loss, stack, where

# Limits: what a lesson may need, and each call still ends within a small part of a second.
MAX_TEXT = 2_000  # characters
MAX_NODES = 500  # values and operations; also elements of a constant
MAX_DEPTH = 80  # levels of nesting, or terms of one sum: far below Python's recursion limit
MAX_NAMES = 40  # free names: each has a slider
MAX_NAME = 30  # characters
MAX_WHOLE = 1_000_000  # an axis, a position, a length
MAX_AXES = 8  # of one array
MAX_SIZE = 100_000  # elements of one array
MAX_WORK = 2_000_000  # elements computed in one call; an `@` counts its multiplications


# ------------------------------------------------------------------------------------------ what the language has

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
}
COMPARISONS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
CONSTANTS = {"pi": math.pi}
PROPERTIES = {"T": lambda x: x.T}


# Parameters are written `name:kind`, with `?` where they may be left out. `_Builder` reads each kind in its own way.
# Methods may be called either way: x.sum(axis=0) or sum(x, axis=0).
_REDUCE = "axis:axis? keepdims:flag?"
METHODS = {
    **dict.fromkeys(("exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu", "softplus", "abs"), ""),
    **dict.fromkeys(("sum", "mean", "max", "min", "var", "std", "prod", "norm", "logsumexp"), _REDUCE),
    "leaky_relu": "slope:number?",
    "clip": "low:number? high:number?",
    "softmax": "axis:whole?",
    "log_softmax": "axis:whole?",
    "reshape": "shape:wholes",
    "broadcast_to": "shape:wholes",
    "transpose": "axes:wholes?",
    "swapaxes": "first:whole second:whole",
    "squeeze": "axis:axis?",
    "expand_dims": "axis:whole",
}
FUNCTIONS = {
    "maximum": (maximum, "a:value b:value"),
    "minimum": (minimum, "a:value b:value"),
    "where": (where, "condition:condition a:value b:value"),
    "concatenate": (lambda *tensors, **options: concatenate(tensors, **options), "tensors:values axis:whole?"),
    "stack": (lambda *tensors, **options: stack(tensors, **options), "tensors:values axis:whole?"),
    "mse_loss": (mse_loss, "prediction:prediction target:value"),
    "cross_entropy": (cross_entropy, "logits:prediction labels:labels"),
    "binary_cross_entropy_with_logits": (binary_cross_entropy_with_logits, "logits:prediction targets:value"),
}
OF_TWO = {"max": "maximum", "min": "minimum"}  # max(a, b) compares two values, max(x) looks inside one


# ------------------------------------------------------------------------------------------ what to write instead

INSTEAD = {
    "ln": "log(x)",
    "log2": "log(x) / log(2)",
    "log10": "log(x) / log(10)",
    "tan": "sin(x) / cos(x)",
    "cosh": "(exp(x) + exp(-x)) / 2",
    "sinh": "(exp(x) - exp(-x)) / 2",
    "pow": "x**2",
    "square": "x**2",
    "dot": "x @ y",
    "matmul": "x @ y",
    "average": "mean(x)",
    "array": "[1, 2]",
}
REFUSED = {
    ast.Compare: "A comparison can only stand in `where(a > b, x, y)`. To name a value, write one `=`: `h = a*b`.",
    ast.AugAssign: "Names do not change: give the new value a new name, as in `k = h + 1`.",
    ast.AnnAssign: "A line is `name = value`, without `:`.",
    ast.NamedExpr: "`:=` is not used here: a line is `h = a*b`.",
    ast.Tuple: "Write a vector with square brackets, as in `[1, 2]`.",
    ast.Starred: "`*` needs a value on both sides; a power is `**`.",
    ast.FloorDiv: "`//` has no useful derivative; `/` divides.",
}
