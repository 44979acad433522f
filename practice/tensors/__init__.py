"""The course "Tensors": from the sum over copied axes to a network that reads digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from practice.task import Check, Course, Inputs, Mistake, Task

FOLDER = Path(__file__).resolve().parent
DIGITS = FOLDER.parents[1] / "assets" / "digits.npz"
UNSEEN = 450  # of the 1,797 digits
ENOUGH = 0.9  # of the unseen digits


# -- Inputs ------------------------------------------------------------------------------------------------------------


def _arrays(dtype: str = "float64", positive: bool = False, **shapes: str) -> Callable[[Generator, int], Inputs]:
    """Arrays of random numbers. A shape is written in letters: "nm" has n rows and m columns, "n1" one column, "" is a
    number. n, m and k differ from each other."""

    def inputs(rng: Generator, size: int) -> Inputs:
        lengths = {"1": 1, **dict(zip("nmk", (2 + size // 2 + rng.permutation(3)).tolist(), strict=True))}
        made = {}
        for name, letters in shapes.items():
            values = np.round(rng.normal(size=[lengths[letter] for letter in letters]), 2 if size < 3 else 6)
            values = np.where(values == 0, 0.5, values)  # relu has its kink there, and a check of its own for that
            values = np.abs(values) + 0.1 if positive and name != "v" else values
            made[name] = values.astype(dtype) if letters else float(values)
        return made

    return inputs


def _scaled(inputs: Callable[[Generator, int], Inputs], **factors: float) -> Callable[[Generator, int], Inputs]:
    """The same inputs, some of them multiplied by a number."""
    return lambda rng, size: {name: value * factors.get(name, 1) for name, value in inputs(rng, size).items()}


def _ties(rng: Generator, size: int) -> Inputs:
    return {"x": rng.integers(-1, 2, size + 2).astype(float), "v": np.round(rng.normal(size=size + 2), 2)}


def _with_zeros(rng: Generator, size: int) -> Inputs:
    made = {name: rng.integers(-1, 2, (2, 2 + size)).astype(float) for name in ("a", "b")}
    made["a"][0, 0] = 0
    return {**made, "v": np.round(rng.normal(size=(2, 2 + size)), 2)}


def _labelled(scale: float = 1, dtype: str = "float64") -> Callable[[Generator, int], Inputs]:
    """Logits of some samples, and the class of each."""

    def inputs(rng: Generator, size: int) -> Inputs:
        samples, classes = 2 + size, 3 + size % 2
        logits = np.round(rng.normal(size=(samples, classes)), 2) * scale
        return {"z": logits.astype(dtype), "labels": rng.integers(0, classes, samples)}

    return inputs


def _small_network(rng: Generator, size: int) -> Inputs:
    samples, pixels, hidden, classes = 4 + size, 2 + size, 4, 3
    made = {
        "w1": rng.normal(size=(pixels, hidden)), "b1": rng.normal(size=hidden),
        "w2": rng.normal(size=(hidden, classes)), "b2": rng.normal(size=classes),
        "x": rng.normal(size=(samples, pixels)),
    }  # fmt: skip
    return {name: np.round(value, 2) for name, value in made.items()} | {"labels": rng.integers(0, classes, samples)}


def _digits(rng: Generator, size: int) -> Inputs:
    with np.load(DIGITS) as digits:
        images, labels = digits["images"].reshape(-1, 64) / 16, digits["labels"].astype(int)
    rows = np.random.default_rng(0).permutation(len(images))  # always the same: luck has no part in the verdict
    train, unseen = rows[UNSEEN:], rows[:UNSEEN]
    return {"images": images[train], "labels": labels[train], "unseen": images[unseen], "answers": labels[unseen]}


# -- Checks of one kind ------------------------------------------------------------------------------------------------


def _of_two(
    name: str, expression: str, a: str, b: str, v: str, inputs: Callable[[Generator, int], Inputs] | None = None
) -> Check:
    """Two tensors of the given shapes meet in an expression whose result has the shape `v`."""
    return Check(
        name, f"a, b = Tensor(a), Tensor(b)\nout = {expression}\nout.backward(v)",
        ("out.data", "out.grad", "a.grad", "b.grad", "a.data", "b.data"),
        inputs or _arrays(a=a, b=b, v=v), output="out.data", upstream="v",
        derivatives={"a.grad": "a", "b.grad": "b"}, cases=4,
    )  # fmt: skip


def _of_one(
    name: str, expression: str, x: str, v: str, inputs: Callable[[Generator, int], Inputs] | None = None
) -> Check:
    """A tensor of shape `x` in an expression whose result has the shape `v`."""
    return Check(
        name, f"x = Tensor(x)\nout = {expression}\nout.backward(v)", ("out.data", "out.grad", "x.grad", "x.data"),
        inputs or _arrays(x=x, v=v), output="out.data", upstream="v", derivatives={"x.grad": "x"}, cases=4,
    )  # fmt: skip


def _float32(expression: str, v: str = "nm") -> Check:
    """float32 goes in: does float32 come out, and come back?"""
    return Check(
        "float32 stays float32", f"x = Tensor(x)\nout = {expression}\nout.backward(v)",
        ("str(out.data.dtype)", "str(x.grad.dtype)", "out.data", "x.grad"),
        _arrays("float32", x="nm", v=v), rtol=1e-4, cases=4,
    )  # fmt: skip


def _twice(expression: str, name: str = "Two passes", shape: str = "nm") -> Check:
    """Two passes from one result: a rule finds in the second what it found in the first."""
    return Check(
        name, f"x = Tensor(x)\nout = {expression}\nout.backward(v)\nout.backward(v)", ("x.grad",),
        _arrays(x=shape, v=shape), cases=4,
    )  # fmt: skip


def _spoiled(
    name: str, lines: str, write: str, right: Callable[[np.ndarray], np.ndarray], dtype: str = "float64"
) -> Check:
    """A write between the forward and the backward pass: it must be refused, or do no harm to the gradient `right`."""

    def judge(inputs: Inputs, values: Mapping[str, Any]) -> str:
        with np.errstate(all="ignore"):
            grad, wanted = values["t.grad"], right(inputs["x"])
        harmless = np.shape(grad) == wanted.shape and np.allclose(grad, wanted, 1e-4)
        if values["refused"] is True or harmless:
            return ""
        return "The write went through in silence, and the gradient is not that of the numbers of the forward pass."

    program = "\n".join(
        (lines, "refused = False", "try:", f"    {write}", "    y.backward()", "except (ValueError, RuntimeError):",
         "    refused = True")
    )  # fmt: skip
    return Check(name, program, ("refused", "t.grad"), _arrays(dtype, positive=True, x="nn"), cases=4, judge=judge)


def _read(inputs: Inputs, values: Mapping[str, Any]) -> str:
    """Were enough of the unseen digits read?"""
    logits, answers = values["logits.data"], inputs["answers"]
    if not isinstance(logits, np.ndarray) or logits.shape != (len(answers), 10):
        return f"The logits of {len(answers)} images should be an array of shape ({len(answers)}, 10)."
    if not np.isfinite(logits).all():
        return "Some logits are not finite: the training has run away. A smaller learning rate may hold it."
    guesses = logits.argmax(axis=1)
    if (guesses == guesses[0]).all():
        return (
            f"Every unseen image is taken for a {guesses[0]}: nothing was learnt. Do all weights start at random, and "
            f"does each parameter move?"
        )
    share = float((guesses == answers).mean())
    if share > ENOUGH:
        return ""
    return f"{share:.1%} of the unseen digits are read, and more than {ENOUGH:.0%} are asked for: more steps?"


# -- The tasks ---------------------------------------------------------------------------------------------------------


def _copied(name: str, x: str, grad: str) -> Check:
    return Check(
        name, "y = x + 0 * grad  # x, copied to the shape of grad\ndx = unbroadcast(grad, x.shape)", ("dx",),
        _arrays(x=x, grad=grad), output="y", upstream="grad", derivatives={"dx": "x"}, cases=4,
    )  # fmt: skip


UNBROADCAST = Task(
    "unbroadcast",
    "Sum what was copied",
    """
When NumPy adds a row of shape `(3,)` to an array of shape `(2, 3)`, it copies the row. This is *broadcasting*. Each
copy gets a gradient, so the row's gradient is their sum.

Write the function `unbroadcast(grad, shape)`. `grad` is an array; `shape` is the shape of the operand before it was
copied. Return an array of that shape: `grad`, summed over each axis that broadcasting put in front, and over each
axis that it stretched from size 1.

Addition and multiplication will need this. Without it a gradient has the wrong shape or, worse, the right shape and
wrong numbers.

