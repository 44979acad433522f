"""Numbers at the edge: overflow, poles, kinks, ties, nan, labels."""

from fractions import Fraction

import numpy as np
import pytest

import model
from model import Tensor, binary_cross_entropy_with_logits, cross_entropy, maximum, minimum, where
from tests.unit.engine.gradients import grad_of

EXTREME = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [1e4, 1e4, 1e4]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_trap_40_softmax_and_cross_entropy_with_huge_logits(dtype):
    logits = Tensor(EXTREME.astype(dtype))
    np.testing.assert_allclose(logits.softmax().numpy(), [[1, 0, 0], [1 / 3] * 3, [1 / 3] * 3], rtol=1e-6)
    np.testing.assert_allclose(logits.log_softmax().numpy()[1:], -np.log(3), rtol=1e-6)
    loss = cross_entropy(logits, [1, 0, 2])
    assert loss.item() == pytest.approx((2e4 + 2 * np.log(3)) / 3)
    loss.backward()
    third = 1 / 3
    expected = np.array([[1, -1, 0], [third - 1, third, third], [third, third, third - 1]]) / 3
    np.testing.assert_allclose(logits.grad, expected, rtol=1e-6, atol=1e-9)


def test_trap_40_the_maximum_is_taken_per_row():
    """With one maximum for all rows, exp underflows in the small row and its softmax is 0 / 0."""
    logits = np.array([[1000.0, 1001.0], [-1000.0, -1001.0]])
    np.testing.assert_allclose(Tensor(logits).softmax(axis=1).numpy().sum(axis=1), 1)
    np.testing.assert_allclose(Tensor(logits).softmax(axis=0).numpy().sum(axis=0), 1)
    np.testing.assert_allclose(Tensor(logits).logsumexp(axis=1).numpy(), np.array([1001, -1000]) + np.log1p(np.exp(-1)))
    assert np.isfinite(cross_entropy(Tensor(logits), [0, 1]).item())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("x", [-1e4, -1000.0, -100.0, 100.0, 1000.0, 1e4])
def test_trap_41_no_overflow_far_from_zero(x, dtype):
    t = Tensor(dtype(x))
    for f, value, slope in (
        (t.sigmoid, float(x > 0), 0.0),
        (t.softplus, max(x, 0.0), float(x > 0)),
        (t.tanh, np.sign(x), 0.0),
        (t.logsumexp, x, 1.0),
    ):
        y = f()  # a RuntimeWarning would be an error here
        t.zero_grad()
        y.backward()
        assert y.item() == pytest.approx(value, abs=1e-30)
        assert t.grad == pytest.approx(slope, abs=1e-30)
    bce = binary_cross_entropy_with_logits(Tensor([x]), np.array([1.0]))
    assert bce.item() == pytest.approx(max(-x, 0.0), abs=1e-40)


def test_trap_41_the_slope_of_tanh_and_sigmoid_near_saturation():
    assert grad_of(lambda t: t.tanh(), 5.0) == pytest.approx(1 / np.cosh(5.0) ** 2, rel=1e-10)
    assert grad_of(lambda t: t.sigmoid(), -30.0) == pytest.approx(np.exp(-30.0), rel=1e-12)
    assert grad_of(lambda t: t.softplus(), -30.0) == pytest.approx(np.exp(-30.0), rel=1e-12)


@pytest.mark.parametrize(
    ("f", "x", "value", "gradient"),
    [
        (lambda t: t.log(), 0.0, -np.inf, np.inf),
        (lambda t: t.sqrt(), 0.0, 0.0, np.inf),
        (lambda t: t**0.5, 0.0, 0.0, np.inf),
        (lambda t: 1 / t, 0.0, np.inf, -np.inf),
        (lambda t: t / 0.0, 1.0, np.inf, np.inf),
        (lambda t: t.log(), -1.0, np.nan, -1.0),
        (lambda t: t.exp(), 1000.0, np.inf, np.inf),
        (lambda t: t**-1, 0.0, np.inf, -np.inf),
    ],
)
def test_trap_42_poles_give_what_numpy_gives_without_a_warning(f, x, value, gradient):
    t = Tensor(x)
    y = f(t)
    y.backward()
    np.testing.assert_equal(y.item(), value)
    np.testing.assert_equal(float(t.grad), gradient)


