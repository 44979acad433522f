"""The gradient check itself: what it accepts, refuses and says. A check that cannot fail checks nothing."""

import numpy as np
import pytest

import model
from lab.gradcheck import gradcheck, numerical_gradient
from lab.gradcheck.finite_differences import ElementName
from lab.text import numeral
from model import Tensor


def faulty(name, message):
    """An engine whose messages pass through `message(tensor, array)` first."""

    def accumulate(self, array):
        Tensor.accumulate(self, message(self, array))

    return type(name, (Tensor,), {"__slots__": (), "accumulate": accumulate})


# -- agreement


def test_a_right_engine_passes_and_the_report_is_true():
    report = gradcheck(lambda a, b: a * b + a.sin(), {"a": 2.0, "b": -3.0})
    assert report
    assert report.passed is True
    assert list(report.inputs) == ["a", "b"]
    assert report.worst.error < 1e-8
    assert str(report).startswith("The gradients agree on 2 elements; the largest error is ")


def test_a_verdict_writes_numbers_with_a_real_minus_sign_at_which_no_line_breaks():
    agree = gradcheck(lambda x: (x * x).sum(), {"x": [1.0, -2.0, 3.0]})
    disagree = gradcheck(lambda x: -(x.detach() * x).sum(), {"x": [1.0, 2.0, 3.0]})
    assert "e−" in agree.verdict
    assert "gives −3, the differences give −6" in disagree.verdict
    assert "-" not in agree.verdict + disagree.verdict


@pytest.mark.parametrize("inputs", [3.0, np.array([1.0, 2.0]), Tensor([1.0, 2.0]), [2], (np.float64(2),), [[1.0, 2.0]]])
def test_inputs_may_be_numbers_arrays_lists_and_tensors(inputs):
    assert gradcheck(lambda x: x * x, inputs)


def test_a_tensor_without_gradient_is_a_constant():
    report = gradcheck(lambda x, c: x * c, {"x": 2.0, "c": Tensor(3.0, requires_grad=False)})
    assert report
    assert list(report.inputs) == ["x"]
    with pytest.raises(ValueError, match="nothing to check"):
        gradcheck(lambda c: c * 2, [Tensor(3.0, requires_grad=False)])


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_empty_inputs_are_checked_for_their_shape(shape):
    report = gradcheck(lambda x: x.sum(), [np.empty(shape)])
    assert report
    assert report.worst is None
    assert "no elements" in str(report)


# -- disagreement


def test_trap_53_the_worst_element_is_named():
    wrong = faulty("Wrong", lambda tensor, message: message + (np.arange(6.0).reshape(2, 3) == 4) * 0.25)
    report = gradcheck(lambda w: w * 2, {"w": np.ones((2, 3))}, tensor=wrong)
    assert not report
    assert report.worst.element == ElementName("w", (1, 1))
    assert str(report.worst.element) == "w[1, 1]"
    assert report.worst.error == pytest.approx(0.25, abs=1e-8)
    assert report.worst.used - report.worst.numerical == pytest.approx(0.25, abs=1e-8)
    assert sum(slope.error > slope.tolerance for slope in report.inputs["w"].slopes) == 1
    assert str(report).startswith("The gradients disagree, most at w[1, 1]: backward() gives ")
    assert "WRONG" in str(report)


def test_the_worst_of_two_inputs_is_named_even_when_the_other_has_larger_numbers():
    wrong = faulty("Wrong", lambda tensor, message: message * (1.01 if tensor.label == "b" else 1.0))
    report = gradcheck(lambda a, b: a * 1e6 + b, {"a": 1.0, "b": 1.0}, tensor=wrong)
    assert report.worst.element.name == "b"
    assert report.inputs["a"].passed
    assert not report.inputs["b"].passed


@pytest.mark.parametrize(
    "message",
    [
        lambda t, m: -m,
        lambda t, m: m * 1.0001,
        lambda t, m: m + 1e-4,
        lambda t, m: m * 0,
        lambda t, m: m.mean() + 0 * m,
    ],
    ids=["sign", "scale", "shift", "zero", "mixed up"],
)
def test_a_wrong_message_is_caught(message):
    assert not gradcheck(lambda x: x.tanh() * x, [np.array([0.3, -0.8])], tensor=faulty("Wrong", message))


