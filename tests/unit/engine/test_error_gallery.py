"""All the errors of the engine, printed as a learner reads them: run with `-s` to review them as text.

A test fails when model.py or nn.py gets a `raise` that no entry of the gallery reaches.
"""

import ast
import copy
import inspect
import re
import traceback

import numpy as np
import pytest

import model
import nn
from model import (
    Tensor,
    binary_cross_entropy_with_logits,
    concatenate,
    cross_entropy,
    maximum,
    mse_loss,
    no_grad,
)
from nn import MLP, SGD, Adam, Linear, clip_grad_norm


def x(*shape):
    return Tensor(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape), label="x")


def w(*shape):
    return Tensor(np.ones(shape), label="w")


def rebound():
    p = w(3)
    p -= 0.1


def rebound_in_a_loop():
    p = w(3)
    for _ in range(3):
        (p * p).sum().backward()
        p = p - 0.1 * p.grad


def backward_twice():
    loss = (x(3) * 2.0).sum()
    loss.backward()
    loss.backward()


def wrong_message():
    t = x(3)
    t.node(t.numpy(), (t,), "broken", lambda upstream: t.accumulate(np.ones(4))).backward(np.ones(3))


def switched_off():
    h = x(3) * 2.0
    h.requires_grad = False
    (h * w(3)).sum().backward()


def stepped(gradient):
    p = w(3)
    p.grad = gradient
    SGD([p], lr=0.1).step()


def assigned(shape):
    t = x(3)
    t.data = np.ones(shape)


async def coroutine():
    return None


def generator():
    yield


# (what the learner did, and what the message has to mention)
GALLERY = {
    "backward twice": (backward_twice, ["`sum`", "retain_graph=True"]),
    "backward on a leaf": (lambda: x(3).backward(), ["'x'", "(3,)", "no_grad()"]),
    "backward from three numbers": (lambda: (x(3) * 2.0).backward(), ["`*`", "3 elements", ".sum()"]),
    "a starting gradient of another shape": (lambda: (x(3) * 2.0).backward(np.ones(2)), ["(2,)", "(3,)"]),
    "a message of a wrong shape": (wrong_message, ["'x'", "(4,)", "(3,)"]),
    "shapes that do not broadcast": (lambda: x(3) + w(4), ["`+`", "'x'", "'w'", "(3,)", "(4,)"]),
    "matrices that do not fit": (lambda: x(2, 3) @ w(2, 3), ["`@`", "'x'", "'w'", "(2, 3)"]),
    "a number times a matrix by @": (lambda: x() @ w(2, 2), ["`@`", "'x'", "()"]),
    "a name of PyTorch": (lambda: x(3).unsqueeze(0), ["PyTorch", "t.expand_dims(axis)"]),
    "clip upside down": (lambda: x(3).clip(2, 1), ["clip", "low", "high"]),
    "new data of another shape": (lambda: assigned(4), ["'x'", "(3,)", "(4,)", "Tensor"]),
    "a list that holds itself": (lambda: Tensor((rows := [1.0], rows.append(rows))[0]), ["rows", "same number"]),
    "ragged rows": (lambda: Tensor([[1.0, 2.0], [3.0]]), ["rows", "same number"]),
    "text in a tensor": (lambda: Tensor("three"), ["real numbers", "str"]),
    "complex numbers": (lambda: Tensor([1j]), ["real numbers", "complex"]),
    "joining nothing": (lambda: concatenate([]), ["concatenate", "at least one"]),
    "a maximum that does not broadcast": (lambda: maximum(x(3), w(2)), ["maximum", "'x'", "'w'"]),
    "an input that does not fit a layer": (lambda: Linear(3, 2)(x(4, 5)), ["linear", "(n, n_in)", "(4, 5)", "(3, 2)"]),
    "mse of (n, 1) and (n,)": (lambda: mse_loss(x(4, 1), w(4)), ["mse_loss", "'x'", "(4, 1)", "(4,)"]),
    "binary cross entropy of unequal shapes": (lambda: binary_cross_entropy_with_logits(x(4, 1), np.zeros(4)), ["binary_cross_entropy_with_logits", "(4, 1)", "(4,)"]),
    "labels that are not a row each": (lambda: cross_entropy(x(4, 3), [0, 1]), ["cross_entropy", "(4, 3)", "(2,)"]),
    "labels that are no integers": (lambda: cross_entropy(x(2, 3), [0.0, 1.0]), ["cross_entropy", "integers", "float64", "labels.astype(int)"]),
    "a label of no class": (lambda: cross_entropy(x(2, 3), [0, 3]), ["cross_entropy", "3", "not 0 to 2"]),
    "an initialisation that does not exist": (lambda: Linear(2, 2, init="magic"), ["'magic'", "xavier", "choose"]),
    "a layer without outputs": (lambda: Linear(2, 0), ["at least one", "0"]),
    "an activation that does not exist": (lambda: MLP([2, 2], "step"), ["'step'", "relu", "choose"]),
    "a network of one size": (lambda: MLP([2]), ["at least", "[2]"]),
    "a learning rate of 0": (lambda: SGD([x(3)], lr=0.0), ["learning rate", "positive", "0"]),
    "an optimizer of numbers": (lambda: SGD([3.0], lr=0.1), ["Tensors", "parameters()"]),
    "a largest norm below 0": (lambda: clip_grad_norm([x(3)], -1.0), ["norm", "positive", "-1"]),
    "one Tensor for an optimizer": (lambda: SGD(x(3), lr=0.1), ["list of leaf Tensors", "parameters()"]),
    "a learning rate that is text": (lambda: SGD([x(3)], lr="fast"), ["learning rate", "number", "str"]),
    "momentum below 0": (lambda: SGD([x(3)], lr=0.1, momentum=-1.0), ["momentum", "from 0", "-1"]),
    "a weight decay without end": (lambda: SGD([x(3)], lr=0.1, weight_decay=np.inf), ["weight decay", "inf"]),
    "betas that grow": (lambda: Adam([x(3)], betas=(2.0, 0.9)), ["betas", "below 1", "2.0"]),
    "a negative eps": (lambda: Adam([x(3)], eps=-1.0), ["eps", "from 0", "-1"]),
    "a condition of text": (lambda: model.where("no", x(3), 0.0), ["where", "booleans"]),
    "a NumPy array of a Tensor": (lambda: np.asarray(x(3)), ["NumPy", "'x'", "graph", "t.exp()", "numpy()"]),
    "a copy of a result": (lambda: copy.deepcopy(x(3) * 2.0), ["`*`", "copied", "detach()"]),
    "requires_grad off on a result": (switched_off, ["requires_grad", "`*`", "detach()"]),
    "an assigned gradient of another shape": (lambda: stepped(np.ones(4)), ["assigned", "(4,)", "(3,)"]),
    "a leaf updated by its name": (rebound, ["`-=`", "'w'", "(3,)", "w.data -= ..."]),
    "a second turn with a rebound leaf": (rebound_in_a_loop, ["`-`", "w.data -= ...", "detach()"]),
    "two axes one by one": (lambda: x(2, 3).sum(0, 1), ["keepdims", "axis=(0, 1)"]),
    "True for an axis": (lambda: x(2, 3).sum(True), ["axis", "integer", "True", "keepdims=True"]),
    "a masked array": (lambda: x(3) * np.ma.ones(3), ["MaskedArray", ".filled("]),
    "a matrix of NumPy": (lambda: np.ones((1, 2)).view(np.matrix) * x(2), ["matrix", "np.asarray(matrix)"]),
    "one-hot labels": (lambda: cross_entropy(x(3, 2), np.eye(2)[[0, 1, 0]]), ["One-hot", "labels.argmax(axis=1)"]),
    "an empty batch": (lambda: cross_entropy(x(0, 2), np.zeros(0, int)), ["cross_entropy", "at least 1"]),
    "a layer of text": (lambda: MLP([2, "a", 1]), ["integers", "2", "'a'"]),
    "a network of a number": (lambda: MLP(5), ["list", "5"]),
    "a network of two numbers": (lambda: MLP(3, 2), ["list", "MLP([2, 8, 1])", "not 3"]),
    "weights that are integers": (lambda: MLP([2, 8, 1], dtype=int), ["float64", "float32", "int64"]),
    "an optimizer of nothing": (lambda: SGD([], lr=0.1), ["list of parameters", "empty"]),
    "one beta": (lambda: Adam([w(3)], betas=0.9), ["two betas", "(0.9, 0.999)", "0.9"]),
    "no_grad on a coroutine": (lambda: no_grad(coroutine), ["async", "with no_grad()"]),
    "no_grad on a generator": (lambda: no_grad()(generator), ["generator", "with no_grad()"]),
}  # fmt: skip


