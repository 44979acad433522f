"""All the errors of the engine, printed as a learner reads them: run with `-s` to review them as text.

A test fails when model.py or nn.py gets a `raise` that no entry of the gallery reaches.
"""

import ast
import copy
import inspect
import math
import re
import traceback

import numpy as np
import pytest

import model
import nn
from model import (
    Tensor,
    allow_mutation,
    binary_cross_entropy_with_logits,
    concatenate,
    cross_entropy,
    maximum,
    mse_loss,
    no_grad,
    stack,
    topological_order,
    where,
)
from nn import MLP, SGD, Adam, Linear, clip_grad_norm


def x(*shape):
    return Tensor(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape), label="x")


def w(*shape):
    return Tensor(np.ones(shape), label="w")


def written_to(make, target="input"):
    t = x(3)
    y = make(t)
    (t if target == "input" else y).data[...] = 5.0
    y.backward(np.ones(y.shape))


def stepped_too_early():
    a, b = x(3), w(3)
    loss = (a * b).sum()
    b.grad = np.ones(3)
    SGD([b], lr=0.1).step()
    loss.backward()


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
    t._node(t.numpy(), (t,), "broken", lambda upstream: t._accumulate(np.ones(4))).backward(np.ones(3))


def switched_off():
    h = x(3) * 2.0
    h.requires_grad = False
    (h * w(3)).sum().backward()


def stepped(gradient):
    p = w(3)
    p.grad = gradient
    SGD([p], lr=0.1).step()


def mistrusted():
    t = x(3)
    y = (t * t).sum()
    with allow_mutation():
        t.data.sum()
    y.backward()


def assigned(shape):
    t = x(3)
    t.data = np.ones(shape)


async def coroutine():
    return None


def generator():
    yield