def test_trap_51_the_cotangent_is_random_so_softmax_cannot_hide():
    """The rows of a softmax sum to 1: with ones as upstream gradient every wrong rule that gives 0 passes."""
    x = np.array([0.1, 0.7, -0.4])
    t = Tensor(x)
    t.softmax().sum().backward()
    np.testing.assert_allclose(t.grad, 0, atol=1e-15)
    assert not gradcheck(lambda t: t.softmax(), [x], tensor=faulty("Zero", lambda tensor, message: message * 0))
    assert gradcheck(lambda t: t.softmax(), [x])


def test_an_engine_that_ignores_the_upstream_gradient_is_caught_even_for_a_single_number():
    class Ignoring(Tensor):
        __slots__ = ()

        def tanh(self):
            def _backward(upstream):
                self.accumulate(1 - y * y)

            y = np.tanh(self.numpy())
            return self.node(y, (self,), "tanh", _backward)

    assert not gradcheck(lambda x: x.tanh(), [0.5], tensor=Ignoring)


def test_the_seed_fixes_the_cotangent():
    x = np.array([0.1, 0.7, -0.4])
    first, again, other = (gradcheck(lambda t: t.sin(), [x], seed=seed).inputs[0].analytic for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.all(np.abs(first / np.cos(x)) >= 0.5)  # no output is weighted away


def test_trap_53_no_gradient_fails():
    report = gradcheck(lambda a, b: a * 2, {"a": 1.0, "b": 2.0})
    assert not report
    assert "no gradient reached b" in str(report)
    assert report.inputs["a"].passed
    assert not gradcheck(lambda a: a.detach() * a, [2.0])  # half of the gradient is cut away
    assert not gradcheck(lambda a: a.detach() * 2, [2.0])  # there is no graph at all: backward() refuses
    assert "backward() raised RuntimeError" in str(gradcheck(lambda a: a.detach() * 2, [2.0]))


def test_trap_53_nan_fails():
    wrong = faulty("Wrong", lambda tensor, message: message * np.nan)
    report = gradcheck(lambda x: x * 2, {"x": np.ones(2)}, tensor=wrong)
    assert not report
    assert "The slope at x[0] is 1.54, but backward() gives NaN." in str(report)
    assert np.isnan(report.worst.error)


def test_trap_53_a_wrong_shape_fails():
    class KeepsTheShapeOfTheMessage(Tensor):
        __slots__ = ()

        def accumulate(self, message):
            if self.requires_grad:
                self.grad = message.copy()

    report = gradcheck(lambda a, b: a * b, {"a": np.ones((2, 1)), "b": np.ones(3)}, tensor=KeepsTheShapeOfTheMessage)
    assert not report
    assert "the gradient of a has shape (2, 3), but a has shape (2, 1)" in str(report)


def test_a_wrong_dtype_fails():
    class Wide(Tensor):
        __slots__ = ()

        def accumulate(self, message):
            if self.requires_grad:
                self.grad = np.asarray(message, np.float64)

    report = gradcheck(lambda a: a * 2, {"a": np.ones(2, np.float32)}, tensor=Wide)
    assert not report
    assert "the gradient of a is float64, but a is float32" in str(report)


def test_an_error_raised_by_backward_is_a_finding_and_one_raised_by_f_is_not():
    def explode(tensor, message):
        raise ValueError("no such rule")

    report = gradcheck(lambda a: a * 2, [1.0], tensor=faulty("Wrong", explode))
    assert not report
    assert str(report).startswith("The check failed: backward() raised ValueError: no such rule")
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda a: 1 / 0, [1.0])


def test_an_f_that_gives_another_value_each_time_fails():
    rng = np.random.default_rng(0)
    report = gradcheck(lambda a: a * rng.random(), [1.0])
    assert not report
    assert "another value" in str(report)


