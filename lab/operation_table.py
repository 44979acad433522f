"""The table of operations: one row for each operation of the engine, and for each function composed of others.

Expressions take their functions from here, derivations their local derivatives, the player kinds and symbols, and the
search for the first inf or nan its reasons.

To add an operation, write it in model.py, add a row to `OPS` and its cases to tests/unit/op_table.py.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from model import (
    binary_cross_entropy_with_logits,
    concatenate,
    cross_entropy,
    linear,
    maximum,
    minimum,
    mse_loss,
    stack,
    where,
)

Kind = Literal[
    "elementwise", "reduction", "along an axis", "matrix product", "shape", "indexing", "joining", "loss", "other"
]
Form = Literal["infix", "prefix", "method", "function", "property", "index", "layer"]
Shape = tuple[int, ...]
Cost = Callable[[Sequence[Shape], Sequence[int]], tuple[int, int]]


@dataclass(frozen=True)
class Derivative:
    """The local derivative of an operation with respect to one operand.

    text         in symbols: {a} and {b} are the operands, {y} is the result. If {g}, the upstream gradient, is in it,
                 the text is the whole message, because that is not upstream gradient times local derivative
    latex        the same in LaTeX
    formula      the same in Python, of a, b and y, with the functions of FORMULA_NAMES; "" if these are not enough
    scalar_only  the formula is right only if the result is a single number
    """

    text: str
    latex: str
    formula: str = ""
    scalar_only: bool = False

    @cached_property
    def value(self) -> Callable[..., Any] | None:
        """Computes the formula from the operands and the result, as arrays; None if there is none."""
        if not self.formula:
            return None
        local = eval(f"lambda a, b, y: {self.formula}", {**FORMULA_NAMES})
        return lambda *arrays: local(arrays[0], arrays[-2], arrays[-1])

    def reads(self, name: str) -> bool:
        """Return whether the formula contains the operand "a" or "b", the result "y" or the upstream gradient "g"."""
        return f"{{{name}}}" in self.text or f"{{{name}}}" in self.latex


@dataclass(frozen=True)
class Op:
    """One operation of the engine.

    name         the engine's name for it (`Tensor.op`), and its name in expressions if it has one there
    kind         what it does with the cells of its operands
    form         how it is written: a + b, -a, x.exp(), maximum(a, b), x.T, x[0]; "layer": only a layer makes it
    derivatives  one for each operand; if it joins any number of operands, one for all of them. n in their texts is
                 the number of elements that are reduced to one
    parameters   `name:kind` pairs, with `?` if optional; lab.expression reads each kind in its own way
    call         the function to call with operands, integers, and options by name; by default the Tensor's method
    cost         an upper bound (elements of the result, elements computed), from the operands' shapes and the integer
                 arguments; ValueError if the shapes do not fit
    at_kinks     where it has a kink, and the derivative that the engine uses there; "" if it has none
    convention   any other convention of the engine; "" if there is none
    not_finite   how finite operands can give inf or nan; "" if they cannot
    ties         operands and result -> whether equal elements put it at a kink; None if that cannot happen
    composed     made of other operations: no node of a graph has this name
    aliases       other words that people search for it by
    example      an expression that shows it, if plain operand names would not fit or show too little
    """

    name: str
    kind: Kind
    form: Form = "method"
    derivatives: tuple[Derivative, ...] = ()
    parameters: str = "x:value"
    call: Callable[..., Any] | None = None
    cost: Cost = lambda shapes, ints: elementwise(shapes, ints)
    at_kinks: str = ""
    convention: str = ""
    not_finite: str = ""
    ties: Callable[..., bool] | None = None
    composed: bool = False
    aliases: tuple[str, ...] = ()
    example: str = ""

    @property
    def symbol(self) -> str | None:
        """The sign that is written between its operands or before its operand; None if it is called by name."""
        return self.name if self.form == "infix" else "−" if self.form == "prefix" else None

    @property
    def signature(self) -> dict[str, str]:
        """Parameter name -> kind, with `?` if it is optional."""
        return dict(word.split(":") for word in self.parameters.split())

    @property
    def usage(self) -> str:
        """The call as text: `sum(x, axis, keepdims)`."""
        return f"{self.name}({', '.join(self.signature)})"

    @property
    def function(self) -> Callable[..., Any]:
        """The function to call: `call`, or the operand's own method, which a subclass may override."""
        return self.call or (lambda x, *ints, **options: getattr(x, self.name)(*ints, **options))

    def needs_paths(self, scalar: bool) -> bool:
        """Return True if the table cannot compute all local derivatives, so that the closure must be run to find them.

        scalar  the result is a single number
        """
        known = [one.value is not None and (scalar or not one.scalar_only) for one in self.derivatives]
        return not known or not all(known)

    def derivative(self, operand: int) -> Derivative:
        """Return the local derivative with respect to an operand, counted from 0."""
        if self.kind == "joining":
            return self.derivatives[0]
        return self.derivatives[operand] if operand < len(self.derivatives) else UNKNOWN_RULE