The class `Tensor` is given, with `backward` over a topological order. Read it first.
""",
    (
        _copied("Nothing was copied", "nm", "nm"),
        _copied("A row, copied to every row", "m", "nm"),
        _copied("A column, copied to every column", "n1", "nm"),
        _copied("Two axes in front", "m", "knm"),
        _copied("An axis in front, and one of size 1", "n1", "knm"),
        _copied("Two axes of size 1", "1m1", "kmn"),
        _copied("Size 1 that stayed size 1", "n1", "n1"),
        Check("A number, copied everywhere", "dx = unbroadcast(grad, ())", ("dx",), _arrays(grad="nm"), cases=4),
        Check(
            "An array that is not contiguous", "dx = unbroadcast(grad.T[::2], x.shape)", ("dx",),
            _arrays(x="n", grad="nm"), cases=4,
        ),
    ),
    (
        Mistake(
            "front kept", "The axes that broadcasting put in front are still there: they are copies as well.",
            (("    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))\n", ""),),
        ),
        Mistake(
            "stretched kept", "An axis of size 1 was stretched too, and is not summed.",
            (("    return grad.sum(axis=stretched, keepdims=True)", "    return grad"),),
        ),
        Mistake(
            "axis lost", "The sum over a stretched axis removed the axis. The operand had it, with size 1.",
            (("axis=stretched, keepdims=True", "axis=stretched"),),
        ),
        Mistake(
            "averaged", "That is the average of what the copies get. Each copy counts in full.",
            (("return grad.sum(axis=stretched", "return grad.mean(axis=stretched"),),
        ),
        Mistake(
            "front averaged", "Along the new axes in front you take the average. Each copy counts in full.",
            (("grad = grad.sum(axis=tuple(", "grad = grad.mean(axis=tuple("),),
        ),
        Mistake(
            "back summed", "Broadcasting puts new axes in front, and you sum the last ones.",
            (("tuple(range(grad.ndim - len(shape)))", "tuple(range(len(shape), grad.ndim))"),),
        ),
        Mistake(
            "first copy", "That is the gradient of the first copy alone. The others are lost.",
            (("    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))\n",
              "    grad = grad[(0,) * (grad.ndim - len(shape))]\n"),),
        ),
        Mistake(
            "one in front", "Broadcasting may put several axes in front. Only one of them is summed.",
            (("    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))\n",
              "    grad = grad.sum(axis=0) if grad.ndim > len(shape) else grad\n"),),
        ),
        Mistake(
            "one axis", "Only the first of several stretched axes is summed.",
            (("axis=stretched, keepdims", "axis=stretched[:1], keepdims"),),
        ),
    ),
    (
        "Take `x` of shape `(3,)` and `grad` of shape `(2, 3)`. Which elements of `grad` belong to `x[0]`?",
        "Shapes are lined up at their ends. `grad.ndim - len(shape)` axes are new; they stand in front.",
        "First sum over the new axes. Then sum over each axis where `shape` has a 1, and keep that axis: "
        "`keepdims=True`. `sum` takes a tuple of axes.",
    ),
)  # fmt: skip


ELEMENTWISE = Task(
    "elementwise",
    "Add and multiply",
    """
Teach `Tensor` to add, subtract, multiply and negate: `__add__`, `__sub__`, `__mul__`, `__neg__` and the reflected
`__radd__`, `__rsub__`, `__rmul__`.

Shapes broadcast as in NumPy, and each operand gets a gradient of its own shape. A number or an array may stand on
either side: it becomes a tensor **of the other operand's dtype**, so that float32 stays float32.

As with scalars, an operation makes `out = Tensor(data, (self, other), "+")` and gives it a function `out._backward`
without parameters. This one reads `out.grad` and calls `_receive` of each child.

Keep the names `"+"` and `"*"`: the lab draws graphs by `_op` and `_children`. Only two rules are needed, as `a - b` is
`a + (-1) * b`.
""",
    (
        _of_two("A sum", "a + b", "nm", "nm", "nm"),
        _of_two("A product", "a * b", "nm", "nm", "nm"),
        _of_two("A product with zeros", "a * b", "", "", "", _with_zeros),
        Check(
            "What drawings of the graph read", "s, p = Tensor(a) + Tensor(b), Tensor(a) * 2",
            ("s._op", "p._op", "[child.data for child in s._children]", "len(p._children)"),
            _arrays(a="n", b="n"), cases=2,
        ),
        _of_two("A row that is added to every row", "a + b", "nm", "m", "nm"),
        _of_two("A row that multiplies every row", "a * b", "m", "nm", "nm"),
        _of_two("(N, 1) and (N,) make (N, N)", "a * b + a", "n1", "n", "nn"),
        _of_two("Size 1 on both sides", "a * b - b", "n1", "1m", "nm"),
        _of_two("A tensor without axes", "a * b + a", "", "nm", "nm"),
        _of_two("Three axes", "b + a * b", "knm", "n1", "knm"),
        _of_two("A difference", "a - b", "n1", "m", "nm"),
        _of_two("A value used twice", "a * a + a * b", "nm", "m", "nm"),
        _of_one("The negative", "-x", "nm", "nm"),
        _of_one("A number on the right", "(x + 2) * 3 - 4", "nm", "nm"),
        _of_one("A number on the left", "5 - 2 * (3 + x)", "nm", "nm"),
        Check(
            "An array on either side", "x = Tensor(x)\nout = c - x * c + (c + c * x)\nout.backward(v)",
            ("out.data", "x.grad"), _arrays(x="m", c="nm", v="nm"),
            output="out.data", upstream="v", derivatives={"x.grad": "x"}, cases=4,
        ),
        Check(
            "Arrays that are not contiguous", "a, b = Tensor(a.T), Tensor(b[::2])\nout = a * b + b\nout.backward(v.T)",
            ("out.data", "a.grad", "b.grad"), lambda rng, size: {
                "a": np.round(rng.normal(size=(3, 2)), 2), "b": np.round(rng.normal(size=(4, 3)), 2),
                "v": np.round(rng.normal(size=(3, 2)), 2),
            }, cases=4,
        ),
        *(_twice(f"x {sign} x", f"Two passes through x {sign} x") for sign in "+*-"),
        _float32("0.1 - 2.5 * x + x * 3 + x"),
        Check(
            "Two passes", "x = Tensor(x)\nout = x * x * x\nout.backward()\nout.backward()", ("x.grad",),
            _arrays(x="n"), cases=4,
        ),
        Check(
            "One tensor in several sums and products",
            "x, y = Tensor(x), Tensor(y)\n"
            "out = (x + 1) * (x + 2) + (1 + y) * (2 + y) + (x * 3) * (x * 4) + (3 * y) * (4 * y)\nout.backward(v)",
            ("out.data", "x.grad", "y.grad"), _arrays(x="n", y="n", v="n"),
            output="out.data", upstream="v", derivatives={"x.grad": "x", "y.grad": "y"}, cases=4,
        ),
        Check(
            "A graph whose parts share their inputs",
            "x = Tensor(x)\na = x * 2\nb = a * x\nc = a + b\nout = c * b - a\nout.backward(v)", ("out.data", "x.grad"),
            _arrays(x="n", v="n"), output="out.data", upstream="v", derivatives={"x.grad": "x"}, cases=4,
        ),
    ),
    (
        Mistake(
            "other forgotten", "In a sum, the second operand gets no gradient.",
            (("            other._receive(unbroadcast(out.grad, b.shape))\n", ""),),
        ),
        Mistake(
            "not summed", "In a sum, an operand was copied and its gradient still has the shape of the result.",
            (("other._receive(unbroadcast(out.grad, b.shape))", "other._receive(out.grad)"),),
        ),
        Mistake(
            "product not summed", "In a product, an operand was copied and its gradient still has the result's shape.",
            (("self._receive(unbroadcast(out.grad * b, a.shape))", "self._receive(out.grad * b)"),),
        ),
        Mistake(
            "own value", "In a product, you multiply by the operand itself. How does a * b change as a grows?",
            (("unbroadcast(out.grad * b, a.shape)", "unbroadcast(out.grad * a, a.shape)"),
             ("unbroadcast(out.grad * a, b.shape)", "unbroadcast(out.grad * b, b.shape)")),
        ),
        Mistake(
            "product upstream missing", "In a product, the gradient from above is missing: only the slope is sent.",
            (("unbroadcast(out.grad * b, a.shape)", "unbroadcast(np.ones(out.grad.shape) * b, a.shape)"),
             ("unbroadcast(out.grad * a, b.shape)", "unbroadcast(np.ones(out.grad.shape) * a, b.shape)")),
        ),
        Mistake(
            "quotient", "In a product you divide the result by the operand. Where that is 0, the result is nan.",
            (("unbroadcast(out.grad * b, a.shape)", "unbroadcast(out.grad * (a * b) / a, a.shape)"),
             ("unbroadcast(out.grad * a, b.shape)", "unbroadcast(out.grad * (a * b) / b, b.shape)")),
        ),
        Mistake(
            "sum of factors", "In a product, both factors get the plain gradient. That is the rule of a sum.",
            (("unbroadcast(out.grad * b, a.shape)", "unbroadcast(out.grad, a.shape)"),
             ("unbroadcast(out.grad * a, b.shape)", "unbroadcast(out.grad, b.shape)")),
        ),
        Mistake(
            "overwritten", "You overwrote a gradient instead of adding to it. A value used twice gets both messages.",
            (("self.grad = message if self.grad is None else self.grad + message", "self.grad = message"),),
        ),
        Mistake(
            "sum overwrites", "In a sum, the gradient replaces what had arrived before. Give it to `_receive`.",
            (("self._receive(unbroadcast(out.grad, a.shape))", "self.grad = unbroadcast(out.grad, a.shape)"),),
        ),
        Mistake(
            "product overwrites", "In a product, the gradient replaces what had arrived before. Give it to `_receive`.",
            (("self._receive(unbroadcast(out.grad * b, a.shape))", "self.grad = unbroadcast(out.grad * b, a.shape)"),),
        ),
        Mistake(
            "minus lost", "In a difference, the second operand must fall for the result to grow: its sign is missing.",
            (("return self + -self._operand(other)",
              "other = self._operand(other)\n        out = self + other\n        out.data = self.data - other.data\n"
              "        return out"),),
        ),
        Mistake(
            "difference turned", "`x - y` came out as y - x: the second operand is what is taken away.",
            (("return self + -self._operand(other)", "return -self + self._operand(other)"),),
        ),
        Mistake(
            "reflected difference", "`5 - x` asks for x.__rsub__(5). You answer with x - 5.",
            (("return self._operand(other) + -self", "return self - other"),),
        ),
        Mistake(
            "float64 constants", "A number that is mixed in turns float32 into float64: give it the tensor's dtype.",
            (("Tensor(np.asarray(other, self.data.dtype))", "Tensor(other)"),),
        ),
    ),
    (
        "For each rule ask: if this operand grows a little, how much does each element of the result grow? Multiply "
        "that by `out.grad`.",
        "In a sum each operand gets `out.grad`. In a product each gets `out.grad` times the value of the other.",
        "What arrives has the shape of the result. Pass it through `unbroadcast(..., operand.data.shape)` before "
        "`_receive`.",
        "Begin each operation with a line that turns `other` into a tensor if it is none: "
        "`Tensor(np.asarray(other, self.data.dtype))`.",
    ),
)  # fmt: skip


_SUM_BY_ONES = """\
def sum(self, axis=None, keepdims=False):
    x = self.data
    out = Tensor(x.sum(axis=axis, keepdims=keepdims), (self,), "sum")

    def backward():
        grad = out.grad
        if axis is not None and not keepdims:
            grad = np.expand_dims(grad, axis)
        self._receive(grad * np.ones_like(x))

    out._backward = backward
    return out