def shown(action):
    """The error that the action raises, and the lines of the engine that it came through."""
    try:
        action()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return error, {(f.filename, f.lineno) for f in frames if f.filename in (model.__file__, nn.__file__)}
    raise AssertionError("no error was raised")


@pytest.fixture(scope="module")
def gallery():
    return {name: shown(action) for name, (action, _) in GALLERY.items()}


INTERNALS = re.compile(
    r"\b_\w|__|<locals>|<lambda>|0x[0-9a-f]|object at|<function|<class|Traceback|model\.py|\bself\b|ufunc"
)


def test_the_whole_gallery(gallery):
    print()
    for name, (error, lines) in gallery.items():
        print(f"{name}\n    {type(error).__name__}: {error}\n")
        text = str(error)
        assert lines, f"{name}: the error does not come from the engine"
        assert not INTERNALS.search(text), f"{name} quotes internals: {text}"
        assert text.endswith("."), f"{name} is no sentence: {text}"
        assert text[0].isupper() or text[0] in "`'" or re.match(r"[a-z_]+(\(\))? ", text), f"{name}: {text}"
        assert 5 <= len(text.split()) <= 70, f"{name} is too short or too long: {text}"
        assert "\n" not in text
        missing = [word for word in GALLERY[name][1] if word not in text]
        assert not missing, f"{name} does not mention {missing}: {text}"


def refuses(node):
    """Is it a `raise`, or a call of `_number`, which raises for others?"""
    raises = isinstance(node, ast.Raise) and "NotImplementedError" not in ast.unparse(node)
    return raises or (isinstance(node, ast.Call) and ast.unparse(node.func) == "_number")


def test_every_raise_of_the_engine_is_in_the_gallery(gallery):
    reached = {line for _, lines in gallery.values() for line in lines}
    raises = [(m.__file__, n) for m in (model, nn) for n in ast.walk(ast.parse(inspect.getsource(m))) if refuses(n)]
    assert len(raises) > 40
    unseen = [
        f"{file}:{node.lineno}: {ast.unparse(node)[:90]}"
        for file, node in raises
        if not any((file, line) in reached for line in range(node.lineno, node.end_lineno + 1))
    ]
    assert unseen == []
