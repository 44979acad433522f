"""Types, and how tensors get on with NumPy and Python."""

import operator

import numpy as np
import pytest

from model import (
    Tensor,
    binary_cross_entropy_with_logits,
    concatenate,
    cross_entropy,
    maximum,
    minimum,
    mse_loss,
    stack,
    where,
)
from nn import MLP


def test_trap_28_float32_stays_float32():
    """Beside numbers and wider arrays; test_ops.py has each operation alone."""
    t, wide = Tensor(np.ones((2, 2), np.float32)), np.ones((2, 2))
    results = [t * 2.0, 2.0 * t, t + 1, 1 - t, t / 3, 3 / t, t**0.5, 2**t, t * np.float64(2), np.pi * t, t * wide]
    results += [wide @ t, t.mean() * 2.0, t.sum() / 3, maximum(t, 0.5), minimum(0.5, t), where(wide > 0, t, 0.0)]
    results += [concatenate([t, wide]), stack([t, wide]), mse_loss(t, wide), cross_entropy(t, [0, 1])]
    for result in [*results, binary_cross_entropy_with_logits(t, wide)]:
        assert result.dtype == np.float32, result
        assert np.asarray(result.data).dtype == np.float32


def test_trap_29_the_gradient_has_the_dtype_of_the_data():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        net = MLP([4, 8, 3], activation="tanh", rng=0, dtype=dtype)
        x = Tensor(rng.normal(size=(5, 4)).astype(dtype))
        loss = cross_entropy(net(x), [0, 1, 2, 0, 1]) + x.var() + x.std() + x.mean() + net(x).max() + net(x).logsumexp()
        assert loss.dtype == dtype
        loss.backward()
        for tensor in (x, *net.parameters()):
            assert tensor.grad.dtype == dtype
    narrow, wide = Tensor(np.ones(2, np.float32)), Tensor(np.ones(2))
    (narrow * wide).sum().backward()
    assert narrow.grad.dtype == np.float32
    assert wide.grad.dtype == np.float64


def test_trap_29_a_starting_gradient_of_another_dtype_is_converted():
    t = Tensor(np.ones(2, np.float32))
    y = t * 2.0
    y.backward(np.ones(2))
    assert y.grad.dtype == t.grad.dtype == np.float32


@pytest.mark.parametrize("value", [3, True, np.int8(3), [1, 2], np.arange(3), np.array([True, False]), np.float16(2)])
def test_trap_30_integers_and_booleans_become_float64(value):
    t = Tensor(value)
    assert t.dtype == np.float64
    np.testing.assert_array_equal(t.numpy(), np.asarray(value, float))


@pytest.mark.parametrize("value", ["text", None, 1j, [1, "a"], object(), {"a": 1}, [[1, 2], [3]], np.array(["a"])])
def test_trap_30_what_is_no_array_of_real_numbers_is_refused(value):
    with pytest.raises((TypeError, ValueError), match=r"real numbers|different lengths"):
        Tensor(value)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda t: np.float64(2) * t, [2.0, 2.0]),
        (lambda t: np.array([1.0, 2.0]) * t, [1.0, 2.0]),
        (lambda t: np.array([[1.0, 2.0], [3.0, 4.0]]) @ t, [4.0, 6.0]),
        (lambda t: np.array([1.0, 2.0]) - t, [-1.0, -1.0]),
        (lambda t: np.float32(3) + t, [1.0, 1.0]),
        (lambda t: np.array([1.0, 8.0]) / t, [-1.0, -2.0]),
        (lambda t: np.float64(2) ** t, [2 * np.log(2), 4 * np.log(2)]),
        (lambda t: np.array(3.0) * t, [3.0, 3.0]),
        (lambda t: np.ones((2, 1)) * t, [2.0, 2.0]),
    ],
)
def test_trap_31_numpy_on_the_left_keeps_the_graph(f, expected):
    t = Tensor([1.0, 2.0])
    y = f(t)
    assert type(y) is Tensor
    y.backward(np.ones(y.shape))
    np.testing.assert_allclose(t.grad, expected, rtol=1e-14)


def test_trap_32_python_protocols():
    t = Tensor(3.0)
    total = sum([t, t, t])
    total.backward()
    assert t.grad == 3.0
    assert bool(Tensor(0.0)) is False
    assert bool(Tensor([[2.0]])) is True
    for ambiguous in ([1.0, 2.0], []):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(Tensor(ambiguous))
    assert float(Tensor([2.5])) == 2.5
    assert len(Tensor(np.ones((4, 2)))) == 4
    with pytest.raises(TypeError):
        len(t)
    with pytest.raises(TypeError):
        iter(t)
    assert +t is t


def test_trap_32_tensors_hash_by_identity():
    a, b = Tensor(1.0), Tensor(1.0)
    assert len({a, b, a}) == 2
    assert {a: "a"}[a] == "a"


def test_trap_32_iteration_stops_and_keeps_the_graph():
    t = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = list(t)
    assert len(rows) == 3
    first, _, third = t
    (first * 1.0 + third * 3.0).sum().backward()
    np.testing.assert_array_equal(t.grad, [[1.0, 1.0], [0.0, 0.0], [3.0, 3.0]])


def test_trap_32_comparisons_are_arrays_of_booleans():
    t, array = Tensor([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        for other in (array, Tensor(array), array.tolist(), 2.0, np.float64(2.0)):
            plain = array if isinstance(other, Tensor) else other
            np.testing.assert_array_equal(compare(t, other), compare(t.numpy(), plain))
            np.testing.assert_array_equal(compare(other, t), compare(plain, t.numpy()))
    assert (t < 2).dtype == bool
    np.testing.assert_array_equal(t[t > 1].numpy(), [2.0, 3.0])


def test_trap_33_a_tensor_copies_what_it_is_made_from():
    array = np.array([1.0, 2.0])
    t = Tensor(array)
    y = (t * t).sum()
    array[0] = 100.0
    np.testing.assert_array_equal(t.numpy(), [1.0, 2.0])
    y.backward()
    np.testing.assert_array_equal(t.grad, [2.0, 4.0])
    other = Tensor(t)
    other.data[0] = 50.0
    np.testing.assert_array_equal(t.numpy(), [1.0, 2.0])