# ---------------------------------------------------------------- costs


def elementwise(shapes: Sequence[Shape], ints: Sequence[int]) -> tuple[int, int]:
    """Return the cost of an elementwise operation, or of a reduction, which also reads every element."""
    size = math.prod(np.broadcast_shapes(*shapes))
    return size, size


def broadcast(shapes: Sequence[Shape], ints: Sequence[int]) -> tuple[int, int]:
    return elementwise([*shapes, tuple(ints)], ())


def product(shapes: Sequence[Shape], ints: Sequence[int]) -> tuple[int, int]:
    a, b = shapes
    if not a or not b:
        return 0, 0  # the engine refuses it
    size = math.prod((*np.broadcast_shapes(a[:-2], b[:-2]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ())))
    return size, size * a[-1]


def joined(shapes: Sequence[Shape], ints: Sequence[int]) -> tuple[int, int]:
    size = sum(math.prod(shape) for shape in shapes)
    return size, size


# ---------------------------------------------------------------- what the formulas of derivatives are made of


def _larger(a: Any, b: Any) -> Any:
    """Return 1 where a is greater, 0.5 where they are equal, else 0."""
    return (a > b) + 0.5 * (a == b)


def _share(a: Any, y: Any) -> Any:
    """Return 1 for the largest element, shared evenly by ties, else 0."""
    chosen = (a == y) | np.isnan(a)
    return chosen / chosen.sum()


FORMULA_NAMES: Mapping[str, Any] = MappingProxyType(
    {
        **{name: getattr(np, name) for name in ("cos", "exp", "full", "log", "sign", "sin", "tanh")},
        "sigmoid": lambda a: np.exp(-np.logaddexp(0.0, -a)),
        "step": lambda a: np.where(a > 0, 1.0, 0.0),
        "zero_where": lambda convention, formula: np.where(convention, 0.0, formula),
        "larger": _larger,
        "share": _share,
    }
)

# ---------------------------------------------------------------- shared by several rows

ONE = Derivative("1", "1", "1.0")
MINUS_ONE = Derivative("−1", "-1", "-1.0")
MOVED = Derivative("{g}, moved back to where the values came from", r"\text{{moved back}}({g})")
PART = Derivative("the part of {g} that came from {a}", r"\text{{part of }} {g}")
LEFT = Derivative("{g} @ {b}ᵀ", r"{g}\,{b}^\top")
RIGHT = Derivative("{a}ᵀ @ {g}", r"{a}^\top {g}")
UNKNOWN_RULE = Derivative("the rule of this operation, applied to {g}", r"J^\top {g}")

TWO = "a:value b:value"
REDUCE = "x:value axis:axis? keepdims:flag?"
ALONG = "x:value axis:int?"
SHAPE = "x:value shape:ints"
JOIN = "tensors:values axis:int?"

AT_ZERO = "A kink at 0: there is no derivative there. This engine, like PyTorch, uses 0."
HALVES = (
    "A kink where the two are equal: there is no derivative there. This engine, like PyTorch, gives each half of the "
    "gradient."
)
TIES = (
    "A kink where elements tie: there is no derivative there. This engine, like PyTorch’s amax and amin, shares the "
    "gradient evenly among them."
)
OVERFLOW = "The result is larger than the largest number its data type can hold."


def _equal(a: Any, b: Any, y: Any) -> bool:
    """Return whether any element of a equals its counterpart in b."""
    return bool(np.any(a == b))


def _repeated(a: Any, y: Any) -> bool:
    """Return whether several elements share a maximum."""
    return int(np.isin(a, y).sum()) > np.size(y)


def _function(name: str, text: str, latex: str, formula: str = "", **more: Any) -> Op:
    """Return the row of an elementwise function of one operand, with its derivative."""
    return Op(name, "elementwise", derivatives=(Derivative(text, latex, formula),), **more)


