"""Every operation against numerical differences: all shapes, all broadcasts, both precisions; and laws of gradients."""

import inspect
import re

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from op_table import CASES, CONVENTIONS_BY_UPSTREAM, Case

import model
from lab.gradcheck import gradcheck
from model import Tensor

# What Tensor and the module offer besides operations that have a gradient.
TENSOR_NOT_OPS = {
    *("data", "grad", "requires_grad", "label", "op", "shape", "ndim", "size", "dtype"),
    *("backward", "detach", "zero_grad", "item", "numpy"),
    *("__init__", "__repr__", "__len__", "__iter__", "__bool__", "__float__", "__hash__"),
    *("__pos__", "__array__", "__getstate__", "__format__"),
    *("__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__", "__imatmul__"),
    *("node", "accumulate", "unbroadcast", "constant", "read", "replace"),
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
}
MODULE_NOT_OPS = {"no_grad", "allow_mutation", "leaf_gradient", "topological_order"}


def cases_of(op: str, cases: list[Case] = CASES) -> list[Case]:
    return [case for case in cases if case.op == op]


def check(case: Case):
    return gradcheck(lambda *tensors: case.call(tensors), case.inputs)


OPS = list(dict.fromkeys(case.op for case in CASES))


# -- every operation, element by element


def test_every_operation_of_the_engine_is_in_the_table():
    methods = {
        name
        for name, value in vars(Tensor).items()
        if (callable(value) or isinstance(value, property)) and (not name.startswith("_") or name.startswith("__"))
    }
    functions = {
        name
        for name, value in vars(model).items()
        if inspect.isfunction(value) and value.__module__ == model.__name__ and not name.startswith("_")
    }
    missing = (methods - TENSOR_NOT_OPS) | (functions - MODULE_NOT_OPS)
    missing -= {case.op for case in CASES}
    assert not missing, f"operations without an entry in tests/unit/op_table.py: {sorted(missing)}"


@pytest.mark.parametrize("op", OPS)
def test_gradient(op):
    reports = [(case.id, check(case)) for case in cases_of(op)]
    failed = [f"{name}\n{report}" for name, report in reports if not report]
    assert not failed, "\n\n".join(failed)
    at_kinks = [name for name, report in reports if report.kinks]
    assert not at_kinks, f"the table's inputs are meant to lie away from kinks: {at_kinks}"


@pytest.mark.parametrize("op", OPS)
def test_gradient_float32(op):
    cases = [case.as_float32() for case in cases_of(op)[::3]]
    widened = [case.id for case in cases if case.call([Tensor(a) for a in case.inputs]).dtype != np.float32]
    assert not widened, f"the result is no longer float32: {widened}"
    failed = [f"{case.id}\n{report}" for case in cases if not (report := check(case))]
    assert not failed, "\n\n".join(failed)


@pytest.mark.parametrize(
    ("case", "upstream", "expected"), CONVENTIONS_BY_UPSTREAM, ids=lambda value: getattr(value, "id", None)
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_convention_where_there_is_no_derivative(case, upstream, expected, dtype):
    leaves = [Tensor(array.astype(dtype)) for array in case.inputs]
    output = case.call(leaves)
    output.backward(np.full(output.shape, upstream))
    for leaf, gradient in zip(leaves, expected, strict=True):
        np.testing.assert_array_equal(leaf.grad, np.asarray(gradient, dtype), strict=True)


# -- values: the forward pass against NumPy, where NumPy has the operation under the same name


NOT_IN_NUMPY = {"mse_loss", "cross_entropy", "binary_cross_entropy_with_logits", "linear"}  # test_networks.py
COMPOSED = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "relu": lambda x: np.where(x > 0, x, 0),
    "leaky_relu": lambda x, slope=0.01: np.where(x > 0, x, slope * x),
    "norm": lambda x, axis=None, keepdims=False: np.sqrt((x * x).sum(axis=axis, keepdims=keepdims)),
    "softmax": lambda x, axis=-1: np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True),
    "log_softmax": lambda x, axis=-1: x - np.log(np.exp(x).sum(axis=axis, keepdims=True)),
    "logsumexp": lambda x, axis=None, keepdims=False: np.log(np.exp(x).sum(axis=axis, keepdims=keepdims)),
}
REFLECTED = {
    "__radd__": np.add, "__rsub__": np.subtract, "__rmul__": np.multiply, "__rtruediv__": np.divide,
    "__rpow__": np.power, "__rmatmul__": np.matmul,
}  # read by rows  # fmt: skip


