"""What the engine says where Python or NumPy would speak, what it documents, and what it refuses to take."""

import inspect
import math
import operator
import warnings

import numpy as np
import pandas
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
    stack,
    where,
)
from nn import MLP, Linear, clip_grad_norm

# ---------------------------------------------------------------- one number


@pytest.mark.parametrize("spec", [".4f", "8.2e", "g", ">10", "+.1%"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_is_formatted_as_a_number(spec, shape):
    assert format(Tensor(np.full(shape, 0.12345)), spec) == format(0.12345, spec)


def test_a_result_is_formatted():
    loss = (Tensor([1.5, 2.0]) ** 2).sum()
    assert f"{loss:.3f} {loss!r:.6} {loss}" == f"6.250 Tensor {loss!r}"
    assert f"{Tensor([1.0, 2.0])}".startswith("Tensor([")


def test_more_than_one_element_has_no_format_and_is_no_number():
    t = Tensor([1.0, 2.0], label="t")
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{t:.2f}"
    for use in (lambda: float(t), lambda: bool(t)):
        with pytest.raises(ValueError, match=r"array of size 1|more than one element"):
            use()


def test_a_tensor_shows_its_values_gradient_operation_and_label():
    x = Tensor([1.0, 2.0], label="x")
    assert repr(x) == "Tensor([1., 2.], label='x')"
    y = x * 3.0
    assert repr(y) == "Tensor([3., 6.], op='*')"
    y.backward(np.ones(2))
    assert repr(x) == "Tensor([1., 2.], grad=[3. 3.], label='x')"
    assert repr(Tensor(2.0, requires_grad=False)) == "Tensor(2., requires_grad=False)"
    assert (x.shape, x.ndim, x.size, x.dtype, x.op, y.op) == ((2,), 1, 2, np.float64, "", "*")


# ---------------------------------------------------------------- NumPy


@pytest.mark.parametrize(
    "function",
    [
        *(np.exp, np.log, np.tanh, np.abs, np.isnan, np.negative, np.sum, np.max, np.std, np.linalg.norm),
        *(lambda t: np.array([t, t]), lambda t: Tensor([t, t]), lambda t: [1.0, 2.0] * np.asarray(t)),
        *(lambda t: np.where([True, False], t, 0.0), lambda t: np.maximum(t, 0), lambda t: np.concatenate([t, t])),
        *(lambda t: np.add(t, 1.0), lambda t: np.add.reduce(t), lambda t: np.multiply.outer(np.ones(2), t)),
        lambda t: np.multiply(np.ones(2), t, out=np.ones(2)),
    ],
)
def test_a_numpy_function_refuses_a_tensor(function):
    with pytest.raises(TypeError, match=r"lose the graph of 'x'|does not support ufuncs|unexpected keyword"):
        function(Tensor([1.0, 2.0], label="x"))


def test_an_array_on_the_left_leaves_an_operation_to_the_tensor():
    array, t = np.array([1.0, 2.0]), Tensor([3.0, 4.0])
    for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul):
        result = f(array, t)
        assert isinstance(result, Tensor)
        np.testing.assert_array_equal(result.numpy(), f(array, t.numpy()))
    np.testing.assert_array_equal(array < t, [True, True])
    assert (np.shape(t), np.ndim(t), np.size(t)) == ((2,), 1, 2)


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
MATRIX = np.eye(2).view(np.matrix)


@pytest.mark.parametrize(
    "use",
    [
        *(lambda t, f=f: f(t) for f in (np.ma.getdata, np.ma.exp, np.ma.abs, np.ma.median, np.ma.array)),
        *(lambda t, f=f: f(MASKED, t) for f in (operator.add, operator.mul, operator.pow, operator.matmul)),
        *(lambda t, f=f: f(MASKED, t) for f in (operator.eq, operator.lt, operator.iadd, np.ma.maximum)),
        *(lambda t, f=f: f(t, MASKED) for f in (operator.mul, operator.eq, operator.lt, maximum, mse_loss)),
        lambda t: np.ma.concatenate([t, t]),
        lambda t: np.ma.masked * t,
        lambda t: np.ma.where([True, False], t, t),
        lambda t: MASKED.copy().__setitem__(slice(None), t),
        lambda t: where(MASKED > 0, t, 0.0),
        lambda t: t[np.ma.array([0, 1], mask=[0, 1])],
        lambda t: t[None, np.ma.array([0, 1], mask=[0, 1])],
        lambda t: cross_entropy(t[None], np.ma.array([0], mask=[1])),
        lambda t: Tensor([MASKED, MASKED]),
        lambda t: MATRIX * t,
        lambda t: t @ MATRIX,
    ],
)
def test_no_masked_array_and_no_matrix_of_numpy_takes_part(use):
    """NumPy's functions for masked arrays read an attribute called `_data` of any object, past all protocols."""
    t = Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"lose the graph|not MaskedArray|np\.asarray\(matrix\)"):
        use(t)
    assert t.numpy().tolist() == [1.0, 2.0]


def test_a_series_of_pandas_can_be_compared():
    assert (Tensor([1.0, 2.0]) == pandas.Series([1.0, 3.0])).tolist() == [True, False]