"""
_ONE_HOT = """\
def cross_entropy(logits, labels):
    rows = np.arange(len(labels))
    z = logits.data - logits.data.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    out = Tensor(-log_p[rows, labels].sum() / len(labels), (logits,), "cross entropy")

    def backward():
        p = np.exp(log_p)
        one_hot = np.zeros_like(p)
        one_hot[rows, labels] = 1
        logits._receive(out.grad * (p - one_hot) / len(labels))

    out._backward = backward
    return out
"""

REDUCE = Task(
    "reduce",
    "Sum and mean over axes",
    """
Write the methods `sum(axis=None, keepdims=False)` and `mean(axis=None, keepdims=False)`. `axis` means what it means in
NumPy: `None` (all), a number, a negative number, or a tuple. With `keepdims=True` a summed axis stays, with size 1.

Backward is the mirror of broadcasting: the forward pass adds up elements, so the backward pass hands the sum's gradient
to each of them. The array must again have the shape of the input. An axis that was removed has to come back first,
**in its place**: NumPy lines up shapes at their ends and would put it in front.

A loss is nearly always a mean, so every training step will pass here.
""",
    (
        _of_one("The sum of all", "x.sum()", "nm", ""),
        _of_one("Axis 0", "x.sum(axis=0)", "nm", "m"),
        _of_one("Axis 1 of a square", "x.sum(axis=1)", "nn", "n"),
        _of_one("Axis 1", "x.sum(axis=1)", "nm", "n"),
        _of_one("An axis in the middle", "x.sum(axis=1)", "nmk", "nk"),
        _of_one("A negative axis", "x.sum(axis=-1)", "nm", "n"),
        _of_one("A negative axis in front", "x.sum(axis=-3)", "nmk", "mk"),
        _of_one("Two axes", "x.sum(axis=(0, 2))", "nmk", "m"),
        _of_one("Two axes, the later one first", "x.sum(axis=(1, 0))", "nmk", "k"),
        _of_one("keepdims", "x.sum(axis=1, keepdims=True) * x", "nm", "nm"),
        _of_one("keepdims without an axis", "x.sum(keepdims=True)", "nm", "11"),
        _of_one("The mean of all", "x.mean()", "nm", ""),
        _of_one("The mean of axis 0", "x.mean(axis=0)", "nm", "m"),
        _of_one("The mean of two axes", "x.mean(axis=(-1, 0))", "nmk", "m"),
        _of_one("A mean with keepdims", "x - x.mean(axis=-1, keepdims=True)", "nm", "nm"),
        _of_one("A tensor without axes", "x.sum() + x.mean()", "", ""),
        _of_one("Sums of sums", "(x.sum(axis=0) * x).sum(axis=1)", "nm", "n"),
        Check(
            "An array that is not contiguous", "x = Tensor(x.T)\nout = x.sum(axis=0) * x.mean(axis=0)\nout.backward(v)",
            ("out.data", "x.grad"), _arrays(x="nm", v="n"), cases=4,
        ),
        _float32("x.sum() + x.mean(axis=0).mean()", ""),
    ),
    (
        Mistake(
            "axis not restored", "The removed axis is not put back in its place before the gradient is copied.",
            (("                grad = np.expand_dims(grad, axis)\n", "                pass\n"),),
        ),
        Mistake(
            "not copied", "Each element that was added up gets the gradient: yours does not have the input's shape.",
            (("self._receive(np.broadcast_to(grad, shape))", "self._receive(grad)"),),
        ),
        Mistake(
            "shared out", "A sum does not share its gradient out among its elements: each gets all of it.",
            (("self._receive(np.broadcast_to(grad, shape))",
              "self._receive(np.broadcast_to(grad, shape) * (out.data.size / np.prod(shape)))"),),
        ),
        Mistake(
            "mean not divided", "The mean is not divided by the number of elements.",
            (("return total * (total.data.size / self.data.size)", "return total"),),
        ),
        Mistake(
            "mean's gradient not divided", "The mean is right, and its gradient is that of a sum: divide it as well.",
            (("return total * (total.data.size / self.data.size)",
              "total.data = total.data * (total.data.size / self.data.size)\n        return total"),),
        ),
        Mistake(
            "divided by all", "The mean over an axis divides by the length of that axis, not by the number of all "
            "elements.",
            (("total * (total.data.size / self.data.size)", "total * (1 / self.data.size)"),),
        ),
        Mistake(
            "divided by the first axis", "The mean divides by the length of axis 0, whichever axis it runs over.",
            (("total * (total.data.size / self.data.size)",
              "total * (1 / (len(self.data) if self.data.ndim else 1))"),),
        ),
        Mistake(
            "always behind", "The removed axis comes back at the end, wherever it was.",
            (("np.expand_dims(grad, axis)", "np.expand_dims(grad, -1 if isinstance(axis, int) else axis)"),),
        ),
        Mistake(
            "keepdims ignored", "`keepdims=True` does not keep the axis.",
            (("self.data.sum(axis=axis, keepdims=keepdims)", "self.data.sum(axis=axis)"),
             ("if axis is not None and not keepdims:", "if axis is not None:")),
        ),
    ),
    (
        "Each element counts once in its sum. So what does each one get of the sum's gradient?",
        "`np.broadcast_to(grad, shape)` copies along axes of size 1. A removed axis must first come back: "
        "`np.expand_dims(grad, axis)` takes numbers, negative ones and tuples.",
        "With `axis=None` or `keepdims=True` no axis needs to be put back.",
        "`mean` needs no rule: it is `sum` times a number. The number is the size of the result over the size of the "
        "input.",
    ),
    also=(_SUM_BY_ONES,),
)  # fmt: skip


MATMUL = Task(
    "matmul",
    "Matrix product",
    """
Write `__matmul__`, so that `a @ b` works for two tensors of two axes each: `(n, m) @ (m, k)` is `(n, k)`.

Element `out[i, j]` is the sum of `a[i, l] * b[l, j]` over all `l`. So `a[i, l]` has a hand in the whole row `i` of the
result, each time with a factor from `b`. Written for all elements at once, both rules are matrix products again. The
shapes nearly give them away: which product of `out.grad`, of shape `(n, k)`, and `b` or its transpose has the shape of
`a`?

Square matrices fit in any order, and one order is right: there the shapes do not help.