def test_bad_arguments_are_answered_with_a_sentence():
    with pytest.raises(TypeError, match=r"must return a Tensor.*nothing \(None\)"):
        gradcheck(lambda a: None, [1.0])
    with pytest.raises(TypeError, match=r"must return a Tensor.*float"):
        gradcheck(lambda a: 1.0, [1.0])
    for h in (0.0, -1e-3, np.nan, np.inf):
        with pytest.raises(ValueError, match="step h must be a positive number"):
            gradcheck(lambda a: a * 2, [1.0], h=h)
        with pytest.raises(ValueError, match="step h must be a positive number"):
            numerical_gradient(lambda a: a * 2, 1.0, h)


# -- float32


def test_trap_52_float32_runs_backward_in_float32_and_the_differences_in_float64():
    seen = []

    def f(x):
        seen.append(x.dtype)
        return (x * x).sin()

    report = gradcheck(f, {"x": np.array([0.5, 1.5], np.float32)})
    assert report
    assert seen[0] == np.float32
    assert set(seen[1:]) == {np.dtype(np.float64)}
    assert report.inputs["x"].analytic.dtype == np.float32
    assert report.inputs["x"].dtype == np.float32
    assert 1e-12 < report.worst.error < 1e-5  # the rounding of float32, and no more
    assert "float32: backward() ran in float32, the differences in float64 copies" in str(report)
    assert "float32" not in str(gradcheck(f, {"x": np.array([0.5, 1.5])}))


def test_an_f_that_rounds_to_float32_inside_gets_a_wide_step_and_the_report_says_so():
    class Narrow(Tensor):
        """An engine that computes sin in float32, whatever it is given."""

        __slots__ = ()

        def sin(self):
            def _backward(upstream):
                self.accumulate(upstream * np.cos(a))

            a = self.numpy()
            return self.node(np.sin(a.astype(np.float32)), (self,), "sin", _backward)

    report = gradcheck(lambda x: x.sin(), {"x": np.array([0.5, 1.5])}, tensor=Narrow)
    assert report
    assert "f computes in float32 even from float64 inputs" in str(report)


# -- kinks


@pytest.mark.parametrize(
    ("f", "x", "left", "right"),
    [
        (lambda x: x.relu().sum(), [-1.0, 0.0, 2.0], 0.0, 1.0),
        (lambda x: x.abs().sum(), [-1.0, 0.0, 2.0], -1.0, 1.0),
        (lambda x: x.max(), [1.0, 3.0, 3.0], 0.0, 1.0),
        (lambda x: x.clip(-1.0, 0.0).sum(), [-0.5, 0.0, 2.0], 1.0, 0.0),
        (lambda x: model.maximum(x, 0.0).sum(), [-1.0, 0.0, 2.0], 0.0, 1.0),
    ],
)
def test_trap_54_kinks_are_reported_and_a_slope_between_the_sides_is_accepted(f, x, left, right):
    report = gradcheck(f, {"x": np.array(x)})
    assert report, report
    kinks = [slope for slope in report.kinks if slope.element.index == (1,)]
    assert len(kinks) == 1
    result = report.inputs["x"]
    np.testing.assert_allclose([result.slopes[1].left, result.slopes[1].right], [left, right], atol=1e-8)
    sentence = kinks[0].sentence
    assert sentence.startswith("At x[1] there is no derivative")
    assert f"the slope is {numeral(left)} on the left and {numeral(right)} on the right" in sentence
    assert "The gradients agree on" in report.verdict
    assert report.kinks[0].sentence in report.verdict


def test_a_slope_outside_the_two_sides_of_a_kink_is_wrong():
    class Steep(Tensor):
        __slots__ = ()

        def relu(self):
            a = self.numpy()

            def _backward(upstream):
                self.accumulate(upstream * np.where(a == 0, 1.5, a > 0))

            return self.node(np.maximum(a, 0), (self,), "relu", _backward)

    report = gradcheck(lambda x: x.relu(), {"x": np.array([-1.0, 0.0, 1.0])}, tensor=Steep)
    assert not report
    assert report.worst.element.index == (1,)
    assert report.worst in report.kinks
    assert report.worst.error == pytest.approx(abs(report.worst.numerical), rel=1e-6)  # 1.5 is 0.5 beyond the side at 1
    assert "which is not between the two" in report.verdict


