"""Writing to values that a backward pass still needs: right, refused, never silent."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from op_table import CASES

from model import (
    MLP,
    SGD,
    Adam,
    Linear,
    MutationError,
    Tensor,
    allow_mutation,
    concatenate,
    cross_entropy,
    no_grad,
)

# Operations by what their backward pass needs, with the right gradient at x = [0.5, 2.0].
SAVES_INPUT = {
    "*": (lambda t: t * t, lambda x: 2 * x),
    "**": (lambda t: t**3, lambda x: 3 * x * x),
    "/": (lambda t: 1.0 / t, lambda x: -1 / x**2),
    "log": (lambda t: t.log(), lambda x: 1 / x),
    "sin": (lambda t: t.sin(), np.cos),
    "cos": (lambda t: t.cos(), lambda x: -np.sin(x)),
    "abs": (lambda t: t.abs(), np.sign),
    "softplus": (lambda t: t.softplus(), lambda x: 1 / (1 + np.exp(-x))),
    "prod": (lambda t: t.prod(), lambda x: x[::-1]),
    "norm": (lambda t: t.norm(), lambda x: x / np.sqrt(x @ x)),
    "@": (lambda t: t @ t, lambda x: 2 * x),
    "max": (lambda t: t.max(), lambda x: (x == x.max()) * 1.0),
    "clip": (lambda t: t.clip(0, 1), lambda x: (x < 1) * 1.0),
    "logsumexp": (lambda t: t.logsumexp(), lambda x: np.exp(x) / np.exp(x).sum()),
}


SAVES_OUTPUT = {
    "exp": (lambda t: t.exp(), np.exp),
    "sqrt": (lambda t: t.sqrt(), lambda x: 0.5 / np.sqrt(x)),
    "tanh": (lambda t: t.tanh(), lambda x: 1 - np.tanh(x) ** 2),
    "sigmoid": (lambda t: t.sigmoid(), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
    "relu": (lambda t: t.relu(), lambda x: (x > 0) * 1.0),
    "softmax": (lambda t: t.softmax(), lambda x: 0 * x),
}


SAVES_NOTHING = {
    "+": (lambda t: t + t, lambda x: 2 + 0 * x),
    "-": (lambda t: 1.0 - t, lambda x: -1 + 0 * x),
    "neg": (lambda t: -t, lambda x: -1 + 0 * x),
    "10 *": (lambda t: 10.0 * t, lambda x: 10 + 0 * x),
    "sum": (lambda t: t.sum(), lambda x: 1 + 0 * x),
    "mean": (lambda t: t.mean(), lambda x: 0.5 + 0 * x),
    "reshape": (lambda t: t.reshape(2, 1), lambda x: 1 + 0 * x),
    "getitem": (lambda t: t[::-1], lambda x: 1 + 0 * x),
    "concatenate": (lambda t: concatenate([t, t]), lambda x: 2 + 0 * x),
    "leaky_relu": (lambda t: t.leaky_relu(0.1), lambda x: np.where(x > 0, 1.0, 0.1)),
}


EVERY = SAVES_INPUT | SAVES_OUTPUT | SAVES_NOTHING


X = np.array([0.5, 2.0])


def add_in_place(t):
    t.data += 1.0


def through_another_name(t):
    name = t.data
    another = name
    another[...] = -7.0


def by_a_new_array(t):
    t.data = np.full(t.shape, -7.0)


WRITES = {
    "augmented assignment": add_in_place,
    "item assignment": lambda t: t.data.__setitem__(..., -7.0),
    "one element": lambda t: t.data.__setitem__((0,) * t.ndim, -7.0),
    "out=": lambda t: np.subtract(t.data, 9.0, out=t.data),
    "a view": lambda t: t.data.reshape(-1)[:1].fill(-7.0),
    "another name": through_another_name,
    "fill": lambda t: t.data.fill(-7.0),
    "copyto": lambda t: np.copyto(t.data, -7.0),
    "a new array": by_a_new_array,
}


def outcome(y, t):
    """The gradient that backward() gives, or the error that it raises."""
    try:
        y.backward(np.ones(y.shape))
    except MutationError as error:
        assert t.grad is None, "a refused backward pass has left a gradient behind"
        return error
    return t.grad


@pytest.mark.parametrize("op", EVERY)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("target", ["input", "output"])
def test_trap_34_and_36_no_write_by_any_route_gives_a_wrong_gradient_silently(op, write, target):
    f, derivative = EVERY[op]
    t = Tensor(X, label="x")
    y = f(t)
    WRITES[write](t if target == "input" else y)
    result = outcome(y, t)
    if not isinstance(result, MutationError):
        np.testing.assert_allclose(result, derivative(X), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("op", dict.fromkeys(case.op for case in CASES))
def test_trap_34_and_36_every_operation_of_the_table_every_operand_every_route(op):
    """After a write to any operand, to the output or to an array that was a constant: right, or refused."""
    cases = [case for case in CASES if case.op == op and all(array.size for array in case.inputs)]
    cases.sort(key=lambda case: -case.size)
    for case in (cases[0], cases[len(cases) // 2]):
        expected = [Tensor(array) for array in case.inputs]
        output = case.call(expected)
        output.backward(np.ones(output.shape))
        for write, target in itertools.product(WRITES, range(len(case.inputs) + 1)):
            constants = tuple(np.array(a) if isinstance(a, np.ndarray) else a for a in case.args)
            fresh = replace(case, args=constants)
            leaves = [Tensor(array) for array in case.inputs]
            output = fresh.call(leaves)
            WRITES[write]([*leaves, output][target])
            for constant in constants:
                if isinstance(constant, np.ndarray):
                    constant[...] = 0
            try:
                output.backward(np.ones(output.shape))
            except MutationError:
                assert all(leaf.grad is None for leaf in leaves), (case.id, write, target)
                continue
            for leaf, right in zip(leaves, expected, strict=True):
                np.testing.assert_array_equal(leaf.grad, right.grad, err_msg=f"{case.id}: {write} on {target}")


@pytest.mark.parametrize("op", SAVES_INPUT)
@pytest.mark.parametrize("write", WRITES)
def test_trap_34_and_36_a_write_to_a_needed_input_is_reported(op, write):
    t = Tensor(X, label="x")
    y = SAVES_INPUT[op][0](t)
    WRITES[write](t)
    with pytest.raises(MutationError, match="'x' of shape"):
        y.backward(np.ones(y.shape))


@pytest.mark.parametrize("op", SAVES_OUTPUT)
def test_trap_34_and_36_a_write_to_a_needed_output_is_reported(op):
    t = Tensor(X, label="x")
    y = SAVES_OUTPUT[op][0](t)
    y.data += 1.0
    with pytest.raises(MutationError, match="output"):
        y.backward(np.ones(y.shape))


@pytest.mark.parametrize("op", EVERY)
def test_trap_34_a_view_taken_before_the_forward_pass(op):
    f, derivative = EVERY[op]
    t = Tensor(X, label="x")
    view = t.data[:1]
    y = f(t)
    view[0] = -7.0
    result = outcome(y, t)
    if op in SAVES_INPUT:
        assert isinstance(result, MutationError)
    elif not isinstance(result, MutationError):
        np.testing.assert_allclose(result, derivative(X), rtol=1e-12, atol=1e-15)


def test_trap_34_the_textbook_case():
    y = Tensor([3.0], label="y")
    z = (y * y).sum()
    y.data += 1
    with pytest.raises(MutationError):
        z.backward()


def test_trap_34_a_write_that_changes_nothing_is_no_fault():
    t = Tensor(X, label="x")
    y = (t * t).sum()
    t.data *= 1.0
    t.data[...] = X
    y.backward()
    np.testing.assert_array_equal(t.grad, 2 * X)


def test_trap_34_writing_through_a_detached_tensor_is_the_same_write():
    t = Tensor(X, label="x")
    y = (t * t).sum()
    alias = t.detach()
    alias.data[0] = 9.0
    assert t.numpy()[0] == 9.0  # detach shares data
    with pytest.raises(MutationError, match="'x'"):
        y.backward()


def test_trap_34_writing_to_a_view_tensor_of_the_same_values():
    """A slice, a transpose or a reshape is a new tensor: a write to it does not reach the original's gradient."""
    for make in (lambda t: t[:1], lambda t: t.reshape(2, 1), lambda t: t.T, lambda t: t.broadcast_to((2, 2))):
        t = Tensor(X, label="x")
        y = (t * t).sum()
        view = make(t)
        view.data[...] = 99.0
        result = outcome(y, t)
        if not isinstance(result, MutationError):
            np.testing.assert_array_equal(result, 2 * X)