Nearly all the work of a neural network is this operation: one product forward, two backward.
""",
    (
        _of_two("Square matrices", "a @ b", "nn", "nn", "nn"),
        _of_two("Three different lengths", "a @ b", "nm", "mk", "nk"),
        _of_two("A row times a column", "a @ b", "1m", "m1", "11"),
        _of_two("A column times a row", "a @ b", "n1", "1m", "nm"),
        _of_one("A matrix times itself", "x @ x", "nn", "nn"),
        _twice("x @ x", "Two passes through x @ x", "nn"),
        _of_two("Two products in a row", "a @ b @ b", "nm", "mm", "nm"),
        _of_two("A product of results", "(a * 2) @ (b + 1) * 2", "nm", "mk", "nk"),
        Check(
            "Arrays that are not contiguous", "a, b = Tensor(a.T), Tensor(b.T)\nout = a @ b\nout.backward(v)",
            ("out.data", "a.grad", "b.grad"), _arrays(a="mn", b="km", v="nk"), cases=4,
        ),
        Check(
            "float32 stays float32", "a, b = Tensor(a), Tensor(b)\nout = a @ b\nout.backward(v)",
            ("str(out.data.dtype)", "str(a.grad.dtype)", "str(b.grad.dtype)", "out.data", "a.grad", "b.grad"),
            _arrays("float32", a="nm", b="mk", v="nk"), rtol=1e-4, cases=4,
        ),
    ),
    (
        Mistake(
            "b not transposed", "For the gradient of a, b stands there as it is. The sum runs over its other axis.",
            (("out.grad @ b.T", "out.grad @ b"),),
        ),
        Mistake(
            "a not transposed", "For the gradient of b, a stands there as it is. The sum runs over its other axis.",
            (("a.T @ out.grad", "a @ out.grad"),),
        ),
        Mistake(
            "neither transposed", "Neither matrix is transposed in the backward pass.",
            (("out.grad @ b.T", "out.grad @ b"), ("a.T @ out.grad", "a @ out.grad")),
        ),
        Mistake(
            "a's order", "For the gradient of a, the factors stand the wrong way round.",
            (("out.grad @ b.T", "b.T @ out.grad"),),
        ),
        Mistake(
            "b's order", "For the gradient of b, the factors stand the wrong way round.",
            (("a.T @ out.grad", "out.grad @ a.T"),),
        ),
        Mistake(
            "swapped", "Each operand got the gradient of the other.",
            (("self._receive(out.grad @ b.T)", "other._receive(out.grad @ b.T)"),
             ("other._receive(a.T @ out.grad)", "self._receive(a.T @ out.grad)")),
        ),
        Mistake(
            "matmul upstream missing", "The gradient from above is missing: it is one factor of each rule.",
            (("out.grad @ b.T", "np.ones(out.grad.shape) @ b.T"), ("a.T @ out.grad", "a.T @ np.ones(out.grad.shape)")),
        ),
        Mistake(
            "elementwise", "That is the product element by element, `*`, not the matrix product.",
            (("Tensor(a @ b, (self, other)", "Tensor(a * b, (self, other)"),),
        ),
    ),
    (
        "Write down the shapes: a is (n, m), b is (m, k), `out.grad` is (n, k). You need something of shape (n, m).",
        "(n, k) times (k, m) is (n, m). Which matrix has the shape (k, m)?",
        "For a: `out.grad @ b.T`. The rule for b is its mirror image.",
    ),
)  # fmt: skip


FUNCTIONS = Task(
    "functions",
    "relu, exp and log",
    """
Write the methods `relu()`, `exp()` and `log()`. Each works element by element, so each element's gradient is `out.grad`
there times the slope there. No axis needs to be summed.

- `relu` lets positive numbers pass and turns all others into 0. At 0 itself it has a kink; we take **slope 0** there,
  as most libraries do. Zeros are common, so this choice shows.
- `exp` is its own slope.
- `log` is the natural logarithm. Inputs are positive.

The slope belongs to the numbers of the forward pass. Take what the rule needs while the forward pass runs, and let
`_backward` use that.
""",
    (
        _of_one("relu", "x.relu()", "nm", "nm"),
        Check(
            "relu at 0", "x = Tensor(x)\nout = x.relu()\nout.backward(v)", ("out.data", "x.grad"), _ties, cases=4,
        ),
        _of_one("exp", "x.exp()", "nm", "nm"),
        _of_one("log", "x.log()", "nm", "nm", _arrays(positive=True, x="nm", v="nm")),
        _of_one("A tensor without axes", "x.exp() + x.relu()", "", ""),
        _of_one("One inside the other", "(x.exp() + 1).log() * x.relu()", "nm", "nm"),
        _of_one("Used twice", "x * x.exp() + x.relu() * x.relu()", "nm", "nm"),
        Check(
            "An array that is not contiguous", "x = Tensor(x.T[::2])\nout = (x.relu() + x.exp()).log()\nout.backward()",
            ("out.data", "x.grad"), _arrays(x="nm"), cases=4,
        ),
        _float32("(x.relu() + x.exp()).log()"),
        _twice("x.exp() + x.relu() + (x * x + 1).log()"),
        *(
            _spoiled(f"{name} after its numbers were replaced", f"t = Tensor(x)\ny = t.{name}()", write, right)
            for name, write, right in (
                ("log", "t.data = t.data + 1", lambda x: 1 / x),
                ("relu", "t.data = -t.data", np.ones_like),
                ("exp", "y.data = y.data * 0", np.exp),
            )
        ),
    ),
    (
        *(
            Mistake(
                f"leaky {leak}",
                f"Below 0, relu is 0 and passes nothing on. Yours lets {leak} of the input through: a leaky relu.",
                (
                    ("np.maximum(x, 0), (self,)", f"np.maximum(x, {leak} * x), (self,)"),
                    ("out.grad * (x > 0)", f"out.grad * np.where(x > 0, 1, {leak})"),
                ),
            )
            for leak in (0.01, 0.1, 0.2)
        ),
        Mistake(
            "tie", "At 0 exactly, your relu has slope 1. Here the slope at 0 is 0.",
            (("out.grad * (x > 0)", "out.grad * (x >= 0)"),),
        ),
        Mistake(
            "relu passes all", "relu's gradient also reaches the elements that were cut off to 0.",
            (("out.grad * (x > 0)", "out.grad"),),
        ),
        Mistake(
            "relu by the gradient", "relu's gate looks at the sign of the gradient. It was the input that was cut off.",
            (("out.grad * (x > 0)", "out.grad * (out.grad > 0)"),),
        ),
        Mistake(
            "relu upstream missing", "relu sends only its slope, without the gradient from above.",
            (("out.grad * (x > 0)", "1.0 * (x > 0)"),),
        ),
        Mistake(
            "relu by its input", "relu's slope is 0 or 1. You multiply by the value itself.",
            (("out.grad * (x > 0)", "out.grad * np.maximum(x, 0)"),),
        ),
        Mistake(
            "exp by the input", "For exp you used the input, not the output. The slope of exp is exp.",
            (("self._receive(out.grad * y)", "self._receive(out.grad * np.log(y))"),),
        ),
        Mistake(
            "exp upstream missing", "exp sends only its slope, without the gradient from above.",
            (("self._receive(out.grad * y)", "self._receive(y)"),),
        ),
        Mistake(
            "exp as a power", "That is the rule of a power, x · exp(x - 1). Here the exponent moves, not the base.",
            (("self._receive(out.grad * y)", "self._receive(out.grad * np.log(y) * y / np.e)"),),
        ),
        Mistake(
            "log by the output", "For log you used the output, not the input.",
            (("self._receive(out.grad / x)", "self._receive(out.grad / np.log(x))"),),
        ),
        Mistake(
            "log multiplied", "For log you multiply where the slope asks for a division.",
            (("self._receive(out.grad / x)", "self._receive(out.grad * x)"),),
        ),
        Mistake(
            "log upstream missing", "log sends only its slope, without the gradient from above.",
            (("self._receive(out.grad / x)", "self._receive(1 / x)"),),
        ),
        Mistake(
            "relu absolute", "Where the input is negative, relu sends the gradient with a minus: that is the absolute "
            "value's rule.",
            (("out.grad * (x > 0)", "out.grad * np.sign(x)"),),
        ),
        Mistake(
            "exp reads late", "exp reads its result in the backward pass. When that was replaced, it finds the new "
            "numbers.",
            (("self._receive(out.grad * y)", "self._receive(out.grad * out.data)"),),
        ),
        Mistake(
            "log reads late", "log reads its input in the backward pass. When that was replaced, it finds the new "
            "numbers.",
            (("self._receive(out.grad / x)", "self._receive(out.grad / self.data)"),),
        ),
        Mistake(
            "relu reads late", "relu looks at its input in the backward pass. When that was replaced, it finds the new "
            "numbers.",
            (("out.grad * (x > 0)", "out.grad * (self.data > 0)"),),
        ),
        Mistake(
            "another base", "`log` is the natural logarithm; yours has base 10.",
            (("Tensor(np.log(x), (self,)", "Tensor(np.log10(x), (self,)"),
             ("self._receive(out.grad / x)", "self._receive(out.grad / (x * np.log(10)))")),
        ),
    ),
    (
        "Which of the three slopes needs the input, which the output, and which only a sign?",
        "The slope of relu is 1 where the input is greater than 0, and 0 elsewhere: `x > 0` is an array of these.",
        "exp: `out.grad` times the output. log: `out.grad` divided by the input.",
    ),
)  # fmt: skip


SOFTMAX = Task(
    "softmax",
    "Softmax",
    """
