"""The engine's extension contract, and its order: a reader soon sees all of it."""

import ast
from pathlib import Path

import numpy as np

import model
from lab.gradcheck import gradcheck
from model import Tensor

ROOT = Path(__file__).resolve().parents[2]
# Private names of the engine; a room that has an attribute of the same name means its own.
PRIVATE = {name for name in (*vars(model), *vars(Tensor)) if name.startswith("_") and not name.startswith("__")}
ROOMS = sorted(path for room in ("lab", "pages", "benchmarks") for path in ROOT.glob(f"{room}/**/*.py"))


def test_the_first_operation_and_the_whole_engine_come_early():
    lines = (ROOT / "model.py").read_text("utf-8").splitlines()
    at = {name: next(i for i, line in enumerate(lines, 1) if f"def {name}(" in line) for name in ("__add__", "exp")}
    assert at["__add__"] <= 130
    assert at["exp"] <= 300  # the first operation after the arithmetic, with which the whole engine has been seen


def test_no_room_touches_a_private_name_of_the_engine():
    touched = set()
    for path in ROOMS:
        tree = ast.parse(path.read_text("utf-8"))
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        own |= {
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in ("model", "nn"):
                touched |= {(path.name, alias.name) for alias in node.names if alias.name.startswith("_")}
            elif isinstance(node, ast.Attribute) and node.attr in PRIVATE - own:
                touched.add((path.name, node.attr))
    assert touched == set()


def cube(t):
    """An operation of an extension."""
    value = t.read()
    return t.node(value**3, (t,), "cube", lambda upstream: t.accumulate(upstream * 3.0 * value * value))


def test_an_operation_made_by_the_contract_is_one_of_the_engine():
    assert gradcheck(lambda t: cube(t) * t, {"t": [1.0, -2.0, 0.5]})
    t = Tensor([1.0, 2.0])
    y = cube(t)
    assert (y.op, y.children, t.closure) == ("cube", (t,), None)
    t.data[:] = 9.0
    y.backward([1.0, 1.0])
    assert t.grad.tolist() == [3.0, 12.0]  # at the values of the forward pass
    assert (y.children, y.closure) == ((), None)  # the pass has freed it


def test_replaced_values_reach_what_was_handed_out_and_no_closure():
    t = Tensor([1.0, 2.0])
    y, handed_out = t * t, t.data
    t.replace(np.array([5.0, 6.0]))
    assert handed_out.tolist() == t.numpy().tolist() == [5.0, 6.0]
    y.backward([1.0, 1.0])
    assert t.grad.tolist() == [2.0, 4.0]


def test_a_message_is_summed_over_the_axes_that_were_repeated():
    t = Tensor(np.zeros((2, 1), np.float32))
    message = t.unbroadcast(np.ones((4, 2, 3)))
    assert (message.tolist(), message.dtype) == ([[12.0], [12.0]], np.float32)
    assert t.constant(t) is t
    assert not t.constant(2.0).requires_grad