def numpy_value(case: Case) -> np.ndarray:
    first = np.asarray(case.inputs[0])
    if case.op in COMPOSED:
        return COMPOSED[case.op](first, *case.args, **case.kwargs)
    if case.op in REFLECTED:
        return REFLECTED[case.op](case.args[0], first)
    if case.op == "where":
        return np.where(case.args[0], *case.inputs)
    if case.op in ("concatenate", "stack"):
        return getattr(np, case.op)(case.inputs, **case.kwargs)
    if case.op == "clip":
        low, high = case.args or (case.kwargs.get("low"), case.kwargs.get("high"))
        return np.clip(first, low, high)
    if case.op == "__abs__":
        return np.abs(first)
    if case.op == "broadcast_to":
        return np.broadcast_to(first, case.args if isinstance(case.args[0], int) else case.args[0])
    if hasattr(first, case.op):
        attribute = getattr(first, case.op)
        return attribute(*case.inputs[1:], *case.args, **case.kwargs) if callable(attribute) else attribute
    return getattr(np, case.op)(*case.inputs, *case.args, **case.kwargs)


@pytest.mark.parametrize("op", [op for op in OPS if op not in NOT_IN_NUMPY])
def test_value_is_what_numpy_computes(op):
    for case in cases_of(op):
        actual = case.call([Tensor(array) for array in case.inputs]).numpy()
        expected = np.asarray(numpy_value(case))
        np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-14, strict=True, err_msg=case.id)


# -- constants of every kind in an expression