@pytest.mark.parametrize(
    ("f", "value"),
    [
        (lambda t: t * 10.0, np.inf),
        (lambda t: t + t, np.inf),
        (lambda t: -t - t, -np.inf),
        (lambda t: (t * np.ones(2)).sum(), np.inf),
        (lambda t: t.reshape(1) @ np.array([10.0]), np.inf),
        (lambda t: t**2, np.inf),
        (lambda t: t.exp() * 0.0, np.nan),
    ],
)
def test_trap_42_overflow_is_a_value_and_backward_goes_through_it(f, value):
    t = Tensor(1e308)  # as a learner's slider may reach
    with np.errstate(all="ignore"):
        y = f(t)
    np.testing.assert_equal(y.item(), value)
    y.backward()
    assert t.grad is not None


def test_trap_43_powers_at_zero():
    assert grad_of(lambda t: t**0, 0.0) == 0.0
    assert grad_of(lambda t: t**1, 0.0) == 1.0
    assert grad_of(lambda t: t**2, 0.0) == 0.0
    base, exponent = grad_of(lambda x, y: x**y, 0.0, 2.0)
    assert (base, exponent) == (0.0, 0.0)
    base, exponent = grad_of(lambda x, y: x**y, 0.0, 0.0)
    assert (base, exponent) == (0.0, 0.0)
    assert grad_of(lambda y: 0.0**y, 2.0) == 0.0
    base, exponent = grad_of(lambda x, y: x**y, -2.0, 3.0)
    assert base == 12.0
    assert np.isnan(exponent)
    assert grad_of(lambda t: t**3, -2.0) == 12.0
    assert grad_of(lambda t: t**-2, -2.0) == pytest.approx(0.25)