# (what the learner did, and what the message has to mention)
GALLERY = {
    "wrote to the input of a product": (lambda: written_to(lambda t: t * t), ["`*`", "'x'", "(3,)", "again"]),
    "wrote to the output of exp": (lambda: written_to(Tensor.exp, "output"), ["`exp`", "(3,)", "again"]),
    "stepped before backward": (stepped_too_early, ["`*`", "'w'", "after backward()"]),
    "backward twice": (backward_twice, ["`sum`", "retain_graph=True"]),
    "backward on a leaf": (lambda: x(3).backward(), ["'x'", "(3,)", "no_grad()"]),
    "backward from three numbers": (lambda: (x(3) * 2.0).backward(), ["`*`", "3 elements", ".sum()"]),
    "a starting gradient of another shape": (lambda: (x(3) * 2.0).backward(np.ones(2)), ["(2,)", "(3,)"]),
    "a message of a wrong shape": (wrong_message, ["'x'", "(4,)", "(3,)"]),
    "shapes that do not broadcast": (lambda: x(3) + w(4), ["`+`", "'x'", "'w'", "(3,)", "(4,)"]),
    "matrices that do not fit": (lambda: x(2, 3) @ w(2, 3), ["`@`", "'x'", "'w'", "(2, 3)"]),
    "a number times a matrix by @": (lambda: x() @ w(2, 2), ["`@`", "'x'", "()"]),
    "clip upside down": (lambda: x(3).clip(2, 1), ["clip", "low", "high"]),
    "a reshape that does not fit": (lambda: x(3).reshape(2, 2), ["reshape", "'x'", "(3,)", "(2, 2)"]),
    "axes that are no permutation": (lambda: x(2, 3).transpose(0, 0), ["transpose", "'x'", "(2, 3)"]),
    "an axis to swap that does not exist": (lambda: x(2, 3).swapaxes(0, 2), ["swapaxes", "'x'", "(2, 3)"]),
    "a squeeze of a long axis": (lambda: x(2, 3).squeeze(0), ["squeeze", "'x'", "(2, 3)"]),
    "expand_dims far away": (lambda: x(2, 3).expand_dims(7), ["expand_dims", "'x'", "(2, 3)"]),
    "a broadcast that does not fit": (lambda: x(3).broadcast_to(2, 4), ["broadcast", "'x'", "(3,)", "(2, 4)"]),
    "an index outside": (lambda: x(3)[7], ["'x'", "(3,)", "7"]),
    "the maximum of nothing": (lambda: x(0).max(), ["'x'", "(0,)"]),
    "new data of another shape": (lambda: assigned(4), ["'x'", "(3,)", "(4,)", "Tensor"]),
    "item of three": (lambda: x(3).item(), ["item()", "'x'", "(3,)"]),
    "the length of a number": (lambda: len(x()), ["length"]),
    "the truth of three": (lambda: bool(x(3)), ["'x'", "(3,)"]),
    "a list that holds itself": (lambda: Tensor((rows := [1.0], rows.append(rows))[0]), ["rows", "same number"]),
    "ragged rows": (lambda: Tensor([[1.0, 2.0], [3.0]]), ["rows", "same number"]),
    "text in a tensor": (lambda: Tensor("three"), ["real numbers", "str"]),
    "complex numbers": (lambda: Tensor([1j]), ["real numbers", "complex"]),
    "joining what does not fit": (lambda: concatenate([x(2, 3), w(3, 2)]), ["concatenate", "(2, 3)", "(3, 2)"]),
    "joining nothing": (lambda: concatenate([]), ["concatenate", "at least one"]),
    "stacking unequal shapes": (lambda: stack([x(2), w(3)]), ["stack", "(2,)", "(3,)"]),
    "a maximum that does not broadcast": (lambda: maximum(x(3), w(2)), ["maximum", "'x'", "'w'"]),
    "an input that does not fit a layer": (lambda: Linear(3, 2)(x(4, 5)), ["3 inputs", "'x'", "(4, 5)"]),
    "mse of (n, 1) and (n,)": (lambda: mse_loss(x(4, 1), w(4)), ["mse_loss", "'x'", "(4, 1)", "(4,)", "Reshape"]),
    "binary cross entropy of unequal shapes": (lambda: binary_cross_entropy_with_logits(x(4, 1), np.zeros(4)), ["binary_cross_entropy_with_logits", "(4, 1)", "(4,)", "Reshape"]),
    "labels that are not a row each": (lambda: cross_entropy(x(4, 3), [0, 1]), ["cross_entropy", "(4, 3)", "(2,)"]),
    "labels that are no integers": (lambda: cross_entropy(x(2, 3), [0.0, 1.0]), ["cross_entropy", "integer", "float64", "labels.astype(int)"]),
    "a label of no class": (lambda: cross_entropy(x(2, 3), [0, 3]), ["cross_entropy", "3", "from 0 to 2"]),
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
    "a slope to learn": (lambda: x(3).leaky_relu(w()), ["leaky_relu", "number", "gradient", "Tensor"]),
    "a slope without end": (lambda: x(3).leaky_relu(math.inf), ["leaky_relu", "number", "inf"]),
    "a lower bound to learn": (lambda: x(3).clip(low=w()), ["clip", "number", "gradient", "Tensor"]),
    "an upper bound to learn": (lambda: x(3).clip(high=w()), ["clip", "number", "gradient", "Tensor"]),
    "an axis that is not there": (lambda: x(2, 3).sum(axis=5), ["axis 5", "'x'", "(2, 3)", "out of bounds"]),
    "the softmax of a number": (lambda: x().softmax(), ["axis -1", "'x'", "()"]),
    "a comparison of other shapes": (lambda: x(3) > w(4), ["'x'", "(3,)", "compared"]),
    "a condition of another shape": (lambda: where(np.ones(2) > 0, x(3), 0.0), ["where", "(2,)", "'x'", "(3,)"]),
    "NumPy's function of a Tensor": (lambda: np.clip(x(3), 0, 1), ["NumPy", "'x'", "graph", "clip", "numpy()"]),
    "a copy of a result": (lambda: copy.deepcopy(x(3) * 2.0), ["`*`", "copied", "detach()"]),
    "requires_grad off on a result": (switched_off, ["requires_grad", "`*`", "detach()"]),
    "an assigned gradient of another shape": (lambda: stepped(np.ones(4)), ["'w'", "assigned", "(4,)", "(3,)"]),
    "a leaf updated by its name": (rebound, ["`-=`", "'w'", "(3,)", "w.data -= ..."]),
    "a second turn with a rebound leaf": (rebound_in_a_loop, ["no longer a leaf", "`-`", "w.data -= ...", "detach()"]),
    "an element assigned": (lambda: x(3).__setitem__(0, 1.0), ["'x'", "(3,)", "assigned", "t.data[...]", "where"]),
    "a format of three": (lambda: f"{x(3):.2f}", ["'.2f'", "'x'", "(3,)"]),
    "the larger of two": (lambda: max(x(3), w(3)), ["3 booleans", "maximum(t, u)", ".any()"]),
    "PyTorch's word for an axis": (lambda: x(3).sum(dim=0), ["axis", "keepdims", "dim"]),
    "True for an axis": (lambda: x(2, 3).sum(True), ["axis", "integer", "True", "keepdims=True"]),
    "several tensors that are no list": (lambda: concatenate(x(3), w(3)), ["concatenate", "one list", "stack([t, u])"]),
    "PyTorch's name of a method": (lambda: x(3).unsqueeze, ["'unsqueeze'", "t.expand_dims(axis)"]),
    "an index that is a tensor": (lambda: x(3)[Tensor([0.0, 1.0])], ["'x'", "integers", "t.numpy().astype(int)"]),
    "a masked array": (lambda: x(3) * np.ma.ones(3), ["MaskedArray", ".filled(", "where("]),
    "a matrix of NumPy": (lambda: np.ones((1, 2)).view(np.matrix) * x(2), ["matrix", "np.asarray(matrix)"]),
    "a power with a remainder": (lambda: pow(x(3), 2, 3), ["pow", "base", "exponent"]),
    "a function of math": (lambda: math.exp(x(3)), ["math.exp()", "'x'", "t.exp()"]),
    "one-hot labels": (lambda: cross_entropy(x(3, 2), np.eye(2)[[0, 1, 0]]), ["one-hot", "labels.argmax(axis=1)"]),
    "an empty batch": (lambda: cross_entropy(x(0, 2), np.zeros(0, int)), ["cross_entropy", "mean", "none"]),
    "no_grad without parentheses": (lambda: no_grad.__enter__(), ["parentheses", "`with no_grad():`"]),
    "the order of a number": (lambda: topological_order(3), ["topological_order", "Tensor", "int"]),
    "NumPy's exp": (lambda: np.exp(x(3)), ["NumPy", "'x'", "graph", "t.exp()", "numpy()"]),
    "a layer of text": (lambda: MLP([2, "a", 1]), ["integers", "2", "'a'"]),
    "a network of a number": (lambda: MLP(5), ["list", "5"]),
    "a network of two numbers": (lambda: MLP(3, 2), ["list", "MLP([2, 8, 1])", "not 3"]),
    "weights that are integers": (lambda: MLP([2, 8, 1], dtype=int), ["float64", "float32", "int64"]),
    "an optimizer of nothing": (lambda: SGD([], lr=0.1), ["list of parameters", "empty"]),
    "one beta": (lambda: Adam([w(3)], betas=0.9), ["two betas", "(0.9, 0.999)", "0.9"]),
    "a write under allow_mutation": (mistrusted, ["`*`", "'x'", "allow_mutation()"]),
    "a number of too many digits": (lambda: Tensor(10**400), ["1.8e308"]),
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
    """Is it a `raise`, or one of those that raise for others: `with _refusing(...)`, `_setting(...)`, `_number(...)`?"""
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else [node]
    names = [ast.unparse(call.func) for call in calls if isinstance(call, ast.Call)]
    raises = isinstance(node, ast.Raise) and "NotImplementedError" not in ast.unparse(node)
    return raises or {"_refusing", "_setting", "_number"} & {*names}


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