@pytest.mark.parametrize(
    "constant",
    [2, 2.0, True, np.float64(2), np.float32(2), np.int64(2), np.array(2.0), np.array([1.0, 2.0, 3.0])],
    ids=repr,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_and_arrays_mix_with_tensors_on_either_side(constant, dtype):
    x = np.array([0.5, 1.5, 2.5], dtype)
    for f in (
        lambda t, c: t + c,
        lambda t, c: c + t,
        lambda t, c: t - c,
        lambda t, c: c - t,
        lambda t, c: t * c,
        lambda t, c: c * t,
        lambda t, c: t / c,
        lambda t, c: c / t,
        lambda t, c: t**c,
        lambda t, c: c**t,
    ):
        t = Tensor(x)
        y = f(t, constant)
        assert isinstance(y, Tensor)
        assert y.dtype == dtype
        np.testing.assert_allclose(y.numpy(), f(x.astype(float), np.asarray(constant, float)), rtol=1e-6)
        report = gradcheck(lambda leaf, f=f: f(leaf, constant), [x])
        assert report, report


# -- what a tensor shows of itself


def test_a_new_value_must_have_the_old_shape():
    x = Tensor(np.zeros((2, 3)), label="W")
    x.data = np.ones((2, 3), int)
    np.testing.assert_array_equal(x.numpy(), np.ones((2, 3)), strict=True)
    with pytest.raises(ValueError, match=r"shape \(3,\).*'W' of shape \(2, 3\)"):
        x.data = np.ones(3)


def test_shapes_that_do_not_broadcast_are_named():
    a, b = Tensor(np.ones((2, 3)), label="a"), Tensor(np.ones((4, 1)), label="b")
    for op, f in {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "/": lambda: a / b,
        "**": lambda: a**b,
    }.items():
        with pytest.raises(
            ValueError, match=r"`" + re.escape(op) + r"` cannot combine 'a' of shape \(2, 3\) with 'b' of"
        ):
            f()
    for f in (model.maximum, model.minimum, lambda a, b: model.where(True, a, b)):
        with pytest.raises(ValueError, match=r"\(2, 3\).*\(4, 1\)"):
            f(a, b)
    with pytest.raises(ValueError, match=r"\(2,3\) +and requested shape \(2,2\)"):
        a.broadcast_to((2, 2))


# -- properties that hold for every operation

floats = st.floats(-3, 3).filter(lambda v: abs(v) > 0.05)


def arrays(shape, elements=floats):
    return hnp.arrays(np.float64, shape, elements=elements)


@given(x=hnp.array_shapes(min_dims=1, max_dims=3, max_side=4).flatmap(arrays), data=st.data())
@settings(max_examples=60)
def test_any_basic_index_scatters_its_gradient_back(x, data):
    index = data.draw(hnp.basic_indices(x.shape, allow_newaxis=True))
    t = Tensor(x)
    y = t[index]
    np.testing.assert_array_equal(y.numpy(), x[index])
    upstream = np.arange(1.0, y.size + 1).reshape(y.shape)
    y.backward(upstream)
    expected = np.zeros_like(x)
    expected[index] = upstream
    np.testing.assert_array_equal(t.grad, expected)


def random_program(choices: list[int], a, b):
    """A random expression: each step combines two earlier values. Smooth and bounded, so differences can check it."""
    values = [a, b]
    for step, choice in enumerate(choices):
        x, y = values[choice % len(values)], values[(choice // 7 + step) % len(values)]
        values.append(
            [
                lambda x, y: x + y,
                lambda x, y: x * y.tanh(),
                lambda x, y: x - y,
                lambda x, y: x.sin() * y,
                lambda x, y: x.tanh() / (2 + y.cos()),
                lambda x, y: x.sigmoid() + y.tanh().exp(),
                lambda x, y: ((x * x + 1).log()) - y,
            ][choice % 7](x, y)
        )
    return values[-1] + values[len(values) // 2]


@given(choices=st.lists(st.integers(0, 1000), min_size=1, max_size=8), a=arrays((2, 1)), b=arrays((3,)))
@settings(max_examples=60)
def test_any_program_with_any_reuse(choices, a, b):
    report = gradcheck(lambda a, b: random_program(choices, a, b), {"a": a, "b": b}, rtol=1e-5, atol=1e-6)
    used = [result for result in report.inputs.values() if "no gradient reached" not in result.problem]
    assert all(result.passed for result in used), report


@pytest.mark.parametrize("op", OPS)
def test_laws_that_every_backward_rule_obeys(op):
    """Linear in the upstream gradient; messages add up; the shape and dtype of the data; the upstream is untouched."""

    def gradients(case, *upstreams):
        leaves = [Tensor(array) for array in case.inputs]
        output = case.call(leaves)
        for upstream in upstreams:
            before = upstream.copy()
            output.backward(upstream, retain_graph=True)
            np.testing.assert_array_equal(upstream, before)
        for leaf in leaves:
            assert leaf.grad.shape == leaf.shape
            assert leaf.grad.dtype == leaf.dtype
        return [leaf.grad for leaf in leaves]

    rng = np.random.default_rng(5)
    for case in cases_of(op)[::3]:
        shape = case.call([Tensor(array) for array in case.inputs]).shape
        v, w = np.asarray(rng.normal(size=shape)), np.asarray(rng.normal(size=shape))
        separate = zip(gradients(case, v), gradients(case, w), strict=True)
        together = zip(gradients(case, 2 * v - w), gradients(case, v, w), strict=True)
        for (at_v, at_w), (combined, accumulated) in zip(separate, together, strict=True):
            np.testing.assert_allclose(combined, 2 * at_v - at_w, atol=1e-12, err_msg=case.id)
            np.testing.assert_allclose(accumulated, at_v + at_w, atol=1e-12, err_msg=case.id)