Write the method `softmax(axis=-1)`: `exp(x)`, divided by the sum of `exp(x)` along the axis. It turns any numbers into
positive ones that add up to 1 along that axis: probabilities.

Two things are hard here.

- `exp(1000)` overflows. Subtracting the same number from all elements along the axis leaves the result as it is, so
  subtract the largest of them first. Not the largest of the whole array: a row far below another must survive as well.
- Each output depends on **every** input along the axis, through the sum. If `p` is the output and `g` its gradient,
  `x[i]` gets `p[i] * (g[i] - sum of g * p)`. Do check that on paper.
""",
    (
        _of_one("The last axis", "x.softmax()", "nm", "nm"),
        _of_one("One axis", "x.softmax()", "n", "n"),
        _of_one("Axis 0", "x.softmax(axis=0)", "nm", "nm"),
        _of_one("An axis in the middle", "x.softmax(axis=1)", "nmk", "nmk"),
        _of_one("Equal numbers", "x.softmax()", "", "", _ties),
        _of_one("Large numbers", "x.softmax()", "", "", _scaled(_arrays(x="nm", v="nm"), x=1e4)),
        Check(
            "Rows far apart", "x = Tensor(x + far)\nout = x.softmax()\nout.backward(v)", ("out.data", "x.grad"),
            _scaled(_arrays(x="nm", far="n1", v="nm"), far=1e4), cases=4,
        ),
        _of_one("Part of a longer expression", "(x.softmax() * x).sum(axis=-1)", "nm", "n"),
        Check(
            "An array that is not contiguous", "x = Tensor(x.T)\nout = x.softmax()\nout.backward(v.T)",
            ("out.data", "x.grad"), _arrays(x="nm", v="nm"), cases=4,
        ),
        _float32("x.softmax() + x.softmax(axis=0)"),
        _twice("x.softmax() * x"),
    ),
    (
        Mistake(
            "no shift", "exp overflows for large inputs. Which number can be subtracted from all of them?",
            (("np.exp(self.data - self.data.max(axis=axis, keepdims=True))", "np.exp(self.data)"),),
        ),
        Mistake(
            "one shift for all", "You subtract the largest number of the whole array. A row far below it underflows to "
            "0, and 0 is divided by 0.",
            (("self.data.max(axis=axis, keepdims=True)", "self.data.max()"),),
        ),
        Mistake(
            "diagonal", "You took each output as a function of its own input alone. It depends on all inputs along the "
            "axis, through the sum.",
            (("self._receive(p * (out.grad - common))", "self._receive(out.grad * p * (1 - p))"),),
        ),
        Mistake(
            "sum forgotten", "The denominator depends on the inputs too: a term is missing.",
            (("self._receive(p * (out.grad - common))", "self._receive(p * out.grad)"),),
        ),
        Mistake(
            "sign of the sum", "The term that comes from the denominator has the wrong sign.",
            (("p * (out.grad - common)", "p * (out.grad + common)"),),
        ),
        Mistake(
            "unweighted", "Along the axis you sum the gradients alone. Each is weighted with its output.",
            (("(out.grad * p).sum(", "out.grad.sum("),),
        ),
        Mistake(
            "backward over all", "In the backward pass you sum over the whole array. Each row has a sum of its own.",
            (("common = (out.grad * p).sum(axis=axis, keepdims=True)", "common = (out.grad * p).sum()"),),
        ),
        Mistake(
            "axis ignored", "`axis` is not heeded: softmax always runs along the last one.",
            (("        powers = np.exp(", "        axis = -1\n        powers = np.exp("),),
        ),
        Mistake(
            "sum over all", "You divide by the sum of the whole array. Each row has a sum of its own.",
            (("powers / powers.sum(axis=axis, keepdims=True)", "powers / powers.sum()"),),
        ),
    ),
    (
        "softmax(x) and softmax(x - c) are the same for every number c. With which c is no exponent above 0?",
        "`keepdims=True` keeps maxima and sums in a shape that fits beside `x`.",
        "Backward, with p the output: first `(out.grad * p)`, summed along the axis with `keepdims=True`. Subtract "
        "that from `out.grad`, and multiply by p.",
    ),
)  # fmt: skip


def _cross_entropy(name: str, inputs: Callable[[Generator, int], Inputs], logits: str = "Tensor(z)") -> Check:
    return Check(
        name, f"z = {logits}\nloss = cross_entropy(z, labels)\nloss.backward()", ("loss.data", "z.grad"), inputs,
        output="loss.data", derivatives={"z.grad": "z"} if logits == "Tensor(z)" else None, cases=4,
    )  # fmt: skip


CROSS_ENTROPY = Task(
    "cross-entropy",
    "Cross entropy",
    """
Write the function `cross_entropy(logits, labels)`. `logits` is a tensor of shape `(samples, classes)`, `labels` an
array of the right class of each sample. The result is a tensor without axes: the **mean** over the samples of
`-log p[label]`, where `p` is the softmax of the sample's logits.

It must survive logits of 1e4. There `p` may be exactly 0 and its logarithm infinite, though the loss is an ordinary
number. So never take the logarithm of a softmax: with the largest logit subtracted, `log p` is
`z - log(sum of exp(z))`.

The gradient is the simplest of all: `p`, minus 1 at the right class, divided by the number of samples.
""",
    (
        _cross_entropy("A few samples", _labelled()),
        _cross_entropy("Logits around 1e4", _labelled(1e4)),
        _cross_entropy("One sample", lambda rng, size: {"z": rng.normal(size=(1, 3)), "labels": np.array([size % 3])}),
        _cross_entropy("Equal logits", lambda rng, size: {"z": np.zeros((2, 3)), "labels": np.array([size % 3, 1])}),
        _cross_entropy(
            "Rows far apart",
            lambda rng, size: {
                "z": np.array([[1e4], [-1e4]]) + np.round(rng.normal(size=(2, 3)), 2), "labels": rng.integers(0, 3, 2)
            },
        ),
        Check(
            "Part of a longer expression", "z = Tensor(z)\nloss = cross_entropy(z * 2, labels) * 3\nloss.backward(v)",
            ("loss.data", "z.grad"), lambda rng, size: {**_labelled()(rng, size), "v": round(rng.normal(), 2)},
            output="loss.data", upstream="v", derivatives={"z.grad": "z"}, cases=4,
        ),
        Check(
            "Two passes", "z = Tensor(z)\nloss = cross_entropy(z, labels)\nloss.backward()\nloss.backward()",
            ("z.grad",), _labelled(), cases=4,
        ),
        Check(
            "The labels stay as they were", "before = labels.copy()\nz = Tensor(z)\nloss = cross_entropy(z, labels)\n"
            "loss.backward()", ("labels - before", "z.data", "z.grad"), _labelled(), cases=4,
        ),
        _cross_entropy(
            "An array that is not contiguous",
            lambda rng, size: {"z": np.round(rng.normal(size=(3, 4)), 2), "labels": rng.integers(0, 3, 2)},
            "Tensor(z.T[::2])",
        ),
        Check(
            "float32 stays float32", "z = Tensor(z)\nloss = cross_entropy(z, labels)\nloss.backward()",
            ("str(loss.data.dtype)", "str(z.grad.dtype)", "loss.data", "z.grad"), _labelled(dtype="float32"),
            rtol=1e-4, cases=4,
        ),
    ),
    (
        Mistake(
            "summed", "That is the sum over the samples. The loss is their mean.",
            (("-log_p[rows, labels].mean()", "-log_p[rows, labels].sum()"),
             ("out.grad * slope / len(labels)", "out.grad * slope")),
        ),
        Mistake(
            "gradient not divided", "The loss is a mean over the samples, and its gradient is not divided by their "
            "number.",
            (("out.grad * slope / len(labels)", "out.grad * slope"),),
        ),
        Mistake(
            "gradient divided by all", "The gradient is divided by the number of all logits. The mean is over the "
            "samples.",
            (("out.grad * slope / len(labels)", "out.grad * slope / slope.size"),),
        ),
        Mistake(
            "gradient divided by classes", "The gradient is divided by the number of classes. The mean is over the "
            "samples.",
            (("out.grad * slope / len(labels)", "out.grad * slope / slope.shape[1]"),),
        ),
        Mistake(
            "log of softmax", "You take the logarithm of a softmax. For large logits that is the logarithm of 0.",
            (("log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))",
              "log_p = np.log(np.exp(z) / np.exp(z).sum(axis=1, keepdims=True))"),),
        ),
        Mistake(
            "logits not shifted", "exp overflows for large logits: subtract the largest of each sample first.",
            (("logits.data - logits.data.max(axis=1, keepdims=True)", "logits.data"),),
        ),
        Mistake(
            "label not subtracted", "At the right class 1 must be subtracted: its logit should grow, not fall.",
            (("        slope[rows, labels] -= 1\n", ""),),
        ),
        Mistake(
            "wrong sign", "The gradient has the wrong sign: a step against it would make the loss grow.",
            (("out.grad * slope / len(labels)", "-out.grad * slope / len(labels)"),),
        ),
        Mistake(
            "both signs", "The loss has no minus: it is the mean of log p, and training would make that as small as "
            "possible.",
            (("Tensor(-log_p[rows", "Tensor(log_p[rows"), ("out.grad * slope / len", "-out.grad * slope / len")),
        ),
        Mistake(
            "loss's sign", "The loss itself has the wrong sign: log p is negative, and a loss is not.",
            (("Tensor(-log_p[rows", "Tensor(log_p[rows"),),
        ),
        Mistake(
            "closure ruined", "The first backward pass is right and a second one is not: the rule has changed an array "
            "that it will need again. Make a new one.",
            (("        slope = np.exp(log_p)\n", "        slope = np.exp(log_p, out=log_p)\n"),),
        ),
        Mistake(
            "whole columns", "`[:, labels]` takes these columns of every sample. Each sample has one label: pick by "
            "row and column.",
            (("-log_p[rows, labels]", "-log_p[:, labels]"), ("slope[rows, labels] -= 1", "slope[:, labels] -= 1")),
        ),
        Mistake(
            "columns of the gradient", "In the gradient, 1 is subtracted in whole columns. A sample has one label.",
            (("slope[rows, labels] -= 1", "slope[:, labels] -= 1"),),
        ),
        Mistake(
            "loss upstream missing", "The gradient from above is missing. The loss may be part of a longer expression.",
            (("out.grad * slope / len(labels)", "slope / len(labels)"),),
        ),
        Mistake(
            "wrong axis", "The softmax runs over the samples, axis 0. Each sample's classes are a row: axis 1.",
            (("logits.data.max(axis=1", "logits.data.max(axis=0"), ("np.exp(z).sum(axis=1", "np.exp(z).sum(axis=0")),
        ),
    ),
    (
        "`log(exp(z) / s)` is `z - log(s)`. Written so, nothing can become the logarithm of 0.",
        "`log_p[np.arange(samples), labels]` picks from each row the column of its label.",
        "In `_backward`: `exp(log_p)` is p. Subtract 1 at the same places, multiply by `out.grad`, divide by the "
        "number of samples.",
    ),
    also=(_ONE_HOT,),
)  # fmt: skip


MODES = Task(
    "modes",
    "no_grad and detach",
    """
