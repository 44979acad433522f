"""The course "Tensors": from sums over broadcast axes to a network that reads digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from practice.independent_uses import uses_are_independent
from practice.task import Cases, Course, Inputs, Judge, read_tasks

FOLDER = Path(__file__).resolve().parent
DIGITS = FOLDER.parents[1] / "assets" / "digits.npz"
UNSEEN = 450  # held-out digits of the 1,797
MIN_ACCURACY = 0.9  # on the unseen digits
SAME = 1e-3  # tolerance of logits, relative to the largest: an engine may use float32
MIN_FITTED = 0.5  # accuracy on the digits that a network was trained with, if they have other labels
MAX_LOGIT = 300  # on the unseen digits; a network that reads stays far below it


# -- Inputs ------------------------------------------------------------------------------------------------------------


def _arrays(dtype: str = "float64", positive: bool = False) -> Callable[..., Cases]:
    """Make cases with random arrays. A shape is written in letters: "nm" has n rows and m columns, "n1" one column, ""
    is a number. n, m and k differ from each other."""

    def of_shapes(**shapes: str) -> Cases:
        def inputs(rng: Generator, size: int) -> Inputs:
            lengths = {"1": 1, **dict(zip("nmk", (2 + size // 2 + rng.permutation(3)).tolist(), strict=True))}
            made = {}
            for name, letters in shapes.items():
                values = np.round(rng.normal(size=[lengths[letter] for letter in letters]), 2 if size < 3 else 6)
                values = np.where(values == 0, 0.5, values)  # relu's kink has a check of its own
                values = np.abs(values) + 0.1 if positive and name != "v" else values
                made[name] = values.astype(dtype) if letters else float(values)
            return made

        return inputs

    return of_shapes


def _written(dtype: str = "float64") -> Callable[..., Cases]:
    """Make cases with positive arrays in most of which the program writes between its passes."""
    arrays = _arrays(dtype, positive=True)

    def of_shapes(**shapes: str) -> Cases:
        cases = arrays(**shapes)
        return lambda rng, size: {**cases(rng, size), "writes": bool(rng.random() < 0.7)}

    return of_shapes


def _large(which: str, **shapes: str) -> Cases:
    """Make cases with arrays, one of them multiplied by 1e4."""
    inputs = _arrays()(**shapes)
    return lambda rng, size: {name: x * 1e4 if name == which else x for name, x in inputs(rng, size).items()}


def _ties(rng: Generator, size: int) -> Inputs:
    return {"x": rng.integers(-1, 2, size + 2).astype(float), "v": np.round(rng.normal(size=size + 2), 2)}


def _with_zeros(rng: Generator, size: int) -> Inputs:
    made = {name: rng.integers(-1, 2, (2, 2 + size)).astype(float) for name in ("a", "b")}
    made["a"][0, 0] = 0
    return {**made, "v": np.round(rng.normal(size=(2, 2 + size)), 2)}


def _views(rng: Generator, size: int) -> Inputs:
    """Draw arrays for a check of views: the program takes every second row of b, and transposes a and v."""
    return {name: np.round(rng.normal(size=(4 if name == "b" else 3, 3 if name == "b" else 2)), 2) for name in "abv"}


def _every_operation(rng: Generator, size: int) -> Inputs:
    return {"x": rng.uniform(1, 2, (3, 3)), "labels": rng.integers(0, 3, 3)}


def _labelled(scale: float = 1, dtype: str = "float64") -> Cases:
    """Make cases with the logits of some samples and the class of each."""

    def inputs(rng: Generator, size: int) -> Inputs:
        samples, classes = 2 + size, 3 + size % 2
        logits = np.round(rng.normal(size=(samples, classes)), 2) * scale
        return {"z": logits.astype(dtype), "labels": rng.integers(0, classes, samples)}

    return inputs


def _labelled_upstream(rng: Generator, size: int) -> Inputs:
    return {**_labelled()(rng, size), "v": round(rng.normal(), 2)}


def _one_sample(rng: Generator, size: int) -> Inputs:
    return {"z": rng.normal(size=(1, 3)), "labels": np.array([size % 3])}


def _equal_logits(rng: Generator, size: int) -> Inputs:
    return {"z": np.zeros((2, 3)), "labels": np.array([size % 3, 1])}


def _far_apart(rng: Generator, size: int) -> Inputs:
    logits = np.array([[1e4], [-1e4]]) + np.round(rng.normal(size=(2, 3)), 2)
    return {"z": logits, "labels": rng.integers(0, 3, 2)}


def _turned(rng: Generator, size: int) -> Inputs:
    return {"z": np.round(rng.normal(size=(3, 4)), 2), "labels": rng.integers(0, 3, 2)}


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


def _layers(rng: Generator, size: int) -> Inputs:
    made = {name: np.round(rng.normal(size=(2 + size, width)), 2) for name, width in (("x", 4), ("v", 3))}
    return {**made, "seed": int(rng.integers(1000))}


def _digits(rng: Generator, size: int) -> Inputs:
    with np.load(DIGITS) as digits:
        images, labels = digits["images"].reshape(-1, 64) / 16, digits["labels"].astype(int)
    rows = np.random.default_rng(0).permutation(len(images))  # always the same, so that luck plays no part
    train, unseen = rows[UNSEEN:], rows[:UNSEEN]
    return {
        "images": images[train],
        "labels": labels[train],
        "shift": int(rng.integers(1, 10)),  # to other labels, which no weights that are ready-made can know
        "unseen": images[unseen],
        "answers": labels[unseen],
    }


# -- Judges for checks with many right answers -------------------------------------------------------------------------


def _softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)


# The right gradient of the operation whose operand is overwritten, for an upstream gradient of 1.
GRADIENTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "square": lambda x: 2 * x,
    "square_of_3x": lambda x: 18 * x,
    "exp": np.exp,
    "log": lambda x: 1 / x,
    "relu": np.ones_like,
    "factor": lambda x: x,
    "product": lambda x: np.ones_like(x) @ x.T,
    "left_product": lambda x: x.T @ np.ones_like(x),
    "softmax": lambda x: (p := _softmax(x)) * (x - (p * x).sum(axis=-1, keepdims=True)),
    "cross_entropy": lambda x: (_softmax(x) - np.eye(len(x))[0]) / len(x),
}


def _spoiled(of: str) -> Judge:
    """Make a judge for a write between the passes: it must be refused, or leave the gradient right. Without a write,
    nothing may be refused."""

    def judge(inputs: Inputs, values: Mapping[str, Any]) -> str:
        if not values:
            return "" if inputs["writes"] else "Here nothing is written, and your engine refuses the backward pass."
        with np.errstate(all="ignore"):
            grad, wanted = values["t.grad"], GRADIENTS[of](inputs["x"])
        if np.shape(grad) == wanted.shape and np.allclose(grad, wanted, 1e-4):
            return ""
        if not inputs["writes"]:
            return "Here nothing is written, and the gradient is wrong all the same."
        return "The write was not refused, and the gradient is not that of the numbers of the forward pass."

    return judge


def _logits(params: Sequence[Any], images: np.ndarray) -> np.ndarray:
    """Compute the logits of images from the four parameters. Raises TypeError or ValueError if they do not fit."""
    w1, b1, w2, b2 = (np.asarray(param, float) for param in params)
    return np.asarray(np.maximum(images @ w1 + b1, 0) @ w2 + b2)


def _read(inputs: Inputs, values: Mapping[str, Any]) -> str:
    """Judge whether the network with these parameters reads enough of the unseen digits."""
    count, params, given = values.values()
    answers = inputs["answers"]
    if count != 4 or len(params) != 4:
        got = "four values, and not all of them are tensors" if count == 4 else f"{count} values"
        return f"`train` should return the four parameters, w1, b1, w2 and b2, as tensors. Yours returns {got}."
    if not isinstance(given, np.ndarray) or given.shape != (len(answers), 10):
        return f"The logits of {len(answers)} images should be an array of shape ({len(answers)}, 10)."
    with np.errstate(all="ignore"):
        logits = _logits(params, inputs["unseen"])
    if not np.isfinite(logits).all():
        return "Some logits are not finite: the training has diverged. A smaller learning rate may help."
    if not np.allclose(given, logits, atol=SAME * np.abs(logits).max()):
        return "Here `network` gives other logits than `relu(x @ w1 + b1) @ w2 + b2` with the parameters of `train`."
    guesses = logits.argmax(axis=1)
    if (guesses == guesses[0]).all():
        return (
            f"Every unseen image is taken for a {guesses[0]}: nothing was learned. Do all weights start at random, and "
            f"does each parameter move?"
        )
    share = float((guesses == answers).mean())
    if share > MIN_ACCURACY:
        return ""
    largest = np.abs(logits).max()
    advice = (
        f"The largest logit is {largest:,.0f}: the weights were drawn too large, or the steps are too long."
        if largest > MAX_LOGIT
        else "More steps may help, or weights of another size."
    )
    asked = f"the task asks for more than {MIN_ACCURACY:.0%}"
    return f"It reads {share:.1%} of the unseen digits, and {asked}. {advice}"


def _steady(inputs: Inputs, values: Mapping[str, Any]) -> str:
    """Judge whether the losses of steps that move nothing are equal."""
    losses = values["losses"]
    if not all(isinstance(loss, float) for loss in losses) or np.allclose(losses, losses[0], 1e-9):
        return ""  # what else is wrong with a list, the next checks see
    return (
        "With a learning rate of 0 no parameter moves, so every step has the same loss. Yours differ: does each step "
        "take all rows, and nothing random?"
    )


def _seeded(inputs: Inputs, values: Mapping[str, Any]) -> str:
    """Judge whether two calls of `train` gave the same parameters, and learned the labels that they were given."""
    first, second = values["first"], values["second"]
    if not all(np.array_equal(p, q) for p, q in zip(first, second, strict=True)):
        return (
            "Two calls of `train` give different parameters. In `train`, make the generator with a seed: "
            "`np.random.default_rng(0)`."
        )
    rows, labels = inputs["images"][::5], (inputs["labels"][::5] + inputs["shift"]) % 10
    share = float((_logits(first, rows).argmax(axis=1) == labels).mean())
    if share > MIN_FITTED:
        return ""
    return (
        f"Here `train` gets other labels, and fits {share:.0%} of them. It should learn from its arguments alone: the "
        f"task asks for more than {MIN_FITTED:.0%}."
    )


FUNCTIONS: Mapping[str, Callable[..., Any]] = {  # what the rows of tasks.toml name
    "arrays": _arrays(),
    "float32": _arrays("float32"),
    "positive": _arrays(positive=True),
    "written": _written(),
    "written_float32": _written("float32"),
    "large": _large,
    "ties": _ties,
    "with_zeros": _with_zeros,
    "views": _views,
    "every_operation": _every_operation,
    "labelled": _labelled(),
    "labelled_1e4": _labelled(1e4),
    "labelled_float32": _labelled(dtype="float32"),
    "labelled_upstream": _labelled_upstream,
    "one_sample": _one_sample,
    "equal_logits": _equal_logits,
    "far_apart": _far_apart,
    "turned": _turned,
    "small_network": _small_network,
    "layers": _layers,
    "digits": _digits,
    "spoiled": _spoiled,
    "uses_are_independent": uses_are_independent,
    "read": _read,
    "seeded": _seeded,
    "steady": _steady,
}
COURSE = Course(
    "tensors", "Tensors", "Can your own engine learn to read digits?", FOLDER, read_tasks(FOLDER, FUNCTIONS)
)
