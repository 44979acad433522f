"""The course of function objects: the rules of a two-layer network as classes, and the machinery that calls them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from practice.task import Check, Course, Inputs, read_tasks

# -- Inputs ------------------------------------------------------------------------------------------------------------


def _array(rng: Generator, shape: tuple[int, ...], size: int) -> np.ndarray:
    """Whole numbers in the smallest case; zeros among the others."""
    if size == 0:
        return rng.integers(1, 5, shape).astype(float)
    array = np.round(rng.choice([-1, 1], shape) * rng.uniform(0.5, 2.5, shape), 1 if size < 3 else 6)
    return np.where(rng.random(shape) < 0.15, 0.0, array) if size == 2 else array


def _alike(*names: str) -> Callable[[Generator, int], Inputs]:
    """Arrays of one shape under these names, with one to three axes."""

    def inputs(rng: Generator, size: int) -> Inputs:
        shape = tuple(rng.integers(1 + (size > 0), 3 + size, 1 if size == 0 else rng.integers(1, 4)).tolist())
        return {name: _array(rng, shape, size) for name in names}

    return inputs


def _nonzero(rng: Generator, size: int) -> Inputs:
    shape = tuple(rng.integers(2, 3 + size, 2).tolist())
    return {name: _array(rng, shape, 1) for name in ("x", "v")}


def _power(rng: Generator, size: int) -> Inputs:
    inputs = _nonzero(rng, size)
    return {**inputs, "n": int(rng.choice([2, 3] if size == 0 else [-2, -1, 1, 3, 4]))}


def _matrices(square: bool) -> Callable[[Generator, int], Inputs]:
    def inputs(rng: Generator, size: int) -> Inputs:
        n, k, m = [2] * 3 if square else rng.permutation([1 + size, 2 + size, 3 + size]).tolist()
        return {"x": _array(rng, (n, k), size), "y": _array(rng, (k, m), size), "v": _array(rng, (n, m), size)}

    return inputs


def _row(rng: Generator, size: int) -> Inputs:
    n, k = (2, 2) if size == 0 else rng.permutation([2 + size, 3 + size]).tolist()
    return {"x": _array(rng, (n, k), size), "r": _array(rng, (k,), size), "v": _array(rng, (n, k), size)}


def _network(rng: Generator, size: int) -> Inputs:
    n, k, h, m = (1, 1, 1, 1) if size == 0 else rng.integers(2, 4 + size, 4).tolist()
    return {
        "x": np.round(rng.normal(size=(n, k)), 2),
        "y": np.round(rng.random((n, m)), 2),
        "w1": np.round(rng.normal(size=(k, h)), 2),
        "b1": np.round(rng.uniform(0.1, 1, h), 2),
        "w2": np.round(rng.normal(size=(h, m)), 2),
        "b2": np.round(rng.normal(size=m), 2),
    }


# -- Programs ----------------------------------------------------------------------------------------------------------

_TWICE = """\
class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return (2 * grad,)