Recording costs memory, and there are things that no gradient should pass through. Write two ways out:

- `with no_grad():` Inside the block nothing is recorded: a result has no `_children`, so no gradient passes through
  it. After the block, recording is **as it was before**: also after an exception, and in a block inside another.
- `t.detach()` A new tensor with the values of `t` and without its history. `t` itself keeps its own.

`backward` calls `_backward` only of tensors that have `_children`. So one line of `Tensor.__init__` is all that
`no_grad` needs to change, if something tells it whether to record.

Predicting, measuring and updating are done in `no_grad`.
""",
    (
        Check(
            "Nothing is recorded in the block",
            "x, w = Tensor(x), Tensor(w)\nwith no_grad():\n    y = x * 2\nout = y * w\nout.backward(v)",
            ("len(y._children)", "out.data", "x.grad", "w.grad"), _arrays(x="nm", w="m", v="nm"), cases=4,
        ),
        Check(
            "After the block", "x = Tensor(x)\nwith no_grad():\n    x * x\nout = x * x\nout.backward(v)",
            ("len(out._children)", "x.grad"), _arrays(x="n", v="n"), cases=4,
        ),
        Check(
            "After an exception in the block",
            "x = Tensor(x)\ncaught = False\ntry:\n    with no_grad():\n        raise KeyError\nexcept KeyError:\n"
            "    caught = True\nout = x * x\nout.backward(v)", ("caught", "len(out._children)", "x.grad"),
            _arrays(x="n", v="n"), cases=4,
        ),
        Check(
            "A block in a block",
            "x = Tensor(x)\nwith no_grad():\n    with no_grad():\n        pass\n    y = x * x\nout = x + y\n"
            "out.backward(v)", ("len(y._children)", "x.grad"), _arrays(x="n", v="n"), cases=4,
        ),
        Check(
            "Every operation",
            "x = Tensor(x)\nwith no_grad():\n    ys = [x + x, 1 - x, x.sum(), x.mean(axis=0), x @ x, x.relu(),\n"
            "          x.exp(), x.log(), x.softmax(), cross_entropy(x, labels)]", ("[len(y._children) for y in ys]",),
            lambda rng, size: {"x": rng.uniform(1, 2, (3, 3)), "labels": rng.integers(0, 3, 3)}, cases=2,
        ),
        Check(
            "detach", "x = Tensor(x)\ny = x * x\nc = y.detach()\nout = c * x\nout.backward(v)",
            ("c.data", "len(c._children)", "out.data", "x.grad", "y.grad"), _arrays(x="n", v="n"), cases=4,
        ),
        Check(
            "What was detached from keeps its history", "x = Tensor(x)\ny = x * x\nc = y.detach()\ny.backward(v)",
            ("len(y._children)", "x.grad", "c.grad"), _arrays(x="n", v="n"), cases=4,
        ),
        Check(
            "float32 stays float32", "c = (Tensor(x) * 2).detach()", ("str(c.data.dtype)", "c.data"),
            _arrays("float32", x="n"), rtol=1e-4, cases=2,
        ),
    ),
    (
        Mistake(
            "still recorded", "In the block everything is recorded as before.",
            (("            self._children = ()\n", "            pass\n"),),
        ),
        Mistake(
            "never again", "After the block nothing is recorded any more.",
            (("        Tensor.recording = before\n", "        pass\n"),),
        ),
        Mistake(
            "exception", "After an exception in the block nothing is recorded any more: what must happen in any case "
            "belongs in `finally`, or in `__exit__`.",
            (("    try:\n        yield\n    finally:\n        Tensor.recording = before",
              "    yield\n    Tensor.recording = before"),),
        ),
        Mistake(
            "swallowed",
            "The exception ended in the block, and nobody hears of it: let it go on. Is there an `except`, "
            "or does `__exit__` return True?",
            (("        yield\n    finally:\n", "        yield\n    except Exception:\n        pass\n    finally:\n"),),
        ),
        Mistake(
            "nested", "The inner block ends, and recording goes on in the outer one. It should be as it was before.",
            (("        Tensor.recording = before\n", "        Tensor.recording = True\n"),),
        ),
        Mistake(
            "history kept", "What `detach` gives still has children. It should be like a tensor that you made.",
            (("return Tensor(self.data)\n", "return Tensor(self.data, self._children)\n"),),
        ),
        Mistake(
            "an array", "`detach` gives an array. It should be a tensor, which can go on computing.",
            (("return Tensor(self.data)\n", "return self.data\n"),),
        ),
        Mistake(
            "detached in place", "`detach` takes away the history of the tensor itself. It should make a new one.",
            (("return Tensor(self.data)\n", "self._children = ()\n        return self\n"),),
        ),
        Mistake(
            "history lost", "`detach` takes away the history of the tensor itself, which keeps its own.",
            (("return Tensor(self.data)\n", "self._children = ()\n        return Tensor(self.data)\n"),),
        ),
    ),
    (
        "You need one place that says whether to record, such as an attribute of the class `Tensor`.",
        "`no_grad` is a context manager: a class with `__enter__` and `__exit__`, or a generator with "
        "`@contextlib.contextmanager`.",
        "When the block begins, remember how the switch stood and turn it off. When it ends, by whatever way, put back "
        "what you remembered.",
        "At the end of `__init__`: if nothing is to be recorded, `self._children = ()`.",
    ),
)  # fmt: skip


def _descent(name: str, optimizer: str, steps: int = 3) -> Check:
    return Check(
        name,
        f"a, b = Tensor(a), Tensor(b)\noptimizer = {optimizer}\nfor _ in range({steps}):\n    optimizer.zero_grad()\n"
        f"    (a * b * b).sum().backward()\n    optimizer.step()", ("a.data", "b.data"), _arrays(a="nm", b="m"),
        cases=4,
    )  # fmt: skip


OPTIMIZERS = Task(
    "optimizers",
    "SGD and Adam",
    """
A gradient says where the loss grows. An *optimizer* takes a step the other way. Write two classes, each with `step()`
and `zero_grad()`; the latter sets the `grad` of each parameter to `None`.

