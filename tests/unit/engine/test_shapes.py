"""Shapes: broadcasting, reductions, products by rank, moving and joining."""

import numpy as np
import pytest

from lab.gradcheck import gradcheck
from model import Tensor, binary_cross_entropy_with_logits, concatenate, mse_loss, stack
from tests.unit.engine.gradients import grad_of


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3, 1), (1, 4)), ((3,), (2, 3)), ((), (2, 3)), ((1,), (1, 1)), ((2, 1, 3), (4, 1)), ((0,), (1,)),
        ((0, 3), (1, 3)),
    ],
)  # read by rows  # fmt: skip
def test_trap_17_the_gradient_has_the_shape_of_the_data(first, second):
    a, b = Tensor(np.full(first, 2.0)), Tensor(np.full(second, 3.0))
    y = a * b
    y.backward(np.ones(y.shape))
    assert a.grad.shape == first
    assert b.grad.shape == second
    np.testing.assert_array_equal(a.grad, np.full(first, 3.0 * y.size / max(a.size, 1)))


def test_trap_17_a_message_of_a_wrong_shape_is_refused_where_it_arrives():
    x = Tensor(np.ones((2, 3)), label="W")
    for shape in [(3, 2), (3,), (), (2, 3, 1), (2, 4)]:
        with pytest.raises(ValueError, match=r"gradient of shape .* 'W' of shape \(2, 3\)"):
            x.accumulate(np.ones(shape))


def test_trap_18_an_axis_of_length_one_that_was_not_broadcast_is_not_summed():
    assert gradcheck(lambda a, b: a * b, [np.ones((1, 3)), np.full((1, 3), 2.0)])
    assert gradcheck(lambda a, b: a * b, [np.ones((1, 1)), np.full((1, 3), 2.0)])
    assert gradcheck(lambda a, b: a * b, [np.ones((2, 1, 1)), np.full((1, 3), 2.0)])
    np.testing.assert_array_equal(grad_of(lambda a: a * np.ones((1, 1)), np.ones((1, 1))), [[1.0]])


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min", "var", "prod", "norm", "logsumexp"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_trap_19_reductions_take_every_kind_of_axis(op, keepdims):
    x = np.array([[1.0, 5.0, 2.0], [7.0, 3.0, 4.0]])
    for axis in (None, 0, 1, -1, -2, (0, 1), (1,), (-1, 0), ()):
        report = gradcheck(lambda t, axis=axis: getattr(t, op)(axis=axis, keepdims=keepdims), {"t": x})
        assert report, (axis, report)
        expected = x.sum(axis=axis, keepdims=keepdims).shape
        assert getattr(Tensor(x), op)(axis, keepdims).shape == expected


def test_trap_20_zero_dimensional_gradients_accumulate():
    x = Tensor(2.0)
    y = x * 1.0 + x * 2.0 + x * 3.0
    y.backward()
    assert x.grad == 6.0
    assert np.shape(x.grad) == ()
    kept = x.grad
    (x * 4.0).backward()
    assert x.grad == 10.0
    assert kept == 6.0 or kept is x.grad  # never half way


def test_trap_21_empty_arrays():
    empty = Tensor(np.empty((0, 3)))
    total = empty.sum()
    assert total.item() == 0.0
    total.backward()
    assert empty.grad.shape == (0, 3)
    for op in ("max", "min"):
        with pytest.raises(ValueError, match="zero-size"):
            getattr(empty, op)()
        with pytest.raises(ValueError, match="zero-size"):
            getattr(empty, op)(axis=0)
    assert empty.max(axis=1).shape == (0,)
    y = empty @ Tensor(np.ones((3, 2)))
    assert y.shape == (0, 2)
    w = Tensor(np.ones((3, 2)))
    y = Tensor(np.empty((0, 3))) @ w
    y.backward(np.empty((0, 2)))
    np.testing.assert_array_equal(w.grad, np.zeros((3, 2)))


@pytest.mark.parametrize("op", ["softmax", "log_softmax", "logsumexp"])
def test_trap_21_a_maximum_over_nothing_is_refused(op):
    with pytest.raises(ValueError, match="zero-size"):
        getattr(Tensor(np.zeros((2, 0)), label="x"), op)(axis=1)


def test_trap_21_the_mean_of_nothing_is_nan_without_a_warning():
    with np.errstate(all="ignore"):
        assert np.isnan(Tensor(np.empty(0)).mean().item())


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ((3,), (3,), ()),
        ((3,), (3, 2), (2,)),
        ((2, 3), (3,), (2,)),
        ((4, 2, 3), (3, 5), (4, 2, 5)),
        ((4, 2, 3), (3,), (4, 2)),
        ((3,), (4, 3, 2), (4, 2)),
        ((1, 2, 3), (4, 3, 5), (4, 2, 5)),
        ((5, 1, 2, 3), (4, 3, 2), (5, 4, 2, 2)),
    ],
)
def test_trap_22_matmul_by_rank(first, second, result):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=first), rng.normal(size=second)
    assert (Tensor(a) @ Tensor(b)).shape == result
    report = gradcheck(lambda a, b: a @ b, [a, b])
    assert report, report