def test_trap_34_nothing_is_left_half_done_after_a_refusal():
    w, x = Tensor([[1.0, 2.0]], label="w"), Tensor([[3.0], [4.0]], label="x")
    h = w @ x
    loss = (h * h).sum()
    w.data[0, 0] = 9.0
    before = w.grad, x.grad, h.grad, loss.grad
    with pytest.raises(MutationError):
        loss.backward()
    assert (w.grad, x.grad, h.grad, loss.grad) == before
    with pytest.raises(MutationError):  # and it says the same thing again
        loss.backward()
    w.data[0, 0] = 1.0  # undone: now it is right again
    loss.backward()
    np.testing.assert_array_equal(w.grad, 22.0 * np.array([[3.0, 4.0]]))


@pytest.mark.parametrize("handed_out", [False, True])
@pytest.mark.parametrize("make", [lambda p: SGD(p, lr=0.1), lambda p: Adam(p, lr=0.1)])
def test_trap_35_an_optimizer_step_between_forward_and_backward(make, handed_out):
    w = Tensor([2.0, 3.0], label="w")
    if handed_out:
        w.data.sum()  # somebody has looked at the values by their array
    w.grad = np.array([1.0, 1.0])
    loss = (w * w).sum()
    make([w]).step()
    w.zero_grad()
    with pytest.raises(MutationError, match="'w'"):
        loss.backward()