- `SGD(params, lr)`: take away `lr * grad`.
- `Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-8)`: for each parameter keep `m`, a running mean of the gradient
  (`m = b1 * m + (1 - b1) * grad`), and `v`, the same of its square, with `b2`. Both begin at 0 and are too small at
  first: in step t divide them by `1 - b1**t` and `1 - b2**t`. Take away `lr * m / (sqrt(v) + eps)`.

A parameter without a gradient is left alone. float32 stays float32.
""",
    (
        _descent("One step of SGD", "SGD([a, b], lr=0.1)", steps=1),
        _descent("Three steps of SGD", "SGD([a, b], lr=0.1)"),
        Check(
            "zero_grad", "a, b = Tensor(a), Tensor(b)\n(a * b).backward()\noptimizer = SGD([a, b], lr=0.1)\n"
            "optimizer.zero_grad()", ("a.grad", "b.grad", "a.data"), _arrays(a="nm", b="m"), cases=2,
        ),
        _descent("One step of Adam", "Adam([a, b], lr=0.1)", steps=1),
        _descent("Five steps of Adam", "Adam([a, b], lr=0.1)", steps=5),
        _descent("Other betas, and a large eps", "Adam([a, b], lr=0.2, betas=(0.5, 0.8), eps=0.5)", steps=4),
        _descent("What Adam takes if nothing is said", "Adam([a, b])", steps=4),
        Check(
            "Adam and tiny gradients",
            "a = Tensor(a)\noptimizer = Adam([a], lr=0.1)\nfor _ in range(3):\n    optimizer.zero_grad()\n"
            "    (a * a * 1e-8).backward()\n    optimizer.step()", ("a.data",), _arrays(a="n"), cases=4,
        ),
        Check(
            "A parameter without a gradient",
            "a, b = Tensor(a), Tensor(b)\nfor optimizer in SGD([b, a], lr=0.1), Adam([b, a], lr=0.1):\n"
            "    a.grad = None\n    (a * a).backward()\n    optimizer.step()", ("a.data", "b.data", "b.grad"),
            _arrays(a="n", b="m"), cases=2,
        ),
        Check(
            "zero_grad of Adam", "a, b = Tensor(a), Tensor(b)\n(a * b).backward()\nAdam([a, b]).zero_grad()",
            ("a.grad", "b.grad"), _arrays(a="nm", b="m"), cases=2,
        ),
        Check(
            "float32 stays float32",
            "a = Tensor(a)\nfor optimizer in SGD([a], lr=0.1), Adam([a], lr=0.1):\n    optimizer.zero_grad()\n"
            "    (a * a).backward()\n    optimizer.step()", ("str(a.data.dtype)", "a.data"), _arrays("float32", a="n"),
            rtol=1e-4, cases=2,
        ),
    ),
    (
        Mistake(
            "uphill", "SGD steps along the gradient, uphill. The loss falls the other way.",
            (("p.data = p.data - self.lr * p.grad", "p.data = p.data + self.lr * p.grad"),),
        ),
        Mistake(
            "lr missing", "SGD takes away the whole gradient: the learning rate is missing.",
            (("p.data = p.data - self.lr * p.grad", "p.data = p.data - p.grad"),),
        ),
        Mistake(
            "zero_grad empty", "`zero_grad` leaves the gradients there: the next pass adds to them.",
            (("            p.grad = None\n", "            pass\n"),),
        ),
        Mistake(
            "zeros", "`zero_grad` leaves arrays of zeros. Here it should set `None`: no gradient has arrived yet.",
            (("            p.grad = None\n",
              "            p.grad = None if p.grad is None else np.zeros_like(p.grad)\n"),),
        ),
        Mistake(
            "bias correction", "Adam's running means begin at 0 and are too small at first: the correction is missing.",
            (("self.m[i] / (1 - b1**self.steps)", "self.m[i]"), ("self.v[i] / (1 - b2**self.steps)", "self.v[i]")),
        ),
        Mistake(
            "m not corrected", "v is corrected and m is not: both begin at 0, and both are too small at first.",
            (("self.m[i] / (1 - b1**self.steps)", "self.m[i]"),),
        ),
        Mistake(
            "v not corrected", "m is corrected and v is not: both begin at 0, and both are too small at first.",
            (("self.v[i] / (1 - b2**self.steps)", "self.v[i]"),),
        ),
        Mistake(
            "correction of the first step", "Adam's correction does not change from step to step: count the steps.",
            (("(1 - b1**self.steps)", "(1 - b1)"), ("(1 - b2**self.steps)", "(1 - b2)")),
        ),
        Mistake(
            "eps in the root", "eps stands inside the root. It belongs outside: sqrt(v) + eps.",
            (("(np.sqrt(v) + self.eps)", "np.sqrt(v + self.eps)"),),
        ),
        Mistake(
            "no root", "Adam divides by v itself. Its root is missing.",
            (("(np.sqrt(v) + self.eps)", "(v + self.eps)"),),
        ),
        Mistake(
            "not squared", "v is a running mean of the squared gradient. You do not square it.",
            (("(1 - b2) * p.grad**2", "(1 - b2) * np.abs(p.grad)"),),
        ),
        Mistake(
            "betas swapped", "The two betas are swapped: the first is for m, the second for v.",
            (("b1, b2 = self.betas", "b2, b1 = self.betas"),),
        ),
        Mistake(
            "one memory for all", "The parameters share one running mean. Each needs its own.",
            (("self.v[i] = b2 * self.v[i] +", "self.v[i] = b2 * self.v[i - 1 if i else 0] +"),
             ("self.m[i] = b1 * self.m[i] +", "self.m[i] = b1 * self.m[i - 1 if i else 0] +")),
        ),
        Mistake(
            "no gradient", "A parameter that no gradient has reached has `grad` None. Leave it alone.",
            (("            if p.grad is not None:\n                p.data = p.data - self.lr",
              "            if True:\n                p.data = p.data - self.lr"),),
        ),
    ),
    (
        "`p.data = p.data - lr * p.grad` is the whole of SGD. Which parameters must be left out?",
        "Adam can inherit from SGD: `params`, `lr` and `zero_grad` are the same.",
        "Keep lists `m` and `v` with a 0 for each parameter, and a counter that begins at 0 and grows by 1 at the "
        "start of each step.",
        "Do not overwrite the kept `m` and `v` by their corrected values: correct a copy in each step.",
    ),
)  # fmt: skip


IN_PLACE = "t.data[0] = 9.0"
REPLACED = "t.data = t.data + 1"
GUARD = Task(
    "guard",
    "Refuse a write that would spoil a gradient",
    """
`y = x * x`, then `x.data[0] = 9`, then `y.backward()`: a rule that reads `x` now finds numbers that the forward pass
never saw. The gradient is wrong, and nobody is told.

Make that impossible. When something was written between the two passes, either

- the write or `backward` raises `ValueError` or `RuntimeError`,
- or the gradient is right all the same: that of the old numbers.