"""
_PRODUCT = """\
class Product(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return y * grad, x * grad

"""
_TOTAL = """\
class Total(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad):
        return grad, grad

"""


def _rule(name: str, inputs: Any, second: str = "", **options: Any) -> tuple[Check, ...]:
    """The checks of one function: its rule, arrays that are views, and float32. `second` is what it takes beside `a`:
    "b" for a tensor made from `y`, otherwise a number."""
    made = "a = Tensor({0})\n" + ("b = Tensor({1})\n" if second == "b" else "")
    arguments = "a, " + second if second else "a"
    run = f"out = {name}.apply({arguments})\nout.backward({{2}})"
    grads = ("a.grad", "b.grad") if second == "b" else ("a.grad",)
    dtypes = tuple(f"str({show}.dtype)" for show in ("out.data", *grads))
    turned = ["x.T", "y.T", "v.T"]
    narrow = [f'{each}.astype("float32")' for each in "xyv"]
    common = {"inputs": inputs, "output": "out.data", "upstream": "v"}
    derivatives = {"a.grad": "x", "b.grad": "y"} if second == "b" else {"a.grad": "x"}
    messages = (
        f'out = {name}.apply({arguments})\nown = "backward" in vars({name})  # or is it made of other functions?\n'
        f"messages = {name}.backward(out.grad_fn, v) if own else out.grad_fn.inputs\n"
        "one_each = len([*messages]) == len(out.grad_fn.inputs)"
    )
    inputs_after = ("a.data", "b.data") if second == "b" else ("a.data",)  # nobody may have written to them
    return (
        Check(
            "A tuple of messages",
            made.format("x", "y") + messages,
            ("hasattr(messages, 'shape')", "one_each"),
            inputs,
            cases=1,
        ),
        Check(
            f"The rule of {name}",
            (made + run).format("x", "y", "v"),
            ("out.data", "out.grad", *grads, *inputs_after),
            **common,
            **options,
            derivatives=derivatives,
        ),
        Check("Views of other arrays", (made + run).format(*turned), ("out.data", *grads), inputs, cases=8),
        Check(
            "float32 stays float32",
            (made + run).format(*narrow),
            (*dtypes, "out.data", *grads),
            inputs,
            cases=4,
            rtol=1e-4,
        ),
    )


def _both_sides(name: str, inputs: Any) -> Check:
    """One tensor is both inputs: it receives two messages, in each of two passes."""
    program = f"a = Tensor(x)\nout = {name}.apply(a, a)\nout.backward(v)\nout.backward(v)"
    return Check("The same tensor twice", program, ("a.grad",), inputs, cases=4)


# -- The checks of each task -------------------------------------------------------------------------------------------

CONTEXT = (
    Check(
        "apply runs forward",
        _TWICE + "t = Tensor(x)\nout = Twice.apply(t)",
        ("type(out).__name__", "out.data", "out.grad", "t.data"),
        _alike("x"),
        cases=8,
    ),
    Check(
        "forward is given arrays, and numbers as they are",
        "class Look(Function):\n    @staticmethod\n    def forward(ctx, *inputs):\n"
        "        seen.extend(type(each).__name__ for each in inputs)\n        return inputs[0] * inputs[1]\n\n"
        "seen = []\nout = Look.apply(Tensor(x), 3.0)",
        ("seen", "out.data", "len(out.grad_fn.inputs)"),
        _alike("x"),
        cases=4,
    ),
    Check(
        "A result knows what it was made from",
        _PRODUCT + "a, b = Tensor(x), Tensor(y)\nout = Product.apply(a, b)",
        ("out.grad_fn.inputs[0] is a", "out.grad_fn.inputs[1] is b", "len(out.grad_fn.inputs)", "a.grad_fn"),
        _alike("x", "y"),
        cases=4,
    ),
    Check(
        "What was saved",
        _PRODUCT + "a, b = Tensor(x), Tensor(y)\nout = Product.apply(a, b)",
        (
            "isinstance(out.grad_fn.saved_tensors, tuple)",
            "len(out.grad_fn.saved_tensors)",
            "out.grad_fn.saved_tensors[0]",
            "out.grad_fn.saved_tensors[1]",
        ),
        _alike("x", "y"),
        cases=4,
    ),
    Check(
        "Each use has a context of its own",
        _PRODUCT + "a, b = Tensor(x), Tensor(y)\nfirst = Product.apply(a, b)\nsecond = Product.apply(first, a)",
        ("first.grad_fn is second.grad_fn", "first.grad_fn.saved_tensors[0]", "second.grad_fn.saved_tensors[0]"),
        _alike("x", "y"),
        cases=4,
    ),
    Check(
        "float32 stays float32",
        _TWICE + 'out = Twice.apply(Tensor(x.astype("float32")))',
        ("str(out.data.dtype)",),
        _alike("x"),
        cases=4,
    ),
)


GRAPH = (
    Check(
        "A chain",
        _TWICE + "a = Tensor(x)\nb = Twice.apply(a)\nc = Twice.apply(b)\nc.backward()",
        ("c.grad", "b.grad", "a.grad"),
        _alike("x"),
        output="c.data",
        derivatives={"a.grad": "x"},
        cases=8,
    ),
    Check(
        "Two inputs, and an upstream gradient",
        _PRODUCT + "a, b = Tensor(x), Tensor(y)\nout = Product.apply(a, b)\nout.backward(v)",
        ("out.grad", "a.grad", "b.grad"),
        _alike("x", "y", "v"),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x", "b.grad": "y"},
    ),
    Check(
        "A number among the inputs",
        _PRODUCT + "a = Tensor(x)\nout = Product.apply(3.0, a)\nout.backward()",
        ("a.grad",),
        _alike("x"),
        output="out.data",
        derivatives={"a.grad": "x"},
        cases=4,
    ),
    Check(
        "A tensor used twice",
        _PRODUCT + "a = Tensor(x)\nout = Product.apply(a, a)\nout.backward(v)",
        ("a.grad",),
        _alike("x", "v"),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x"},
    ),
    Check(
        "A long way and a short one",
        _TWICE + _PRODUCT + "a = Tensor(x)\nb = Twice.apply(a)\nc = Twice.apply(Twice.apply(b))\n"
        "out = Product.apply(b, c)\nout.backward()",
        ("c.grad", "b.grad", "a.grad"),
        _alike("x"),
        output="out.data",
        derivatives={"a.grad": "x"},
    ),
    *(
        Check(
            name,
            _TWICE + _TOTAL + "a, b = Tensor(x), Tensor(y)\nc = Total.apply(a, b)\n"
            f"out = Total.apply({inputs})\nout.backward()",
            ("out.grad", "c.grad", "b.grad", "a.grad"),
            _alike("x", "y"),
        )
        for name, inputs in (
            ("Two tensors with the same message", "c, Twice.apply(a)"),
            ("The same, in the other order", "Twice.apply(a), c"),
        )
    ),
    Check(
        "Two passes",
        _TWICE + "a = Tensor(x)\nb = Twice.apply(a)\nb.backward()\nc = Twice.apply(b)\nc.backward()",
        ("b.grad", "a.grad"),
        _alike("x"),
        cases=4,
    ),
)

ADD = (
    *_rule("Add", _alike("x", "y", "v"), "b"),
    _both_sides("Add", _alike("x", "v")),
    Check(
        "A number",
        "a = Tensor(x)\nout = Add.apply(Add.apply(a, 2.5), a)\nout.backward(v)",
        ("out.data", "a.grad"),
        _alike("x", "v"),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x"},
        cases=8,
    ),
)

MUL = (
    *_rule("Mul", _alike("x", "y", "v"), "b"),
    _both_sides("Mul", _alike("x", "v")),
    Check(
        "A number",
        "a = Tensor(x)\nout = Mul.apply(a, -1.5)\nout.backward(v)",
        ("out.data", "a.grad"),
        _alike("x", "v"),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x"},
        cases=8,
    ),
    Check(
        "Used twice",
        "a, b = Tensor(x), Tensor(y)\nout = Mul.apply(Mul.apply(a, a), Mul.apply(a, b))\nout.backward(v)",
        ("out.data", "a.grad", "b.grad"),
        _alike("x", "y", "v"),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x", "b.grad": "y"},
    ),
)

POW = (
    *_rule("Pow", _power, "n"),
    Check(
        "Zeros",
        "a = Tensor(x)\nout = Pow.apply(a, 2)\nout.backward(v)",
        ("out.data", "a.grad"),
        _alike("x", "v"),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x"},
    ),
    Check(
        "A power of a power",
        "a = Tensor(x)\nout = Pow.apply(Pow.apply(a, 2), 3)\nout.backward(v)",
        ("out.data", "a.grad"),
        _nonzero,
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x"},
        cases=8,
    ),
)

RELU = (
    *_rule("ReLU", _nonzero),
    Check(
        "Zeros among them",
        "a = Tensor(x)\nout = ReLU.apply(a)\nout.backward(v)",
        ("out.data", "a.grad"),
        lambda rng, size: {**_alike("x", "v")(rng, 2)},
    ),
    Check(
        "All zeros",
        "a = Tensor(0 * x)\nout = ReLU.apply(a)\nout.backward(v)",
        ("out.data", "a.grad"),
        _alike("x", "v"),
        cases=4,
    ),
)

SIGMOID = (
    *_rule("Sigmoid", _alike("x", "v")),
    Check(
        "Twice in a row",
        "a = Tensor(x)\nout = Sigmoid.apply(Sigmoid.apply(a))\nout.backward(v)",
        ("out.data", "a.grad"),
        _alike("x", "v"),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x"},
    ),
)

MATMUL = (
    Check(
        "Square matrices",
        "a, b = Tensor(x), Tensor(y)\nout = MatMul.apply(a, b)\nout.backward(v)",
        ("out.data", "a.grad", "b.grad"),
        _matrices(True),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x", "b.grad": "y"},
    ),
    _both_sides("MatMul", _matrices(True)),
    *_rule("MatMul", _matrices(False), "b")[1::2],
    Check(
        "Views of other arrays",
        "a, b = Tensor(y.T), Tensor(x.T)\nout = MatMul.apply(a, b)\nout.backward(v.T)",
        ("out.data", "a.grad", "b.grad"),
        _matrices(False),
        cases=8,
    ),
    Check(
        "A product of products",
        "a, b = Tensor(x), Tensor(y)\nout = MatMul.apply(MatMul.apply(a, b), MatMul.apply(b, a))\nout.backward(v)",
        ("out.data", "a.grad", "b.grad"),
        _matrices(True),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x", "b.grad": "y"},
    ),
)

_PARAMETERS = "w1, b1, w2, b2 = Tensor(w1), Tensor(b1), Tensor(w2), Tensor(b2)\n"

NETWORK = (
    Check(
        "AddRow",
        "a, row = Tensor(x), Tensor(r)\nout = AddRow.apply(a, row)\nout.backward(v)",
        ("out.data", "a.grad", "row.grad"),
        _row,
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "x", "row.grad": "r"},
    ),
    Check(
        "Sum",
        "a = Tensor(x)\nout = Sum.apply(a)\nout.backward()",
        ("out.data", "a.grad"),
        _alike("x"),
        output="out.data",
        derivatives={"a.grad": "x"},
        cases=8,
    ),
    Check(
        "Sum, with something above it",
        "a = Tensor(x)\nout = Pow.apply(Sum.apply(a), 2)\nout.backward()",
        ("out.data", "a.grad"),
        _alike("x"),
        output="out.data",
        derivatives={"a.grad": "x"},
        cases=8,
    ),
    Check(
        "The loss",
        _PARAMETERS + "out = loss(x, y, w1, b1, w2, b2)",
        ("out.data",),
        _network,
        cases=8,
    ),
    Check(
        "All gradients",
        _PARAMETERS + "out = loss(x, y, w1, b1, w2, b2)\nout.backward()",
        ("b2.grad", "w2.grad", "b1.grad", "w1.grad"),
        _network,
        output="out.data",
        derivatives={"b2.grad": "b2", "w2.grad": "w2", "b1.grad": "b1", "w1.grad": "w1"},
    ),
    Check(
        "Five steps downhill",
        "params = [Tensor(each) for each in (w1, b1, w2, b2)]\nlosses = []\nfor _ in range(5):\n"
        "    out = loss(x, y, *params)\n    out.backward()\n    losses.append(out.data)\n    for p in params:\n"
        "        p.data = p.data - 0.1 * p.grad\n        p.grad = None",
        ("losses",),
        _network,
        cases=8,
    ),
)

CHECKS = {
    "context": CONTEXT,
    "graph": GRAPH,
    "add": ADD,
    "mul": MUL,
    "pow": POW,
    "relu": RELU,
    "sigmoid": SIGMOID,
    "matmul": MATMUL,
    "network": NETWORK,
}
COURSE = Course(
    "functions",
    "Function objects",
    "Can an operation be an object that knows both ways? Build the machinery and the rules of a two-layer network.",
    Path(__file__).parent,
    read_tasks(Path(__file__).parent, CHECKS),
)