def test_trap_22_matmul_of_what_does_not_fit_is_a_clear_error():
    with pytest.raises(ValueError, match=r"'W' of shape \(2, 3\).*'x' of shape \(2,\)"):
        Tensor(np.ones((2, 3)), label="W") @ Tensor(np.ones(2), label="x")
    for pair in [(2.0, np.ones(3)), (np.ones(3), 2.0), (2.0, 3.0)]:
        with pytest.raises(ValueError, match="inner axes"):
            Tensor(pair[0]) @ Tensor(pair[1])
    with pytest.raises(ValueError, match="inner axes"):
        2.0 @ Tensor(np.ones(3))


@pytest.mark.parametrize("axes", [(1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (-1, 0, 1)])
def test_trap_23_transpose_uses_the_inverse_permutation(axes):
    x = np.arange(24.0).reshape(2, 3, 4)
    upstream = np.arange(24.0).reshape(x.transpose(axes).shape)
    gradient = grad_of(lambda t: t.transpose(*axes), x, upstream=upstream)
    expected = np.empty_like(x)
    expected.transpose(axes)[...] = upstream
    np.testing.assert_array_equal(gradient, expected)


def test_trap_24_reshape():
    x = np.arange(6.0).reshape(2, 3)
    for source in (x, x.T, x[::-1, ::2], np.asfortranarray(x)):
        assert gradcheck(lambda t: (t.reshape(-1) * np.arange(1.0, t.size + 1)).sum(), [source])
        np.testing.assert_array_equal(Tensor(source).reshape(-1).numpy(), source.reshape(-1))
    assert Tensor([[5.0]]).reshape(()).shape == ()
    assert Tensor(5.0).reshape(1, 1).shape == (1, 1)
    np.testing.assert_array_equal(grad_of(lambda t: t.reshape(()), [[5.0]]), [[1.0]])
    with pytest.raises(ValueError, match=r"size 6 into shape \(4,2\)"):
        Tensor(x, label="W").reshape(4, 2)


def test_trap_25_duplicate_indices_add():
    np.testing.assert_array_equal(grad_of(lambda t: t[[0, 0, 2, 0]], np.zeros(3)), [3.0, 0.0, 1.0])
    np.testing.assert_array_equal(
        grad_of(lambda t: t[[0, 0, 1], [1, 1, 0]], np.zeros((2, 2))), [[0.0, 2.0], [1.0, 0.0]]
    )
    embedding = grad_of(lambda t: t[np.array([[0, 2], [2, 2]])], np.zeros((3, 2)))
    np.testing.assert_array_equal(embedding, [[1.0, 1.0], [0.0, 0.0], [3.0, 3.0]])


@pytest.mark.parametrize(
    "index",
    [
        np.s_[1],
        np.s_[-1, ::2],
        np.s_[..., 1],
        np.s_[None, :, None],
        np.s_[::-1],
        np.s_[1::-1, 2:0:-1],
        np.array([True, False]),
        np.array([[True, False, True], [False, True, False]]),
        np.s_[[True, False], 1:],
        np.s_[[0, 1], :, None],
        np.s_[0:0],
        (),
        np.int64(1),
    ],
    ids=str,
)
def test_trap_25_every_kind_of_index(index):
    x = np.arange(6.0).reshape(2, 3) + 0.5
    np.testing.assert_array_equal(Tensor(x)[index].numpy(), x[index])
    report = gradcheck(lambda t: t[index] * t[index], [x])
    assert report, report


def test_trap_26_concatenate_of_unequal_sizes():
    upstream = np.arange(12.0).reshape(2, 6)
    a, b, c = grad_of(
        lambda a, b, c: concatenate([a, b, c], axis=1),
        np.ones((2, 1)),
        np.ones((2, 3)),
        np.ones((2, 2)),
        upstream=upstream,
    )
    np.testing.assert_array_equal(a, upstream[:, :1])
    np.testing.assert_array_equal(b, upstream[:, 1:4])
    np.testing.assert_array_equal(c, upstream[:, 4:])
    same = Tensor([1.0, 2.0])
    concatenate([same, np.zeros(1), same]).backward(np.arange(5.0))
    np.testing.assert_array_equal(same.grad, [0 + 3, 1 + 4])
    with pytest.raises(ValueError, match="at index 0 has size 2 and the array at index 1 has size 3"):
        concatenate([Tensor(np.ones((2, 1))), Tensor(np.ones((3, 1)))], axis=1)


def test_trap_26_stack_joins_along_a_new_axis():
    a, b = grad_of(lambda a, b: stack([a, b], axis=1), np.ones(3), np.ones(3), upstream=np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(a, [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(b, [1.0, 3.0, 5.0])
    assert stack([Tensor(1.0), 2.0, Tensor(3.0)]).shape == (3,)
    with pytest.raises(ValueError, match="same shape"):
        stack([Tensor([1.0, 2.0]), Tensor([1.0])])


@pytest.mark.parametrize("loss", [mse_loss, binary_cross_entropy_with_logits])
def test_trap_27_losses_do_not_broadcast(loss):
    prediction = Tensor(np.zeros((3, 1)), label="prediction")
    for target in (np.zeros(3), np.zeros((1, 3)), Tensor(np.zeros(3)), 0.0):
        with pytest.raises(ValueError, match=r"'prediction' of shape \(3, 1\)"):
            loss(prediction, target)
    assert loss(prediction, np.zeros((3, 1))).shape == ()