def test_trap_54_a_kink_near_the_point_is_not_mistaken_for_one_at_the_point():
    report = gradcheck(lambda x: x.relu(), {"x": np.array([1e-6, -1e-6, 1e-7])})
    assert report, report
    assert not report.kinks


# -- the inputs stay as they were


def test_trap_52_inputs_are_only_read():
    array, tensor = np.array([1.0, 0.1 + 0.2]), Tensor([0.1, 0.7], label="w")
    tensor.grad = np.array([5.0, 6.0])
    before = array.tobytes(), tensor.numpy().tobytes()
    pending = (tensor * tensor).sum()  # a graph of the caller's that still needs the values
    assert gradcheck(lambda a, w: a * w * w, [array, tensor])
    assert (array.tobytes(), tensor.numpy().tobytes()) == before
    np.testing.assert_array_equal(tensor.grad, [5.0, 6.0])
    assert tensor.label == "w"
    tensor.grad = None
    pending.backward()
    np.testing.assert_array_equal(tensor.grad, [0.2, 1.4])
    array.flags.writeable = False
    assert gradcheck(lambda a: a * 2, [array])


# -- numerical_gradient


@pytest.mark.parametrize("method", ["central", "forward"])
@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (2, 2), (0, 2)])
def test_numerical_gradient_has_the_shape_of_x(method, shape):
    x = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    gradient = numerical_gradient(lambda a: np.sum(a**3), x, method=method)
    assert gradient.shape == shape
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, 3 * x**2, rtol=1e-6)


def test_numerical_gradient_takes_functions_of_arrays_numbers_and_tensors():
    x = np.array([0.5, -1.5])
    expected = np.cos(x)
    np.testing.assert_allclose(numerical_gradient(lambda a: np.sin(a).sum(), x), expected, rtol=1e-8)
    np.testing.assert_allclose(numerical_gradient(lambda t: t.sin().sum(), x), expected, rtol=1e-8)
    np.testing.assert_allclose(numerical_gradient(lambda t: t.sin().sum(), Tensor(x)), expected, rtol=1e-8)
    np.testing.assert_allclose(numerical_gradient(lambda t: model.maximum(t, 0.0).sum(), x), [1.0, 0.0], rtol=1e-8)
    assert numerical_gradient(lambda v: float(v) ** 2, 3).item() == pytest.approx(6.0)
    np.testing.assert_allclose(
        numerical_gradient(lambda t: (t * t).sum(), Tensor(x.astype(np.float32))), 2 * x, rtol=1e-6
    )


def test_a_given_step_is_the_step():
    for h in (0.5, 0.1):
        np.testing.assert_allclose(numerical_gradient(lambda x: x**2, 3.0, h, "forward"), 6 + h, rtol=1e-12)
        np.testing.assert_allclose(numerical_gradient(lambda x: x**3, 3.0, h, "central"), 27 + h * h, rtol=1e-12)


def test_numerical_gradient_only_reads_x():
    x = np.array([0.1, 0.3])
    before = x.tobytes()

    def greedy(a):
        total = float(a.sum())
        a *= 0  # a function that spoils what it was given
        return total

    np.testing.assert_allclose(numerical_gradient(greedy, x), [1, 1], rtol=1e-9)
    assert x.tobytes() == before


def test_numerical_gradient_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="'backward'"):
        numerical_gradient(lambda x: x, 1.0, method="backward")
    with pytest.raises(ValueError, match=r"one number; it returned an array of shape \(2,\)"):
        numerical_gradient(lambda x: x * 2, np.ones(2))


# -- the report as text


def test_the_report_reads_as_a_table():
    text = str(gradcheck(lambda w, x: (w @ x).relu(), {"w": np.eye(2), "x": np.array([1.0, -2.0])}))
    lines = text.splitlines()
    assert lines[0].startswith("The gradients agree on 6 elements")
    assert lines[2].split()[:3] == ["input", "shape", "dtype"]
    assert lines[3].startswith("w      (2, 2)  float64  w[")
    assert lines[4].startswith("x      (2,)    float64  x[")
    assert any(line.startswith("Tolerance: ") for line in lines)
