"""An array that meets a tensor is its owner's: whatever he does to it afterwards, no gradient changes.

Every operation that takes a constant, times every way to write to an array that has been declared read-only, or that
is not this process's to protect.
"""

import ctypes
import mmap

import numpy as np
import pytest

from model import (
    MLP,
    Linear,
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


def frozen(array):
    array.flags.writeable = False
    return array


class Buffer:
    """A class that hands out its own array and does not copy, whatever NumPy asks for."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def through_torch(values):
    torch = pytest.importorskip("torch")
    array = values.copy()
    tensor = torch.from_numpy(array)
    return frozen(array), lambda: tensor.fill_(0.25)


def of_torch(values):
    tensor = pytest.importorskip("torch").tensor(values)
    return tensor.numpy(), lambda: tensor.fill_(0.25)


def through_ctypes(values):
    array = values.copy()
    address, size = array.ctypes.data, array.nbytes
    return frozen(array), lambda: ctypes.memmove(address, np.full(values.shape, 0.25).tobytes(), size)


def through_mmap(values):
    memory = mmap.mmap(-1, values.nbytes)
    memory[:] = values.tobytes()
    array = np.frombuffer(memory, values.dtype).reshape(values.shape)
    return frozen(array), lambda: memory.seek(0) or memory.write(np.full(values.shape, 0.25).tobytes())


def through_bytearray(values):
    memory = bytearray(values.tobytes())
    array = frozen(np.frombuffer(memory, values.dtype).reshape(values.shape))
    return array, lambda: memory.__setitem__(slice(None), np.full(values.shape, 0.25).tobytes())


def through_a_view(take):
    def route(values):
        array = values.copy()
        view = take(array)
        return frozen(array), lambda: view.__setitem__(..., 0.25)

    return route


def setflags(values):
    array = frozen(values.copy())
    return array, lambda: (array.setflags(write=True), array.fill(0.25))


def flags(values):
    array = frozen(values.copy())

    def write():
        array.flags.writeable = True
        array[...] = 0.25

    return array, write


def read_only_view(values):
    base = values.copy()
    return frozen(base[...]), lambda: base.fill(0.25)


def broadcast(values):
    base = np.stack([values])
    return np.broadcast_to(base, (1, *values.shape))[0], lambda: base.fill(0.25)


def plain(values):
    array = values.copy()
    return array, lambda: array.fill(0.25)


def handing_out(values):
    array = values.copy()
    return Buffer(array), lambda: array.fill(0.25)


def subclass(values):
    array = values.copy()
    return array.view(type("Mine", (np.ndarray,), {})), lambda: array.fill(0.25)


def memory_view(values):
    array = values.copy()
    return memoryview(array), lambda: array.fill(0.25)


def rows(values):
    array = values.copy()
    return list(array), lambda: array.fill(0.25)


def fortran(values):
    array = np.asfortranarray(values)
    base = array.T
    return frozen(array), lambda: base.fill(0.25)


ROUTES = {
    "a writeable array": plain,
    "a view taken before it was frozen": through_a_view(lambda a: a[:]),
    "a flat view": through_a_view(lambda a: a.reshape(-1)),
    "a transpose": through_a_view(lambda a: a.T),
    "a diagonal of strides": through_a_view(lambda a: np.lib.stride_tricks.as_strided(a, writeable=True)),
    "a memoryview": through_a_view(lambda a: np.asarray(memoryview(a))),
    "dlpack": through_a_view(np.from_dlpack),
    "an array interface": through_a_view(lambda a: np.ndarray(a.shape, a.dtype, buffer=a)),
    "setflags": setflags,
    "flags.writeable": flags,
    "a read-only view of a writeable base": read_only_view,
    "a broadcast view": broadcast,
    "torch.from_numpy": through_torch,
    "the array of a torch tensor": of_torch,
    "ctypes": through_ctypes,
    "shared memory": through_mmap,
    "a bytearray": through_bytearray,
    "an object that hands out its array": handing_out,
    "a subclass": subclass,
    "a buffer": memory_view,
    "a list of rows": rows,
    "Fortran order": fortran,
}


def indexed(t, a):
    return t[(np.asarray(a) > 0.5).astype(int)]


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
    "where": lambda t, a: where(np.asarray(a) > 0.6, t * t, a),
    "concatenate": lambda t, a: concatenate([t * t, a]),
    "stack": lambda t, a: stack([t * t, a]) ** 2,
    "mse_loss": mse_loss,
    "binary_cross_entropy_with_logits": binary_cross_entropy_with_logits,
    "linear": lambda t, a: linear(t._constant(a), t, t[0]),
    "Linear": lambda t, a: layer_of(t)(a),
    "MLP": lambda t, a: network_of(t)(a),
    "a Tensor made of it": lambda t, a: t * Tensor(a, requires_grad=False),
    "labels": lambda t, a: cross_entropy(t, (np.asarray(a)[:, 0] > 0.6).astype(int)),
    "an index": indexed,
}


def layer_of(t):
    layer = Linear(3, 3, rng=0)
    layer.weight = t
    return layer


def network_of(t):
    network = MLP([3, 3, 2], "tanh", rng=0)
    network.layers[0].weight = t
    return network


def gradient(operation, route, write):
    values = np.array([[0.5, 0.7, 0.9], [1.1, 0.4, 0.8], [0.6, 1.3, 0.2]])
    t = Tensor([[0.9, 0.3, 0.5], [0.2, 0.7, 0.4], [0.8, 0.1, 0.6]])
    array, change = route(values)
    if isinstance(array, Buffer) and operation in (OPERATIONS["labels"], OPERATIONS["an index"]):
        array = array.array  # these are asked for by np.asarray, here in the test
    output = operation(t, array)
    if write:
        change()
    output.backward(np.arange(1.0, 1.0 + output.size).reshape(output.shape))
    return t.grad


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_write_to_a_constant_reaches_no_gradient(operation, route):
    right = gradient(OPERATIONS[operation], ROUTES[route], write=False)
    np.testing.assert_array_equal(gradient(OPERATIONS[operation], ROUTES[route], write=True), right)


@pytest.mark.parametrize("route", ROUTES)
def test_the_routes_write(route):
    """Else the test above would prove nothing."""
    array, change = ROUTES[route](np.ones((3, 3)))
    held = array.array if isinstance(array, Buffer) else array
    change()
    if route == "a list of rows":
        assert held[0][0] == 0.25
    else:
        assert np.asarray(held)[0, 0] == 0.25


@pytest.mark.parametrize("route", ROUTES)
def test_a_write_to_an_upstream_gradient_reaches_no_gradient(route):
    upstream, change = ROUTES[route](np.full((3, 3), 2.0))
    t = Tensor(np.ones((3, 3)))
    output = t.reshape(3, 3)
    output.backward(upstream, retain_graph=True)
    change()
    assert t.grad.tolist() == [[2.0] * 3] * 3


class Lender:
    """Gives its own array away, as an object with `__array__` may."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_a_condition_and_labels_are_copied_from_what_lends_its_memory():
    mask, labels = np.array([True, False]), np.array([0])
    t, logits = Tensor([1.0, 2.0]), Tensor([[0.0, 0.0]])
    chosen, loss = where(Lender(mask), t, 0.0).sum(), cross_entropy(logits, Lender(labels))
    mask[:], labels[:] = False, 1
    chosen.backward()
    loss.backward()
    np.testing.assert_array_equal(t.grad, [1.0, 0.0])
    np.testing.assert_array_equal(logits.grad, [[-0.5, 0.5]])


@pytest.mark.parametrize("join", [stack, concatenate])
def test_the_axis_of_a_join_is_a_number_of_its_own(join):
    a, b, axis = Tensor(np.zeros((2, 2))), Tensor(np.zeros((2, 2))), np.array(0)
    joined = join([a, b], axis)
    axis[...] = 1
    joined.backward(np.arange(8.0).reshape(joined.shape))
    np.testing.assert_array_equal(a.grad, [[0.0, 1.0], [2.0, 3.0]])
