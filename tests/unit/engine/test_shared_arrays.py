"""An array that meets a tensor is its owner's: whatever he does to it afterwards, no gradient changes.

Every operation that takes a constant, times every kind of owner: read-only for us does not mean that he cannot write.
"""

import numpy as np
import pytest

from model import (
    Tensor,
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
from nn import MLP, Linear


class Lender:
    """A class that hands out its own array and does not copy, whatever NumPy asks for."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Mine(np.ndarray):
    pass


def read_only(array):
    view = array[...]
    view.flags.writeable = False
    return view


def of_torch(array):
    """Memory that another library has, too."""
    return read_only(pytest.importorskip("torch").from_numpy(array).numpy())


KINDS = {
    "a writeable array": lambda array: array,
    "a read-only view": read_only,
    "a broadcast view": lambda array: np.broadcast_to(array[None], (1, *array.shape))[0],
    "an object that lends its array": Lender,
    "a subclass": lambda array: array.view(Mine),
    "a buffer": memoryview,
    "a list of rows": list,
    "an array of PyTorch": of_torch,
}


def asked(array):
    """What `np.asarray` makes of it, which shares its memory."""
    return array.array if isinstance(array, Lender) else np.asarray(array)


def layer_of(t):
    layer = Linear(3, 3, rng=0)
    layer.weight = t
    return layer


def network_of(t):
    network = MLP([3, 3, 2], "tanh", rng=0)
    network.layers[0].weight = t
    return network


OPERATIONS = {
    "+": lambda t, a: t + a,
    "-": lambda t, a: t - a,
    "*": lambda t, a: t * a,
    "/": lambda t, a: t / a,
    "**": lambda t, a: t**a,
    "@": lambda t, a: t @ a,
    "reversed *": lambda t, a: t.__rmul__(a),
    "reversed /": lambda t, a: t.__rtruediv__(a),
    "reversed **": lambda t, a: t.__rpow__(a),
    "reversed @": lambda t, a: t.__rmatmul__(a),
    "maximum": maximum,
    "minimum": minimum,
    "where": lambda t, a: where(asked(a) > 0.6, t * t, a),
    "concatenate": lambda t, a: concatenate([t * t, a]),
    "stack": lambda t, a: stack([t * t, a]) ** 2,
    "mse_loss": mse_loss,
    "binary_cross_entropy_with_logits": binary_cross_entropy_with_logits,
    "linear": lambda t, a: linear(t.constant(a), t, t[0]),
    "Linear": lambda t, a: layer_of(t)(a),
    "MLP": lambda t, a: network_of(t)(a),
    "a Tensor made of it": lambda t, a: t * Tensor(a, requires_grad=False),
}


def gradient(operation, kind, write):
    array = np.array([[0.5, 0.7, 0.9], [1.1, 0.4, 0.8], [0.6, 1.3, 0.2]])
    t = Tensor([[0.9, 0.3, 0.5], [0.2, 0.7, 0.4], [0.8, 0.1, 0.6]])
    output = operation(t, kind(array))
    if write:
        array.fill(0.25)
    output.backward(np.arange(1.0, 1.0 + output.size).reshape(output.shape))
    return t.grad


@pytest.mark.parametrize("kind", KINDS)
def test_trap_33_a_write_to_a_constant_reaches_no_gradient(kind):
    for name, operation in OPERATIONS.items():
        right = gradient(operation, KINDS[kind], write=False)
        np.testing.assert_array_equal(gradient(operation, KINDS[kind], write=True), right, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_trap_33_a_write_to_an_upstream_gradient_reaches_no_gradient(kind):
    array, t = np.full((3, 3), 2.0), Tensor(np.ones((3, 3)))
    t.reshape(3, 3).backward(KINDS[kind](array))
    array.fill(0.25)
    assert t.grad.tolist() == [[2.0] * 3] * 3


@pytest.mark.parametrize("lend", [lambda array: array, read_only, Lender])
def test_trap_33_a_condition_labels_and_an_index_are_copied(lend):
    mask, labels, index = np.array([True, False]), np.array([0]), np.array([0, 1])
    t, logits, x = Tensor([1.0, 2.0]), Tensor([[0.0, 0.0]]), Tensor([1.0, 2.0, 3.0])
    chosen, loss = where(lend(mask), t, 0.0).sum(), cross_entropy(logits, lend(labels))
    rows = x[asked(lend(index))] + x[(asked(lend(index)),)]
    mask[:], labels[:], index[:] = False, 1, 2
    for result in (chosen, loss, rows.sum()):
        result.backward()
    np.testing.assert_array_equal(t.grad, [1.0, 0.0])
    np.testing.assert_array_equal(logits.grad, [[-0.5, 0.5]])
    np.testing.assert_array_equal(x.grad, [2.0, 2.0, 0.0])


@pytest.mark.parametrize("join", [stack, concatenate])
def test_the_axis_of_a_join_is_a_number_of_its_own(join):
    a, b, axis = Tensor(np.zeros((2, 2))), Tensor(np.zeros((2, 2))), np.array(0)
    joined = join([a, b], axis)
    axis[...] = 1
    joined.backward(np.arange(8.0).reshape(joined.shape))
    np.testing.assert_array_equal(a.grad, [[0.0, 1.0], [2.0, 3.0]])


def test_trap_33_a_list_used_as_index_or_order_of_axes_may_change_afterwards():
    rows, order = [0, 0], [1, 2, 0]
    x, cube, weights = Tensor([1.0, 2.0, 3.0]), Tensor(np.ones((2, 2, 2))), np.arange(8.0).reshape(2, 2, 2)
    y, z = x[rows].sum(), (cube.transpose(order) * weights).sum()
    rows[0] = 2
    order.sort()
    y.backward()
    z.backward()
    np.testing.assert_array_equal(x.grad, [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(cube.grad, weights.transpose(2, 0, 1))