def _choice(name: str, call: Callable[..., Any], sign: str, formula: str) -> Op:
    """Return the row of a choice between two operands. formula: 1 where the first is chosen, 0.5 where both are."""
    derivatives = (
        Derivative(f"1 if {{a}} {sign} {{b}}, ½ if equal, else 0", f"[{{a}} {sign} {{b}}]", formula),
        Derivative(f"1 if {{b}} {sign} {{a}}, ½ if equal, else 0", f"[{{b}} {sign} {{a}}]", f"1 - {formula}"),
    )
    return Op(name, "elementwise", "function", derivatives, TWO, call, at_kinks=HALVES, ties=_equal)


def _reduction(name: str, text: str, latex: str, formula: str = "", **more: Any) -> Op:
    """Return the row of a reduction, with its derivative where it reduces to a single number."""
    derivative = Derivative(text, latex, formula, scalar_only=bool(formula))
    return Op(name, "reduction", derivatives=(derivative,), parameters=REDUCE, **more)


# ---------------------------------------------------------------- the table

_ROWS = (
    # -- arithmetic
    Op("+", "elementwise", "infix", (ONE, ONE), TWO, operator.add, not_finite=OVERFLOW),
    Op("-", "elementwise", "infix", (ONE, MINUS_ONE), TWO, operator.sub, not_finite=OVERFLOW),
    Op(
        "*",
        "elementwise",
        "infix",
        (Derivative("{b}", "{b}", "b"), Derivative("{a}", "{a}", "a")),
        TWO,
        operator.mul,
        not_finite=OVERFLOW,
    ),
    Op(
        "/",
        "elementwise",
        "infix",
        (
            Derivative("1/{b}", r"\frac{{1}}{{{b}}}", "1 / b"),
            Derivative("−{a}/{b}²", r"-\frac{{{a}}}{{{b}^2}}", "-(a / b / b)"),
        ),
        TWO,
        operator.truediv,
        not_finite="A number divided by 0 is ∞, and 0 / 0 has no value (NaN).",
    ),
    Op(
        "**",
        "elementwise",
        "infix",
        (
            Derivative("{b}·{a}**({b} − 1)", "{b} {a}^{{{b} - 1}}", "zero_where(b == 0, b * a ** (b - 1))"),
            Derivative(
                "{a}^{b}·log {a}",
                r"{a}^{{{b}}} \log {a}",
                "zero_where((a == 0) & (b >= 0), y * log(a))",
            ),
        ),
        TWO,
        operator.pow,
        convention="At a = 0, this engine, like PyTorch, uses 0 for a**0 with respect to a, and for a**b with respect "
        "to b from b = 0 on. Below b = 0 it is −∞.",
        not_finite="A power overflows, divides by 0, or has a negative base with a fractional exponent.",
    ),
    Op("neg", "elementwise", "prefix", (MINUS_ONE,), call=operator.neg),
    Op("@", "matrix product", "infix", (LEFT, RIGHT), TWO, operator.matmul, product, not_finite=OVERFLOW),
    # -- elementwise functions
    _function(
        "exp",
        "exp {a}",
        "e^{{{a}}}",
        "y",
        not_finite=f"The exponential overflows. {OVERFLOW}",
    ),
    _function(
        "log",
        "1/{a}",
        r"\frac{{1}}{{{a}}}",
        "1 / a",
        not_finite="The logarithm of 0 is −∞, and of a negative number it is not a real number (NaN).",
    ),
    _function(
        "sqrt",
        "1/(2√{a})",
        r"\frac{{1}}{{2\sqrt{{{a}}}}}",
        "1 / (2 * y)",
        convention="At 0 the slope grows without bound: this engine, like PyTorch, uses ∞.",
        not_finite="The square root of a negative number is not a real number (NaN).",
    ),
    _function("sin", "cos {a}", r"\cos {a}", "cos(a)"),
    _function("cos", "−sin {a}", r"-\sin {a}", "-sin(a)"),
    _function("tanh", "1 − tanh² {a}", r"1 - \tanh^2 {a}", "1 - y**2"),
    _function("sigmoid", "{y}·(1 − {y})", "{y} (1 - {y})", "y * (1 - y)"),
    _function("softplus", "sigmoid {a}", r"\sigma({a})", "sigmoid(a)"),
    _function("relu", "1 if {a} > 0, else 0", r"[{a} > 0]", "step(a)", at_kinks=AT_ZERO),
    _function(
        "leaky_relu",
        "1 if {a} > 0, else the slope",
        r"[{a} > 0] + s\,[{a} \le 0]",
        parameters="x:value slope:number?",
        at_kinks="A kink at 0: there is no derivative there. This engine, like PyTorch, uses the slope of the negative "
        "side.",
        not_finite=OVERFLOW,
        example="leaky_relu(x, 0.1)",
    ),
    _function("abs", "sign {a}", r"\operatorname{{sign}} {a}", "sign(a)", at_kinks=AT_ZERO),
    _function(
        "clip",
        "1 inside the bounds, else 0",
        r"[\text{{low}} \le {a} \le \text{{high}}]",
        parameters="x:value low:number? high:number?",
        at_kinks="A kink at each bound: there is no derivative there. This engine, like PyTorch, uses 1.",
        example="clip(x, -1, 1)",
    ),
    # -- elementwise functions of two
    _choice("maximum", maximum, ">", "larger(a, b)"),
    _choice("minimum", minimum, "<", "larger(b, a)"),
    Op(
        "where",
        "elementwise",
        "function",
        (
            Derivative("1 where {a} was chosen, else 0", r"[\text{{{a} chosen}}]"),
            Derivative("1 where {b} was chosen, else 0", r"[\text{{{b} chosen}}]"),
        ),
        "condition:condition a:value b:value",
        where,
        at_kinks="A kink or a jump where the condition changes: there is, in general, no derivative there. This "
        "engine, like PyTorch, uses that of the branch that is chosen.",
    ),
    # -- reductions
    _reduction("sum", "1", "1", "1.0", not_finite=OVERFLOW),
    _reduction("mean", "1/n", r"\frac{{1}}{{n}}", "full(a.shape, 1 / a.size)", composed=True),
    _reduction(
        "var",
        "2·({a} − mean {a})/n",
        r"\tfrac{{2}}{{n}} ({a} - \operatorname{{mean}} {a})",
        "2 * (a - a.mean()) / a.size",
        composed=True,
    ),
    _reduction(
        "std",
        "({a} − mean {a})/(n·{y})",
        r"\frac{{{a} - \operatorname{{mean}} {a}}}{{n\,{y}}}",
        "zero_where(y == 0, (a - a.mean()) / (a.size * y))",
        at_kinks="A kink where all elements are equal: there is no derivative there. This engine, like PyTorch, "
        "uses 0.",
        composed=True,
    ),
    _reduction(
        "norm",
        "{a}/{y}",
        r"\frac{{{a}}}{{{y}}}",
        "zero_where(y == 0, a / y)",
        at_kinks="A kink where all elements are 0: there is no derivative there. This engine, like PyTorch, uses 0.",
        not_finite="The sum of the squares is larger than the largest number its data type can hold.",
    ),
    _reduction(
        "max", "1 for the largest, shared by ties, else 0", r"[{a} = {y}]", "share(a, y)", at_kinks=TIES, ties=_repeated
    ),
    _reduction(
        "min",
        "1 for the smallest, shared by ties, else 0",
        r"[{a} = {y}]",
        "share(a, y)",
        at_kinks=TIES,
        ties=_repeated,
        composed=True,
    ),
    _reduction("prod", "the product of the others", r"\prod_{{j \ne i}} {a}_j", not_finite=OVERFLOW),
    _reduction("logsumexp", "softmax {a}", r"\operatorname{{softmax}} {a}", "exp(a - y)"),
    # -- along an axis
    Op(
        "softmax",
        "along an axis",
        derivatives=(Derivative("{y}·({g} − Σ {g}·{y})", r"{y} \odot ({g} - \textstyle\sum {g} \odot {y})"),),
        parameters=ALONG,
    ),
    Op(
        "log_softmax",
        "along an axis",
        derivatives=(
            Derivative("{g} − softmax({a})·Σ {g}", r"{g} - \operatorname{{softmax}}({a}) \textstyle\sum {g}"),
        ),
        parameters=ALONG,
        not_finite=OVERFLOW,
    ),
    # -- shape
    Op("reshape", "shape", derivatives=(MOVED,), parameters=SHAPE),
    Op("transpose", "shape", derivatives=(MOVED,), parameters="x:value axes:ints?"),
    Op("T", "shape", "property", (MOVED,), call=lambda x: x.T, composed=True),
    Op("swapaxes", "shape", derivatives=(MOVED,), parameters="x:value first:int second:int", composed=True),
    Op("squeeze", "shape", derivatives=(MOVED,), parameters="x:value axis:axis?", composed=True),
    Op("expand_dims", "shape", derivatives=(MOVED,), parameters="x:value axis:int", composed=True),
    Op(
        "broadcast_to",
        "shape",
        derivatives=(ONE,),
        parameters=SHAPE,
        cost=broadcast,
        example="broadcast_to(x, 2, 2, 3)",
    ),
    Op("getitem", "indexing", "index", (MOVED,), "x:value index:index", operator.getitem, example="x[:, 1:]"),
    # -- joining
    Op("concatenate", "joining", "function", (PART,), JOIN, lambda *each, **how: concatenate(each, **how), joined),
    Op("stack", "joining", "function", (PART,), JOIN, lambda *each, **how: stack(each, **how), joined),
    # -- layers and losses
    Op(
        "linear",
        "matrix product",
        "layer",
        (LEFT, RIGHT, Derivative("{g}, summed over the rows", r"\textstyle\sum_i {g}_i")),
        "inputs:value weight:value bias:value",
        linear,
        not_finite=OVERFLOW,
    ),
    Op(
        "mse_loss",
        "loss",
        "function",
        (
            Derivative("2·({a} − {b})/n", r"\tfrac{{2}}{{n}} ({a} - {b})", "2 * (a - b) / a.size"),
            Derivative("2·({b} − {a})/n", r"\tfrac{{2}}{{n}} ({b} - {a})", "2 * (b - a) / a.size"),
        ),
        parameters="prediction:prediction target:value",
        call=mse_loss,
        composed=True,
    ),
    Op(
        "cross_entropy",
        "loss",
        "function",
        (
            Derivative(
                "{g}·(softmax({a}) − one-hot label)/n",
                r"\tfrac{{1}}{{n}} (\operatorname{{softmax}}({a}) - \text{{one-hot}})",
            ),
        ),
        "logits:prediction labels:labels",
        cross_entropy,
        not_finite=OVERFLOW,
    ),
    Op(
        "binary_cross_entropy_with_logits",
        "loss",
        "function",
        (
            Derivative(
                "(sigmoid {a} − {b})/n",
                r"\tfrac{{1}}{{n}} (\sigma({a}) - {b})",
                "(sigmoid(a) - b) / a.size",
            ),
            Derivative("−{a}/n", r"-\tfrac{{1}}{{n}} {a}", "-a / a.size"),
        ),
        parameters="logits:prediction targets:value",
        call=binary_cross_entropy_with_logits,
        composed=True,
    ),
)
# Other words that people search for an operation by: its spoken name, and its name in other libraries
_ALIASES = {
    "+": "plus, add, addition",
    "-": "minus, subtract, subtraction, difference",
    "*": "times, multiply, multiplication, elementwise product, element wise product, hadamard product",
    "/": "divide by, division, divided, quotient",
    "**": "power, square, squared, exponent, cube",
    "neg": "minus, negative, negation",
    "@": "matmul, dot, multiply, matrix multiplication, matrix product",
    "exp": "exponential, e to the x",
    "log": "ln, logarithm, natural log",
    "sqrt": "square root, squareroot, root",
    "sin": "sine",
    "cos": "cosine",
    "tanh": "hyperbolic tangent",
    "sigmoid": "logistic function, s shaped function",
    "relu": "rectifier, rectified linear unit",
    "leaky_relu": "leaky, leaky rectifier",
    "abs": "absolute value",
    "clip": "clamp",
    "maximum": "larger of two, elementwise max",
    "minimum": "smaller of two, elementwise min",
    "where": "condition, choose, mask",
    "mean": "average, divide by n",
    "var": "variance",
    "std": "standard deviation",
    "norm": "length of a vector, euclidean norm",
    "max": "largest, max pooling",
    "min": "smallest",
    "prod": "product of elements",
    "logsumexp": "log sum exp",
    "softmax": "normalised exponential",
    "reshape": "view, flatten",
    "transpose": "permute",
    "swapaxes": "swap axes",
    "expand_dims": "unsqueeze, new axis",
    "broadcast_to": "expand, repeat",
    "getitem": "indexing, index, slice, slicing, gather, embedding lookup",
    "concatenate": "cat, concat, join",
    "linear": "affine, dense layer, fully connected layer",
    "mse_loss": "mse, mean squared error, squared error, squared loss, l2 loss",
    "cross_entropy": "negative log likelihood, nll, softmax loss, log loss, one hot labels, logits",
    "binary_cross_entropy_with_logits": "bce, binary cross entropy, bcewithlogits",
}
OPS: Mapping[str, Op] = MappingProxyType(
    {op.name: replace(op, aliases=tuple(_ALIASES[op.name].split(", ")) if op.name in _ALIASES else ()) for op in _ROWS}
)
UNKNOWN = Op("", "other")  # for operations without a row