This goes for `x.data[0] = 9`, for `x.data = other`, for results in the middle, and for the array that `Tensor(array)`
was made from. There are no false alarms: where no pass is waiting for `x`, `x.data = other` works, and the caller's own
array can be written to.
""",
    (
        _spoiled("A leaf, written in place", "t = Tensor(x)\ny = t * t", IN_PLACE, lambda x: 2 * x),
        _spoiled("A leaf, replaced", "t = Tensor(x)\ny = t * t", REPLACED, lambda x: 2 * x),
        _spoiled(
            "A result in the middle, written in place", "t = Tensor(x)\nh = t * 3\ny = h * h", "h.data[0] = 9.0",
            lambda x: 18 * x,
        ),
        _spoiled(
            "A result in the middle, replaced", "t = Tensor(x)\nh = t * 3\ny = h * h", "h.data = h.data + 1",
            lambda x: 18 * x,
        ),
        _spoiled("The result of exp, written in place", "t = Tensor(x)\ny = t.exp()", "y.data[0] = 0.0", np.exp),
        _spoiled("The result of exp, replaced", "t = Tensor(x)\ny = t.exp()", "y.data = y.data * 0", np.exp),
        _spoiled("The array that a tensor was made from", "t = Tensor(x)\ny = t * t", "x[0] = 9.0", lambda x: 2 * x,
                 "float32"),
        _spoiled("log, written in place", "t = Tensor(x)\ny = t.log()", IN_PLACE, lambda x: 1 / x),
        _spoiled("log, replaced", "t = Tensor(x)\ny = t.log()", REPLACED, lambda x: 1 / x),
        _spoiled("relu, written in place", "t = Tensor(x)\ny = t.relu()", "t.data[0] = -1.0", np.ones_like),
        _spoiled("relu, replaced", "t = Tensor(x)\ny = t.relu()", "t.data = -t.data", np.ones_like),
        _spoiled("A matrix product, replaced", "t = Tensor(x)\nb = Tensor(x)\ny = t @ b", "b.data = b.data * 2",
                 lambda x: np.ones_like(x) @ x.T),
        _spoiled("softmax, replaced", "t = Tensor(x)\ny = t.softmax() * x", "t.data = t.data * 2",
                 lambda x: (p := np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True))
                 * (x - (p * x).sum(axis=-1, keepdims=True))),
        _spoiled("Cross entropy, replaced", "t = Tensor(x)\ny = cross_entropy(t, [0] * len(x))", "t.data = t.data * 2",
                 lambda x: (np.exp(x) / np.exp(x).sum(axis=1, keepdims=True) - np.eye(len(x))[0]) / len(x)),
        Check(
            "A write after each backward pass is no fault",
            "x = Tensor(x)\nfor _ in range(3):\n    x.grad = None\n    (x * x.exp()).sum().backward()\n"
            "    x.data = x.data - 0.1 * x.grad", ("x.data", "x.grad"), _arrays(x="n"), cases=4,
        ),
        Check(
            "Writing to a tensor that no waiting result needs",
            "x, other = Tensor(x), Tensor(other)\ny = x * x\nother.data = other.data * 2\ny.backward(v)",
            ("x.grad", "other.data"), _arrays(x="n", other="m", v="n"), cases=4,
        ),
        Check(
            "Your own array is yours again afterwards",
            "t = Tensor(x)\ny = t * t\ny.backward()\nx[0] = 9.0", ("x", "t.grad"), _arrays("float32", x="n"), rtol=1e-4,
            cases=4,
        ),
        Check(
            "A write after a block of no_grad",
            "x = Tensor(x)\nwith no_grad():\n    y = x * x\nx.data = x.data + 1\n(x * x).backward(v)",
            ("y.data", "x.data", "x.grad"), _arrays(x="n", v="n"), cases=4,
        ),
    ),
    (
        Mistake(
            "written in place", "A write in place goes through: it changes the very array that the rule has kept.",
            (("        values.flags.writeable = False\n", ""),),
        ),
        Mistake(
            "late read", "A product reads its operands in the backward pass. When `data` was replaced, it finds the "
            "new numbers.",
            (("unbroadcast(out.grad * b, a.shape)", "unbroadcast(out.grad * other.data, a.shape)"),
             ("unbroadcast(out.grad * a, b.shape)", "unbroadcast(out.grad * self.data, b.shape)")),
        ),
        Mistake(
            "matmul reads late", "The matrix product reads its operands in the backward pass. When one was replaced, "
            "it finds the new numbers.",
            (("out.grad @ b.T", "out.grad @ other.data.T"), ("a.T @ out.grad", "self.data.T @ out.grad")),
        ),
        Mistake(
            "shared array", "The tensor and its caller share one array. Whoever made it can still write to it.",
            (("values = np.array(values)  # nobody", "values = np.asarray(values).view()  # nobody"),),
        ),
        Mistake(
            "caller locked out", "You locked the caller's own array, and it stays locked after the backward pass.",
            (("values = np.array(values)  # nobody", "values = np.asarray(values)  # nobody"),),
        ),
    ),
    (
        "There are three ways: see to it that nothing can be written, notice that something was written, or keep "
        "copies that no write can reach.",
        "A rule that keeps the array of the forward pass (`a = self.data` outside of `backward`) does not mind when "
        "`x.data` is replaced: the old array is still there. Only writes in place are left.",
        "`array.flags.writeable = False` makes NumPy refuse writes in place. Do that to a copy: the caller's array is "
        "not yours to lock.",
        "Make `data` a property. Its setter copies the array, locks the copy and keeps it in `_data`.",
    ),
)  # fmt: skip


NETWORK = "[Tensor(w1), Tensor(b1), Tensor(w2), Tensor(b2)]"


def _fitted(name: str, optimizer: str, steps: int) -> Check:
    return Check(
        name, f"params = {NETWORK}\nlosses = fit(params, x, labels, {optimizer}, steps={steps})",
        ("losses", "[p.data for p in params]"), _small_network, cases=4,
    )  # fmt: skip


READ_DIGITS = Task(
    "digits",
    "Read digits",
    """
The graduation: your engine learns to read. Write three functions.

- `network(params, x)`: with `w1, b1, w2, b2 = params`, the logits `relu(x @ w1 + b1) @ w2 + b2` for the tensor `x`.
- `fit(params, x, labels, optimizer, steps)`: `steps` times the loss over **all** rows of the array `x`, its gradient
  and a step. Return the list of losses, as numbers, each as it was before its step.
- `train(images, labels)`: make parameters, fit them, return them. `images` has 64 numbers from 0 to 1 a row; `labels`
  are the digits 0 to 9.

1,347 digits are for training. Your network must then read more than 90 % of 450 others, which `train` never sees. It
has two seconds for everything. Draw the weights with a seed, `np.random.default_rng(0)`: luck should not decide.
""",
    (
        Check(
            "The network", f"params = {NETWORK}\nout = network(params, Tensor(x))\nout.backward()",
            ("out.data", "[p.grad for p in params]"), _small_network, cases=4,
        ),
        _fitted("Three steps of SGD", "SGD(params, lr=0.5)", 3),
        _fitted("Four steps of Adam", "Adam(params, lr=0.1)", 4),
        Check(
            "Gradients that were there before",
            f"params = {NETWORK}\nfor p in params:\n    (p * 100).backward()\n"
            f"losses = fit(params, x, labels, SGD(params, lr=0.5), steps=1)",
            ("losses", "[p.data for p in params]"), _small_network, cases=2,
        ),
        Check(
            "450 digits that it has never seen",
            "params = train(images, labels)\nwith no_grad():\n    logits = network(params, Tensor(unseen))",
            ("logits.data",), _digits, cases=1, judge=_read, secret=("answers",), slow=True,
        ),
    ),
    (
        Mistake(
            "losses late", "The losses were measured after the step. The list should hold each loss from before it.",
            (("losses.append(loss.data.item())",
              "losses.append(cross_entropy(network(params, Tensor(x)), labels).data.item())"),),
        ),
        Mistake(
            "zero_grad missing", "The gradients of all steps so far add up: clear them in each step.",
            (("        optimizer.zero_grad()\n", ""),),
        ),
        Mistake(
            "never moved", "The parameters never move. Is there a step, and is there a gradient when it comes?",
            (("        optimizer.zero_grad()\n", ""),
             ("        loss.backward()\n        optimizer.step()",
              "        loss.backward()\n        optimizer.zero_grad()\n        optimizer.step()")),
        ),
        Mistake(
            "step first", "The step comes before the backward pass: it uses gradients of the step before.",
            (("        optimizer.zero_grad()\n", ""),
             ("        loss.backward()\n        optimizer.step()",
              "        optimizer.step()\n        optimizer.zero_grad()\n        loss.backward()")),
        ),
        Mistake(
            "no relu", "Without relu, two layers are one: a product of matrices is a matrix.",
            (("(x @ w1 + b1).relu() @ w2 + b2", "(x @ w1 + b1) @ w2 + b2"),),
        ),
        Mistake(
            "relu on the logits", "There is a relu on the logits as well. They may be negative.",
            (("(x @ w1 + b1).relu() @ w2 + b2", "((x @ w1 + b1).relu() @ w2 + b2).relu()"),),
        ),
        Mistake(
            "bias missing", "A layer lacks its bias.",
            (("(x @ w1 + b1).relu() @ w2 + b2", "(x @ w1).relu() @ w2 + b2"),),
        ),
        Mistake(
            "softmax twice", "The network ends with a softmax, and the cross entropy takes another one.",
            (("(x @ w1 + b1).relu() @ w2 + b2", "((x @ w1 + b1).relu() @ w2 + b2).softmax()"),),
        ),
        Mistake(
            "last loss", "You return only the last loss. A list of all of them is asked for.",
            (("return losses", "return losses[-1]"),),
        ),
        Mistake(
            "tensors kept", "The list holds tensors, and each keeps its whole graph alive. Take the numbers.",
            (("losses.append(loss.data.item())", "losses.append(loss)"),),
        ),
        Mistake(
            "stochastic", "A step uses only part of the rows. Here each one uses all of them.",
            (("network(params, Tensor(x)), labels)", "network(params, Tensor(x[:2])), labels[:2])"),),
        ),
    ),
    (
        "Each step: clear the gradients, forward, loss, backward, step. `loss.data.item()` is the loss as a number.",
        "Zeros are fine for biases. Weights must be random, or all hidden units stay alike; a good deviation is "
        "`sqrt(2 / inputs)`.",
        "32 hidden units and some 60 steps of `Adam` with a learning rate of 0.02 are enough.",
    ),
)  # fmt: skip


COURSE = Course(
    "tensors",
    "Tensors",
    "Can your own engine learn to read digits?",
    FOLDER,
    (
        UNBROADCAST, ELEMENTWISE, REDUCE, MATMUL, FUNCTIONS, SOFTMAX, CROSS_ENTROPY, MODES, OPTIMIZERS, GUARD,
        READ_DIGITS,
    ),
)  # fmt: skip