def test_trap_36_a_name_taken_long_before():
    t = Tensor(X, label="x")
    name = t.data
    for _ in range(3):  # training steps in between do not lose track of it
        y = (t * t).sum()
        y.backward()
    y = (t * t).sum()
    name[0] = 100.0
    assert t.numpy()[0] == 100.0
    with pytest.raises(MutationError):
        y.backward()


def test_trap_37_what_breaks_depends_on_what_was_saved():
    """With the guard off, the trap itself: which writes give a wrong gradient is decided by what the op keeps."""

    def wrong(f, derivative, target):
        with allow_mutation():
            t = Tensor(X)
            y = f(t)
            (t if target == "input" else y).data.__setitem__(..., -3.0)
            y.backward(np.ones(y.shape))
        return not np.allclose(t.grad, derivative(X))

    assert wrong(*SAVES_INPUT["/"], "input")  # it divides its result by the input once more
    assert wrong(*SAVES_INPUT["/"], "output")
    for op in ("*", "**", "sin", "abs", "prod"):
        assert wrong(*SAVES_INPUT[op], "input"), op
        assert not wrong(*SAVES_INPUT[op], "output"), op
    for op in ("exp", "sqrt", "tanh", "sigmoid", "relu"):
        assert wrong(*SAVES_OUTPUT[op], "output"), op
        assert not wrong(*SAVES_OUTPUT[op], "input"), op
    for op in ("+", "-", "neg", "10 *", "sum"):
        assert not wrong(*SAVES_NOTHING[op], "input"), op
        assert not wrong(*SAVES_NOTHING[op], "output"), op


def test_trap_37_what_is_not_needed_may_be_written_to():
    for f, derivative in SAVES_NOTHING.values():
        t = Tensor(X)
        y = f(t)
        t.data += 1.0
        y.data += 1.0
        y.backward(np.ones(y.shape))
        np.testing.assert_allclose(t.grad, derivative(X))
    t = Tensor(X)
    y = t.exp()
    t.data += 1.0  # exp keeps its output, not its input
    y.backward(np.ones(2))
    np.testing.assert_allclose(t.grad, np.exp(X))


def test_trap_38_the_error_names_op_label_shape_cause_and_remedy():
    w, x = Tensor(np.ones((2, 3)), label="W"), Tensor(np.ones((3, 1)), label="x")
    loss = (w @ x).sum()
    w.data[0, 0] = 5.0
    with pytest.raises(MutationError) as caught:
        loss.backward()
    message = str(caught.value)
    for part in ("`@`", "'W'", "(2, 3)", "written to", "forward pass again"):
        assert part in message
    assert "_saved" not in message
    assert "_data" not in message
    assert isinstance(caught.value, RuntimeError)


def test_trap_39_no_false_alarm_training_with_validation_between_steps():
    rng = np.random.default_rng(0)
    net = MLP([3, 4, 2], rng=0)
    optimizer = SGD(net.parameters(), lr=0.1, momentum=0.9)
    x, labels = rng.normal(size=(6, 3)), np.array([0, 1, 0, 1, 1, 0])
    losses = []
    for _ in range(20):
        loss = cross_entropy(net(x), labels)
        optimizer.zero_grad()
        loss.backward()
        validation = cross_entropy(net(x), labels)  # a graph that is dropped without a backward pass
        optimizer.step()
        with no_grad():
            losses.append(cross_entropy(net(x), labels).item())
        del validation
        net.parameters()[0].data *= 0.999  # weight decay by hand, between steps
    assert losses[-1] < losses[0]


def test_trap_39_no_false_alarm_reading_values_between_forward_and_backward():
    t = Tensor(X)
    y = (t.exp() * t).sum()
    assert y.data > 0
    for read in (t.data.mean, t.numpy, t.__repr__, t.detach, t.transpose, lambda: t > 0):
        read()
    np.testing.assert_array_equal(np.sort(t.data), X)
    y.backward()
    np.testing.assert_allclose(t.grad, np.exp(X) * (1 + X))


def test_trap_39_no_false_alarm_nan_stays_nan():
    t = Tensor([np.nan, -1.0, 2.0])
    y = (t * t).sum() + t.log().sum()
    t.data.copy()
    y.backward()
    assert np.isnan(t.grad[0])
    assert t.grad[1] == -3.0


def test_trap_39_no_false_alarm_for_an_exception_in_the_forward_pass_or_shared_parameters():
    shared = Linear(2, 2, rng=0)
    first, second = shared(Tensor(np.ones((1, 2)))), shared(Tensor(np.ones((3, 2))))
    with pytest.raises(ValueError, match="input"):
        shared(Tensor(np.ones((1, 5))))
    first.sum().backward()
    second.sum().backward()
    optimizer = SGD(shared.parameters(), lr=0.1)
    optimizer.step()
    y = (shared.weight * shared.weight).sum()
    y.backward(retain_graph=True)
    y.backward()


def test_trap_39_scalars_are_guarded_too():
    t = Tensor(3.0, label="x")
    y = t * t
    t.data += 1.0
    with pytest.raises(MutationError, match="'x'"):
        y.backward()
    t = Tensor(3.0, label="x")
    y = t * t
    t.data[...] = 5.0
    with pytest.raises(MutationError, match="'x'"):
        y.backward()