def test_trap_44_prod_norm_and_std_where_a_division_would_fail():
    np.testing.assert_array_equal(grad_of(lambda t: t.prod(), [0.0, 2.0, 3.0]), [6.0, 0.0, 0.0])
    np.testing.assert_array_equal(grad_of(lambda t: t.prod(), [0.0, 0.0, 3.0]), [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(grad_of(lambda t: t.prod(axis=1), [[0.0, 2.0], [3.0, 4.0]]), [[2.0, 0.0], [4.0, 3.0]])
    np.testing.assert_array_equal(grad_of(lambda t: t.norm(), np.zeros(3)), np.zeros(3))
    np.testing.assert_array_equal(grad_of(lambda t: t.std(), np.full(4, 3.0)), np.zeros(4))
    np.testing.assert_array_equal(grad_of(lambda t: t.std(axis=0), np.full((1, 3), 3.0)), np.zeros((1, 3)))
    np.testing.assert_array_equal(grad_of(lambda t: t.var(), np.full(4, 3.0)), np.zeros(4))


def test_trap_45_ties_and_kinks_follow_the_conventions():
    np.testing.assert_array_equal(grad_of(lambda t: t.max(), [1.0, 2.0, 2.0, 2.0]), np.array([0, 1, 1, 1]) / 3)
    np.testing.assert_array_equal(grad_of(lambda t: t.min(axis=0), [[1.0, 2.0], [1.0, 3.0]]), [[0.5, 1.0], [0.5, 0.0]])
    for f in (maximum, minimum):
        a, b = grad_of(lambda a, b, f=f: f(a, b), 2.0, 2.0)
        assert (a, b) == (0.5, 0.5)
    assert grad_of(lambda t: t.relu(), 0.0) == 0.0
    assert grad_of(lambda t: t.abs(), 0.0) == 0.0
    assert grad_of(lambda t: abs(t), -3.0) == -1.0
    assert grad_of(lambda t: t.leaky_relu(0.2), 0.0) == pytest.approx(0.2)
    np.testing.assert_array_equal(grad_of(lambda t: t.clip(-1, 1), [-2.0, -1.0, 0.0, 1.0, 2.0]), [0, 1, 1, 1, 0])
    with pytest.raises(ValueError, match="low is 2 and high is 1"):
        Tensor(1.0).clip(2, 1)


def test_trap_46_where_with_a_bad_branch_is_documented_and_the_remedy_works():
    def naive(t):
        return where(t.numpy() > 0, t.sqrt(), 0.0)

    def safe(t):
        positive = t.numpy() > 0
        return where(positive, where(positive, t, 1.0).sqrt(), 0.0)

    x = np.array([0.0, 4.0])
    np.testing.assert_array_equal(grad_of(naive, x), [np.nan, 0.25])
    np.testing.assert_array_equal(grad_of(safe, x), [0.0, 0.25])
    assert "0 * inf is nan" in model.__doc__


def test_trap_47_nan_reaches_the_output():
    t = Tensor([1.0, np.nan, -1.0])
    for f in ("relu", "leaky_relu", "abs", "tanh", "sigmoid", "exp", "clip", "softplus"):
        assert np.isnan(getattr(t, f)().numpy()[1]), f
    for f in ("max", "min", "sum", "mean", "prod", "norm", "std", "logsumexp"):
        assert np.isnan(getattr(t, f)().item()), f
    assert np.isnan(maximum(t, 0.0).numpy()[1])
    assert np.isnan(minimum(0.0, t).numpy()[1])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 3], "0 to 2"), ([0, -1], "0 to 2"), ([0.0, 1.0], "integer"), ([0.5, 1.0], "integer"),
        ([True, False], "integer"), ([0], r"\(2, 3\).*\(1,\)"), ([0, 1, 2], r"\(2, 3\).*\(3,\)"), (0, r"\(2, 3\)"),
        ([[0, 1]], r"\(2, 3\)"), (["a", "b"], "integer"), (Tensor([0.0, 1.0]), "integer"),
    ],
)  # read by rows  # fmt: skip
def test_trap_48_cross_entropy_refuses_labels_that_are_no_classes(labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cross_entropy(Tensor(np.zeros((2, 3)), label="logits"), labels)


@pytest.mark.parametrize("dtype", [int, np.int8, np.uint8, np.int64])
def test_trap_48_cross_entropy_takes_every_kind_of_integer(dtype):
    assert cross_entropy(Tensor(np.zeros((2, 3))), np.array([0, 2], dtype)).item() == pytest.approx(np.log(3))


@pytest.mark.parametrize(
    ("factors", "dtype"),
    [
        ([1e-300, 2.0, 1e200, 1e200], float),  # the product of the last two overflows on the way
        ([1e300, 2.0, 1e-200, -1e-200], float),  # and here it vanishes
        ([1e-3] * 10 + [1e4] * 10, np.float32),
        ([1e300, 1e10, 3.0], float),  # the result is inf, the products of the others are not
        ([1e-200, 1e-200, 3.0], float),  # the result is 0, without any factor of 0
        ([0.0, 2.0, 5.0], float),
    ],
)
def test_the_gradient_of_prod_is_finite_where_the_true_one_is(factors, dtype):
    t = Tensor(np.array(factors, dtype))
    with np.errstate(over="ignore"):
        t.prod().backward()
    others = [Fraction(1)] * len(factors)
    for i in range(len(factors)):
        for j, factor in enumerate(np.array(factors, dtype).tolist()):
            others[i] *= Fraction(factor) if i != j else 1
    due = [float(other) if other < Fraction(np.finfo(dtype).max.item()) else np.inf for other in others]
    np.testing.assert_allclose(t.grad, np.array(due, dtype), rtol=1e-13 if dtype is float else 1e-5)
