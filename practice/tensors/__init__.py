"""The course "Tensors": from the sum over copied axes to a network that reads digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from practice.task import Check, Course, Inputs, read_tasks

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
        "w1": rng.normal(size=(pixels, hidden)),
        "b1": rng.normal(size=hidden),
        "w2": rng.normal(size=(hidden, classes)),
        "b2": rng.normal(size=classes),
        "x": rng.normal(size=(samples, pixels)),
    }
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
        name,
        f"a, b = Tensor(a), Tensor(b)\nout = {expression}\nout.backward(v)",
        ("out.data", "out.grad", "a.grad", "b.grad", "a.data", "b.data"),
        inputs or _arrays(a=a, b=b, v=v),
        output="out.data",
        upstream="v",
        derivatives={"a.grad": "a", "b.grad": "b"},
        cases=4,
    )


def _of_one(
    name: str, expression: str, x: str, v: str, inputs: Callable[[Generator, int], Inputs] | None = None
) -> Check:
    """A tensor of shape `x` in an expression whose result has the shape `v`."""
    return Check(
        name,
        f"x = Tensor(x)\nout = {expression}\nout.backward(v)",
        ("out.data", "out.grad", "x.grad", "x.data"),
        inputs or _arrays(x=x, v=v),
        output="out.data",
        upstream="v",
        derivatives={"x.grad": "x"},
        cases=4,
    )


def _float32(expression: str, v: str = "nm") -> Check:
    """float32 goes in: does float32 come out, and come back?"""
    return Check(
        "float32 stays float32",
        f"x = Tensor(x)\nout = {expression}\nout.backward(v)",
        ("str(out.data.dtype)", "str(x.grad.dtype)", "out.data", "x.grad"),
        _arrays("float32", x="nm", v=v),
        rtol=1e-4,
        cases=4,
    )


def _twice(expression: str, name: str = "Two passes", shape: str = "nm") -> Check:
    """Two passes from one result: a rule finds in the second what it found in the first."""
    return Check(
        name,
        f"x = Tensor(x)\nout = {expression}\nout.backward(v)\nout.backward(v)",
        ("x.grad",),
        _arrays(x=shape, v=shape),
        cases=4,
    )


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
        (
            lines,
            "refused = False",
            "try:",
            f"    {write}",
            "    y.backward()",
            "except (ValueError, RuntimeError):",
            "    refused = True",
        )
    )
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


# -- The checks of each task -------------------------------------------------------------------------------------------


def _copied(name: str, x: str, grad: str) -> Check:
    return Check(
        name,
        "y = x + 0 * grad  # x, copied to the shape of grad\ndx = unbroadcast(grad, x.shape)",
        ("dx",),
        _arrays(x=x, grad=grad),
        output="y",
        upstream="grad",
        derivatives={"dx": "x"},
        cases=4,
    )


UNBROADCAST = (
    _copied("Nothing was copied", "nm", "nm"),
    _copied("A row, copied to every row", "m", "nm"),
    _copied("A column, copied to every column", "n1", "nm"),
    _copied("Two axes in front", "m", "knm"),
    _copied("An axis in front, and one of size 1", "n1", "knm"),
    _copied("Two axes of size 1", "1m1", "kmn"),
    _copied("Size 1 that stayed size 1", "n1", "n1"),
    Check("A number, copied everywhere", "dx = unbroadcast(grad, ())", ("dx",), _arrays(grad="nm"), cases=4),
    Check(
        "An array that is not contiguous",
        "dx = unbroadcast(grad.T[::2], x.shape)",
        ("dx",),
        _arrays(x="n", grad="nm"),
        cases=4,
    ),
)


ELEMENTWISE = (
    _of_two("A sum", "a + b", "nm", "nm", "nm"),
    _of_two("A product", "a * b", "nm", "nm", "nm"),
    _of_two("A product with zeros", "a * b", "", "", "", _with_zeros),
    Check(
        "What drawings of the graph read",
        "s, p = Tensor(a) + Tensor(b), Tensor(a) * 2",
        ("s._op", "p._op", "[child.data for child in s._children]", "len(p._children)"),
        _arrays(a="n", b="n"),
        cases=2,
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
        "An array on either side",
        "x = Tensor(x)\nout = c - x * c + (c + c * x)\nout.backward(v)",
        ("out.data", "x.grad"),
        _arrays(x="m", c="nm", v="nm"),
        output="out.data",
        upstream="v",
        derivatives={"x.grad": "x"},
        cases=4,
    ),
    Check(
        "Arrays that are not contiguous",
        "a, b = Tensor(a.T), Tensor(b[::2])\nout = a * b + b\nout.backward(v.T)",
        ("out.data", "a.grad", "b.grad"),
        lambda rng, size: {
            "a": np.round(rng.normal(size=(3, 2)), 2),
            "b": np.round(rng.normal(size=(4, 3)), 2),
            "v": np.round(rng.normal(size=(3, 2)), 2),
        },
        cases=4,
    ),
    *(_twice(f"x {sign} x", f"Two passes through x {sign} x") for sign in "+*-"),
    _float32("0.1 - 2.5 * x + x * 3 + x"),
    Check(
        "Two passes",
        "x = Tensor(x)\nout = x * x * x\nout.backward()\nout.backward()",
        ("x.grad",),
        _arrays(x="n"),
        cases=4,
    ),
    Check(
        "One tensor in several sums and products",
        "x, y = Tensor(x), Tensor(y)\n"
        "out = (x + 1) * (x + 2) + (1 + y) * (2 + y) + (x * 3) * (x * 4) + (3 * y) * (4 * y)\nout.backward(v)",
        ("out.data", "x.grad", "y.grad"),
        _arrays(x="n", y="n", v="n"),
        output="out.data",
        upstream="v",
        derivatives={"x.grad": "x", "y.grad": "y"},
        cases=4,
    ),
    Check(
        "A graph whose parts share their inputs",
        "x = Tensor(x)\na = x * 2\nb = a * x\nc = a + b\nout = c * b - a\nout.backward(v)",
        ("out.data", "x.grad"),
        _arrays(x="n", v="n"),
        output="out.data",
        upstream="v",
        derivatives={"x.grad": "x"},
        cases=4,
    ),
)


REDUCE = (
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
        "An array that is not contiguous",
        "x = Tensor(x.T)\nout = x.sum(axis=0) * x.mean(axis=0)\nout.backward(v)",
        ("out.data", "x.grad"),
        _arrays(x="nm", v="n"),
        cases=4,
    ),
    _float32("x.sum() + x.mean(axis=0).mean()", ""),
)


MATMUL = (
    _of_two("Square matrices", "a @ b", "nn", "nn", "nn"),
    _of_two("Three different lengths", "a @ b", "nm", "mk", "nk"),
    _of_two("A row times a column", "a @ b", "1m", "m1", "11"),
    _of_two("A column times a row", "a @ b", "n1", "1m", "nm"),
    _of_one("A matrix times itself", "x @ x", "nn", "nn"),
    _twice("x @ x", "Two passes through x @ x", "nn"),
    _of_two("Two products in a row", "a @ b @ b", "nm", "mm", "nm"),
    _of_two("A product of results", "(a * 2) @ (b + 1) * 2", "nm", "mk", "nk"),
    Check(
        "Arrays that are not contiguous",
        "a, b = Tensor(a.T), Tensor(b.T)\nout = a @ b\nout.backward(v)",
        ("out.data", "a.grad", "b.grad"),
        _arrays(a="mn", b="km", v="nk"),
        cases=4,
    ),
    Check(
        "float32 stays float32",
        "a, b = Tensor(a), Tensor(b)\nout = a @ b\nout.backward(v)",
        ("str(out.data.dtype)", "str(a.grad.dtype)", "str(b.grad.dtype)", "out.data", "a.grad", "b.grad"),
        _arrays("float32", a="nm", b="mk", v="nk"),
        rtol=1e-4,
        cases=4,
    ),
)


FUNCTIONS = (
    _of_one("relu", "x.relu()", "nm", "nm"),
    Check(
        "relu at 0",
        "x = Tensor(x)\nout = x.relu()\nout.backward(v)",
        ("out.data", "x.grad"),
        _ties,
        cases=4,
    ),
    _of_one("exp", "x.exp()", "nm", "nm"),
    _of_one("log", "x.log()", "nm", "nm", _arrays(positive=True, x="nm", v="nm")),
    _of_one("A tensor without axes", "x.exp() + x.relu()", "", ""),
    _of_one("One inside the other", "(x.exp() + 1).log() * x.relu()", "nm", "nm"),
    _of_one("Used twice", "x * x.exp() + x.relu() * x.relu()", "nm", "nm"),
    Check(
        "An array that is not contiguous",
        "x = Tensor(x.T[::2])\nout = (x.relu() + x.exp()).log()\nout.backward()",
        ("out.data", "x.grad"),
        _arrays(x="nm"),
        cases=4,
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
)


SOFTMAX = (
    _of_one("The last axis", "x.softmax()", "nm", "nm"),
    _of_one("One axis", "x.softmax()", "n", "n"),
    _of_one("Axis 0", "x.softmax(axis=0)", "nm", "nm"),
    _of_one("An axis in the middle", "x.softmax(axis=1)", "nmk", "nmk"),
    _of_one("Equal numbers", "x.softmax()", "", "", _ties),
    _of_one("Large numbers", "x.softmax()", "", "", _scaled(_arrays(x="nm", v="nm"), x=1e4)),
    Check(
        "Rows far apart",
        "x = Tensor(x + far)\nout = x.softmax()\nout.backward(v)",
        ("out.data", "x.grad"),
        _scaled(_arrays(x="nm", far="n1", v="nm"), far=1e4),
        cases=4,
    ),
    _of_one("Part of a longer expression", "(x.softmax() * x).sum(axis=-1)", "nm", "n"),
    Check(
        "An array that is not contiguous",
        "x = Tensor(x.T)\nout = x.softmax()\nout.backward(v.T)",
        ("out.data", "x.grad"),
        _arrays(x="nm", v="nm"),
        cases=4,
    ),
    _float32("x.softmax() + x.softmax(axis=0)"),
    _twice("x.softmax() * x"),
)


def _cross_entropy(name: str, inputs: Callable[[Generator, int], Inputs], logits: str = "Tensor(z)") -> Check:
    return Check(
        name,
        f"z = {logits}\nloss = cross_entropy(z, labels)\nloss.backward()",
        ("loss.data", "z.grad"),
        inputs,
        output="loss.data",
        derivatives={"z.grad": "z"} if logits == "Tensor(z)" else None,
        cases=4,
    )


CROSS_ENTROPY = (
    _cross_entropy("A few samples", _labelled()),
    _cross_entropy("Logits around 1e4", _labelled(1e4)),
    _cross_entropy("One sample", lambda rng, size: {"z": rng.normal(size=(1, 3)), "labels": np.array([size % 3])}),
    _cross_entropy("Equal logits", lambda rng, size: {"z": np.zeros((2, 3)), "labels": np.array([size % 3, 1])}),
    _cross_entropy(
        "Rows far apart",
        lambda rng, size: {
            "z": np.array([[1e4], [-1e4]]) + np.round(rng.normal(size=(2, 3)), 2),
            "labels": rng.integers(0, 3, 2),
        },
    ),
    Check(
        "Part of a longer expression",
        "z = Tensor(z)\nloss = cross_entropy(z * 2, labels) * 3\nloss.backward(v)",
        ("loss.data", "z.grad"),
        lambda rng, size: {**_labelled()(rng, size), "v": round(rng.normal(), 2)},
        output="loss.data",
        upstream="v",
        derivatives={"z.grad": "z"},
        cases=4,
    ),
    Check(
        "Two passes",
        "z = Tensor(z)\nloss = cross_entropy(z, labels)\nloss.backward()\nloss.backward()",
        ("z.grad",),
        _labelled(),
        cases=4,
    ),
    Check(
        "The labels stay as they were",
        "before = labels.copy()\nz = Tensor(z)\nloss = cross_entropy(z, labels)\nloss.backward()",
        ("labels - before", "z.data", "z.grad"),
        _labelled(),
        cases=4,
    ),
    _cross_entropy(
        "An array that is not contiguous",
        lambda rng, size: {"z": np.round(rng.normal(size=(3, 4)), 2), "labels": rng.integers(0, 3, 2)},
        "Tensor(z.T[::2])",
    ),
    Check(
        "float32 stays float32",
        "z = Tensor(z)\nloss = cross_entropy(z, labels)\nloss.backward()",
        ("str(loss.data.dtype)", "str(z.grad.dtype)", "loss.data", "z.grad"),
        _labelled(dtype="float32"),
        rtol=1e-4,
        cases=4,
    ),
)


MODES = (
    Check(
        "Nothing is recorded in the block",
        "x, w = Tensor(x), Tensor(w)\nwith no_grad():\n    y = x * 2\nout = y * w\nout.backward(v)",
        ("len(y._children)", "out.data", "x.grad", "w.grad"),
        _arrays(x="nm", w="m", v="nm"),
        cases=4,
    ),
    Check(
        "After the block",
        "x = Tensor(x)\nwith no_grad():\n    x * x\nout = x * x\nout.backward(v)",
        ("len(out._children)", "x.grad"),
        _arrays(x="n", v="n"),
        cases=4,
    ),
    Check(
        "After an exception in the block",
        "x = Tensor(x)\ncaught = False\ntry:\n    with no_grad():\n        raise KeyError\nexcept KeyError:\n"
        "    caught = True\nout = x * x\nout.backward(v)",
        ("caught", "len(out._children)", "x.grad"),
        _arrays(x="n", v="n"),
        cases=4,
    ),
    Check(
        "A block in a block",
        "x = Tensor(x)\nwith no_grad():\n    with no_grad():\n        pass\n    y = x * x\nout = x + y\n"
        "out.backward(v)",
        ("len(y._children)", "x.grad"),
        _arrays(x="n", v="n"),
        cases=4,
    ),
    Check(
        "Every operation",
        "x = Tensor(x)\nwith no_grad():\n    ys = [x + x, 1 - x, x.sum(), x.mean(axis=0), x @ x, x.relu(),\n"
        "          x.exp(), x.log(), x.softmax(), cross_entropy(x, labels)]",
        ("[len(y._children) for y in ys]",),
        lambda rng, size: {"x": rng.uniform(1, 2, (3, 3)), "labels": rng.integers(0, 3, 3)},
        cases=2,
    ),
    Check(
        "detach",
        "x = Tensor(x)\ny = x * x\nc = y.detach()\nout = c * x\nout.backward(v)",
        ("c.data", "len(c._children)", "out.data", "x.grad", "y.grad"),
        _arrays(x="n", v="n"),
        cases=4,
    ),
    Check(
        "What was detached from keeps its history",
        "x = Tensor(x)\ny = x * x\nc = y.detach()\ny.backward(v)",
        ("len(y._children)", "x.grad", "c.grad"),
        _arrays(x="n", v="n"),
        cases=4,
    ),
    Check(
        "float32 stays float32",
        "c = (Tensor(x) * 2).detach()",
        ("str(c.data.dtype)", "c.data"),
        _arrays("float32", x="n"),
        rtol=1e-4,
        cases=2,
    ),
)


def _descent(name: str, optimizer: str, steps: int = 3) -> Check:
    return Check(
        name,
        f"a, b = Tensor(a), Tensor(b)\noptimizer = {optimizer}\nfor _ in range({steps}):\n    optimizer.zero_grad()\n"
        f"    (a * b * b).sum().backward()\n    optimizer.step()",
        ("a.data", "b.data"),
        _arrays(a="nm", b="m"),
        cases=4,
    )


OPTIMIZERS = (
    _descent("One step of SGD", "SGD([a, b], lr=0.1)", steps=1),
    _descent("Three steps of SGD", "SGD([a, b], lr=0.1)"),
    Check(
        "zero_grad",
        "a, b = Tensor(a), Tensor(b)\n(a * b).backward()\noptimizer = SGD([a, b], lr=0.1)\noptimizer.zero_grad()",
        ("a.grad", "b.grad", "a.data"),
        _arrays(a="nm", b="m"),
        cases=2,
    ),
    _descent("One step of Adam", "Adam([a, b], lr=0.1)", steps=1),
    _descent("Five steps of Adam", "Adam([a, b], lr=0.1)", steps=5),
    _descent("Other betas, and a large eps", "Adam([a, b], lr=0.2, betas=(0.5, 0.8), eps=0.5)", steps=4),
    _descent("What Adam takes if nothing is said", "Adam([a, b])", steps=4),
    Check(
        "Adam and tiny gradients",
        "a = Tensor(a)\noptimizer = Adam([a], lr=0.1)\nfor _ in range(3):\n    optimizer.zero_grad()\n"
        "    (a * a * 1e-8).backward()\n    optimizer.step()",
        ("a.data",),
        _arrays(a="n"),
        cases=4,
    ),
    Check(
        "A parameter without a gradient",
        "a, b = Tensor(a), Tensor(b)\nfor optimizer in SGD([b, a], lr=0.1), Adam([b, a], lr=0.1):\n"
        "    a.grad = None\n    (a * a).backward()\n    optimizer.step()",
        ("a.data", "b.data", "b.grad"),
        _arrays(a="n", b="m"),
        cases=2,
    ),
    Check(
        "zero_grad of Adam",
        "a, b = Tensor(a), Tensor(b)\n(a * b).backward()\nAdam([a, b]).zero_grad()",
        ("a.grad", "b.grad"),
        _arrays(a="nm", b="m"),
        cases=2,
    ),
    Check(
        "float32 stays float32",
        "a = Tensor(a)\nfor optimizer in SGD([a], lr=0.1), Adam([a], lr=0.1):\n    optimizer.zero_grad()\n"
        "    (a * a).backward()\n    optimizer.step()",
        ("str(a.data.dtype)", "a.data"),
        _arrays("float32", a="n"),
        rtol=1e-4,
        cases=2,
    ),
)


IN_PLACE = "t.data[0] = 9.0"
REPLACED = "t.data = t.data + 1"
GUARD = (
    _spoiled("A leaf, written in place", "t = Tensor(x)\ny = t * t", IN_PLACE, lambda x: 2 * x),
    _spoiled("A leaf, replaced", "t = Tensor(x)\ny = t * t", REPLACED, lambda x: 2 * x),
    _spoiled(
        "A result in the middle, written in place",
        "t = Tensor(x)\nh = t * 3\ny = h * h",
        "h.data[0] = 9.0",
        lambda x: 18 * x,
    ),
    _spoiled(
        "A result in the middle, replaced",
        "t = Tensor(x)\nh = t * 3\ny = h * h",
        "h.data = h.data + 1",
        lambda x: 18 * x,
    ),
    _spoiled("The result of exp, written in place", "t = Tensor(x)\ny = t.exp()", "y.data[0] = 0.0", np.exp),
    _spoiled("The result of exp, replaced", "t = Tensor(x)\ny = t.exp()", "y.data = y.data * 0", np.exp),
    _spoiled(
        "The array that a tensor was made from", "t = Tensor(x)\ny = t * t", "x[0] = 9.0", lambda x: 2 * x, "float32"
    ),
    _spoiled("log, written in place", "t = Tensor(x)\ny = t.log()", IN_PLACE, lambda x: 1 / x),
    _spoiled("log, replaced", "t = Tensor(x)\ny = t.log()", REPLACED, lambda x: 1 / x),
    _spoiled("relu, written in place", "t = Tensor(x)\ny = t.relu()", "t.data[0] = -1.0", np.ones_like),
    _spoiled("relu, replaced", "t = Tensor(x)\ny = t.relu()", "t.data = -t.data", np.ones_like),
    _spoiled(
        "A matrix product, replaced",
        "t = Tensor(x)\nb = Tensor(x)\ny = t @ b",
        "b.data = b.data * 2",
        lambda x: np.ones_like(x) @ x.T,
    ),
    _spoiled(
        "softmax, replaced",
        "t = Tensor(x)\ny = t.softmax() * x",
        "t.data = t.data * 2",
        lambda x: (p := np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)) * (x - (p * x).sum(axis=-1, keepdims=True)),
    ),
    _spoiled(
        "Cross entropy, replaced",
        "t = Tensor(x)\ny = cross_entropy(t, [0] * len(x))",
        "t.data = t.data * 2",
        lambda x: (np.exp(x) / np.exp(x).sum(axis=1, keepdims=True) - np.eye(len(x))[0]) / len(x),
    ),
    Check(
        "A write after each backward pass is no fault",
        "x = Tensor(x)\nfor _ in range(3):\n    x.grad = None\n    (x * x.exp()).sum().backward()\n"
        "    x.data = x.data - 0.1 * x.grad",
        ("x.data", "x.grad"),
        _arrays(x="n"),
        cases=4,
    ),
    Check(
        "Writing to a tensor that no waiting result needs",
        "x, other = Tensor(x), Tensor(other)\ny = x * x\nother.data = other.data * 2\ny.backward(v)",
        ("x.grad", "other.data"),
        _arrays(x="n", other="m", v="n"),
        cases=4,
    ),
    Check(
        "Your own array is yours again afterwards",
        "t = Tensor(x)\ny = t * t\ny.backward()\nx[0] = 9.0",
        ("x", "t.grad"),
        _arrays("float32", x="n"),
        rtol=1e-4,
        cases=4,
    ),
    Check(
        "A write after a block of no_grad",
        "x = Tensor(x)\nwith no_grad():\n    y = x * x\nx.data = x.data + 1\n(x * x).backward(v)",
        ("y.data", "x.data", "x.grad"),
        _arrays(x="n", v="n"),
        cases=4,
    ),
)


NETWORK = "[Tensor(w1), Tensor(b1), Tensor(w2), Tensor(b2)]"


def _fitted(name: str, optimizer: str, steps: int) -> Check:
    return Check(
        name,
        f"params = {NETWORK}\nlosses = fit(params, x, labels, {optimizer}, steps={steps})",
        ("losses", "[p.data for p in params]"),
        _small_network,
        cases=4,
    )


READ_DIGITS = (
    Check(
        "The network",
        f"params = {NETWORK}\nout = network(params, Tensor(x))\nout.backward()",
        ("out.data", "[p.grad for p in params]"),
        _small_network,
        cases=4,
    ),
    _fitted("Three steps of SGD", "SGD(params, lr=0.5)", 3),
    _fitted("Four steps of Adam", "Adam(params, lr=0.1)", 4),
    Check(
        "Gradients that were there before",
        f"params = {NETWORK}\nfor p in params:\n    (p * 100).backward()\n"
        f"losses = fit(params, x, labels, SGD(params, lr=0.5), steps=1)",
        ("losses", "[p.data for p in params]"),
        _small_network,
        cases=2,
    ),
    Check(
        "450 digits that it has never seen",
        "params = train(images, labels)\nwith no_grad():\n    logits = network(params, Tensor(unseen))",
        ("logits.data",),
        _digits,
        cases=1,
        judge=_read,
        secret=("answers",),
        slow=True,
    ),
)


CHECKS = {
    "unbroadcast": UNBROADCAST,
    "elementwise": ELEMENTWISE,
    "reduce": REDUCE,
    "matmul": MATMUL,
    "functions": FUNCTIONS,
    "softmax": SOFTMAX,
    "cross-entropy": CROSS_ENTROPY,
    "modes": MODES,
    "optimizers": OPTIMIZERS,
    "guard": GUARD,
    "digits": READ_DIGITS,
}
COURSE = Course("tensors", "Tensors", "Can your own engine learn to read digits?", FOLDER, read_tasks(FOLDER, CHECKS))