BOOLS = (True, np.True_, (True,), (0, True), (np.False_, 1))
BY_AXIS = ("sum", "mean", "var", "std", "norm", "max", "min", "prod", "softmax", "log_softmax", "logsumexp")


@pytest.mark.parametrize("axis", BOOLS, ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        *(lambda t, axis, name=name: getattr(t, name)(axis) for name in (*BY_AXIS, "squeeze", "expand_dims")),
        lambda t, axis: t.transpose(axis, 0),
        lambda t, axis: t.swapaxes(axis, 0),
        lambda t, axis: concatenate([t, t], axis),
        lambda t, axis: stack([t, t], axis),
    ],
)
def test_a_bool_is_no_axis(call, axis):
    with pytest.raises(TypeError, match=r"^An axis is an integer, not .*(True|False)"):
        call(Tensor(np.ones((1, 1))), axis)


# ---------------------------------------------------------------- networks and optimizers


@pytest.mark.parametrize("sizes", [5, 2.5, None, {2, 3}, iter([2, 3])])
def test_a_network_has_a_list_of_sizes(sizes):
    assert repr(MLP(np.array([784, 128, 10]), "tanh")) == "MLP(784-128-10, tanh, 101,770 parameters)"
    assert repr(Linear(3, 2)) == "Linear(3, 2)"
    with pytest.raises(ValueError, match="a list of at least two sizes"):
        MLP(sizes)


@pytest.mark.parametrize("dtype", [int, np.int32, bool, complex, np.float16, "uint8"])
def test_weights_that_could_not_be_trained_are_refused(dtype):
    with pytest.raises(ValueError, match="float64 or float32"):
        MLP([2, 8, 1], dtype=dtype)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e307, 1.0, 5e-324])
def test_the_norm_of_gradients_neither_overflows_nor_vanishes(scale):
    p, q = Tensor([0.0, 0.0]), Tensor(0.0)
    p.grad, q.grad = np.array([2.0, 3.0]) * scale, np.float64(6.0 * scale)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        norm = clip_grad_norm([p, q], max_norm=7.0 * scale if scale < 1 else 3.5)
    assert norm == pytest.approx(7.0 * scale)
    if scale >= 1:
        clipped = math.hypot(*p.grad, q.grad)
        assert clipped == pytest.approx(3.5)
        assert p.grad[1] / p.grad[0] == pytest.approx(1.5)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_gradients_that_no_scaling_saves_stay(bad):
    p = Tensor([0.0, 0.0])
    p.grad = np.array([1.0, bad])
    norm = clip_grad_norm([p], 1.0)
    assert not np.isfinite(norm)
    assert p.grad[0] == 1.0


# ---------------------------------------------------------------- modes, conventions, documentation


def test_the_advice_for_a_generator_holds():
    def batches(t):
        for factor in (1.0, 2.0):
            with no_grad():
                value = (t * factor).item()  # what computes
            yield value

    t = Tensor(3.0)
    with pytest.raises(TypeError, match="with no `yield` in the block"):
        no_grad(batches)
    recorded = [(t * value).requires_grad for value in batches(t)]
    assert recorded == [True, True]


WARNING_WITH_INF = {"var", "std", "softmax", "log_softmax", "cross_entropy", "binary_cross_entropy_with_logits"}
WARNING_WHEN_TOO_LARGE = {"sum", "mean", "var", "std", "norm", "prod"}
NAMES = "exp log sqrt sin cos tanh sigmoid relu leaky_relu softplus abs clip sum mean max min var std prod norm softmax"
ROWS = {name: getattr(Tensor, name) for name in [*NAMES.split(), "log_softmax", "logsumexp"]} | {
    "cross_entropy": lambda t: cross_entropy(t.reshape(1, 3), [0]),
    "binary_cross_entropy_with_logits": lambda t: binary_cross_entropy_with_logits(t, np.ones(3)),
    "maximum": lambda t: maximum(t, t),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_warns_is_what_the_table_of_conventions_says(name):
    def warns(value):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = ROWS[name](Tensor([value, value, 1.0]))
            result.backward(np.ones(result.shape))
        return bool(caught)

    assert warns(np.inf) == (name in WARNING_WITH_INF)
    assert warns(1e308) == (name in WARNING_WHEN_TOO_LARGE)
    assert not any(map(warns, (np.nan, 0.0, -1.0)))


def public(owner):
    return {
        f"{getattr(owner, '__name__', '')}.{name}": value
        for name, value in vars(owner).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, property))
    }


def test_every_public_name_has_a_docstring():
    exported = {name: getattr(module, name) for module in (model, nn) for name in module.__all__}
    named = {name: value for name, value in exported.items() if callable(value)}
    for owner in filter(inspect.isclass, exported.values()):
        named |= public(owner)
    undocumented = [name for name, value in named.items() if not (getattr(value, "__doc__", "") or "").strip()]
    assert undocumented == []
    assert len(named) > 60


@pytest.mark.parametrize("module", [model, nn])
def test_all_names_what_a_module_defines_for_others(module):
    assert sorted(module.__all__) == sorted(set(module.__all__))
    own = {
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_") and callable(value)
    }
    assert own <= {*module.__all__}
    scope: dict[str, object] = {}
    exec(f"from {module.__name__} import *", scope)
    assert scope.keys() - {"__builtins__"} == {*module.__all__}
