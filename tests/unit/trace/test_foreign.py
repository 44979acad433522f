"""Tensors that a recorded function brings along: a network's weights, constants, whole results computed before."""

import numpy as np
import pytest

from lab.trace import record
from lab.trace.derivation import derive, first_disagreement, table
from lab.trace.export import standalone
from model import Tensor, concatenate, cross_entropy, maximum, mse_loss, no_grad, stack, where
from nn import MLP, Linear

X = np.array([[1.0, 2.0], [3.0, -1.0]])
NET = MLP([2, 3, 2], "tanh", rng=0)
SKIP = MLP([2, 2, 2, 1], "sigmoid", rng=1, skip=True)
LAYER, OTHER = Linear(2, 2, rng=2), Linear(2, 1, rng=3)
W = Tensor([[1.0, 2.0], [3.0, 4.0]])
V = Tensor([0.5, -1.5], label="v")
FIXED = Tensor([[2.0, 0.0], [1.0, 5.0]], requires_grad=False, label="fixed")

RNG = np.random.default_rng(4)
for parameter in (p for part in (NET, SKIP, LAYER, OTHER) for p in part.parameters()):
    parameter.data = RNG.normal(size=parameter.shape)  # also the biases: each can be told by its values

PROGRAMS = {
    "a network": (lambda x: NET(x).sum(), NET.parameters()),
    "with shortcuts": (lambda x: SKIP(x).sum(), SKIP.parameters()),
    "a loss": (lambda x: cross_entropy(NET(x), [0, 1]), NET.parameters()),
    "a loss with a penalty": (lambda x: mse_loss(NET(x), FIXED) + 0.1 * (NET.layers[0].weight ** 2).sum(), NET.parameters()),
    "two layers of one name": (lambda x: OTHER(LAYER(x).relu()).sum(), [*LAYER.parameters(), *OTHER.parameters()]),
    "a layer used twice": (lambda x: LAYER(LAYER(x)).sum(), LAYER.parameters()),
    "a number": (lambda x: (x * V[0]).sum(), [V]),
    "on the left of a product": (lambda x: (W @ x).sum(), [W]),
    "on the left of arithmetic": (lambda x: (W / x - V**2 + V * x).sum(), [W, V]),
    "first of a function": (lambda x: maximum(W, x).sum() + where(X > 0, W, x).max(), [W]),
    "joined": (lambda x: concatenate([W, x]).sum() + (stack([W, x]) ** 2).mean(), [W]),
    "a constant": (lambda x: (FIXED * x).sum(), []),
    "twice by both sides": (lambda x: (W * W).sum() + (x * W).sum(), [W]),
    "a result of its own": (lambda x: ((V * V).exp().sum() * x).sum(), [V]),
    "shapes": (lambda x: (W.T.reshape(4)[1:3] * x[0]).sum(), [W]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradients_are_those_of_the_engine_and_nothing_is_left_behind(name):
    build, used = PROGRAMS[name]
    trace = record(build, {"x": X})
    assert all(tensor.grad is None for tensor in used)
    assert all(tensor.closure is None and tensor.read() is tensor.read() for tensor in used)
    x = Tensor(X)
    build(x=x).backward()
    try:
        np.testing.assert_array_equal(trace.gradients["x"], x.grad)
        assert first_disagreement(trace) is None
        assert len(derive(trace)) == len(table(trace)) == len(trace.nodes)
        assert all(label in standalone(trace) for label in trace.gradients)
        leaves = [node for node in trace.nodes if not node["op"] and node["requires_grad"]]
        assert [node["label"] for node in leaves] == [*dict.fromkeys(node["label"] for node in leaves)]
        assert {node["label"] for node in leaves} == {*trace.gradients}
        due = {tensor.numpy().tobytes(): tensor.grad for tensor in used}
        assert len(leaves) == 1 + len(used)
        for node in leaves[1:]:
            np.testing.assert_array_equal(trace.gradients[node["label"]], due[np.array(node["value"]).tobytes()])
    finally:
        for tensor in used:
            tensor.zero_grad()


def test_names():
    assert [*record(PROGRAMS["two layers of one name"][0], {"x": X}).gradients] == [
        *("x", "weight", "bias", "weight_2", "bias_2"),
    ]
    assert [*record(lambda W1: (W1 * NET.layers[0].weight).sum(), {"W1": 2.0}).gradients] == ["W1", "W1_2"]
    assert [*record(lambda t1: t1 * Tensor(3.0) * Tensor(2.0), {"t1": 2.0}).gradients] == ["t1", "t2", "t3"]
    constants = record(lambda x: (x * FIXED * FIXED.detach()).sum(), {"x": X})
    assert [node["label"] for node in constants.nodes if not node["op"]] == ["x", "fixed", "fixed_2"]


def test_a_function_of_no_leaves_and_data_that_are_no_leaf():
    trace = record(lambda: cross_entropy(NET(X), [0, 1]), {})
    assert [*trace.gradients] == ["W1", "b1", "W2", "b2"]
    assert trace.nodes[0]["requires_grad"] is False
    assert trace.nodes[0]["value"] == X.tolist()


def test_a_result_computed_before_is_recorded_with_all_that_it_came_from():
    hidden = (V * 2.0).tanh()
    hidden.label = "h"
    trace = record(lambda a: (hidden * a).sum(), {"a": 3.0})
    assert [node["op"] for node in trace.nodes] == ["", "", "", "*", "tanh", "*", "sum"]
    assert trace.nodes[4]["label"] == "h"
    np.testing.assert_allclose(trace.gradients["v"], 3.0 * 2.0 * (1.0 - hidden.numpy() ** 2))
    hidden.sum().backward()  # the graph is the caller's still
    np.testing.assert_allclose(V.grad, 2.0 * (1.0 - hidden.numpy() ** 2))
    V.zero_grad()


def test_what_the_engine_refuses_is_refused():
    freed = (V * 2.0).sum()
    freed.backward()
    V.zero_grad()
    with pytest.raises(RuntimeError, match="freed its graph"):
        record(lambda a: freed * a, {"a": 2.0})

    def written(a):
        t = Tensor([1.0, 2.0], label="t")
        result = (t * t).sum() * a
        t.data[:] = 5.0
        return result

    assert record(written, {"a": 2.0}).gradients["a"] == 5.0  # as in the forward pass
    with pytest.raises(TypeError, match="must return a Tensor, not float"):
        record(lambda a: 2.0, {"a": 2.0})
    with pytest.raises(RuntimeError, match="nothing to differentiate"):
        record(lambda a: Tensor(2.0), {"a": 2.0})


def test_under_no_grad_nothing_is_brought_along():
    def build(x):
        with no_grad():
            scale = (W * W).sum() + NET(x).sum()
        return (x * scale).sum()

    trace = record(build, {"x": X})
    assert [*trace.gradients] == ["x"]
    with no_grad():
        due = (W * W).sum() + NET(Tensor(X)).sum()
    np.testing.assert_allclose(trace.gradients["x"], np.full((2, 2), due.item()))
