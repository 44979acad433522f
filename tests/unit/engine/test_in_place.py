"""Writing to values that a backward pass still needs: right here, refused by detect_mutation(), never silent.

One walk tries every way to write, on every operand and on the result of every operation of op_table.py, so a new
operation is walked without a line here. Inside allow_mutation() the same walk finds wrong gradients: that is the trap,
and it shows that each route writes.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from op_table import CASES

from lab.traps import MutationError, detect_mutation
from model import (
    Tensor,
    allow_mutation,
    concatenate,
    cross_entropy,
    no_grad,
    topological_order,
)
from nn import MLP, SGD, Adam, Linear

X = np.array([0.5, 2.0])
OPS = list(dict.fromkeys(case.op for case in CASES))

# ---------------------------------------------------------------- the walk


@dataclass(frozen=True)
class Route:
    """`prepare` runs before the operation (on its result: right after it), `write` between the two passes."""

    write: Callable[[Tensor, Any], Any]
    prepare: Callable[[Tensor], Any] = lambda t: None
    harmless: bool = False  # it writes to a copy: an error would be a false alarm


def augmented(t, _):
    t.data += 1.0


def step(make):
    def write(t, _):
        t.grad = np.ones(t.shape, t.dtype)  # what the batch before has left
        make([t]).step()
        t.grad = None

    return write


def add(t, array):
    array += 1.0


ROUTES = {
    "augmented assignment": Route(augmented),
    "item assignment": Route(lambda t, _: t.data.__setitem__(..., -3.0)),
    "one element": Route(lambda t, _: t.data.__setitem__((0,) * t.ndim, -3.0)),
    "out=": Route(lambda t, _: np.subtract(t.data, 9.0, out=t.data)),
    "a view taken after": Route(lambda t, _: t.data.reshape(-1)[:1].fill(-3.0)),
    "a view taken before": Route(add, lambda t: t.data.reshape(-1)[:1]),
    "another name, taken after": Route(lambda t, _: add(t, t.data)),
    "another name, taken before": Route(add, lambda t: t.data),
    "assignment to .data": Route(lambda t, _: setattr(t, "data", np.full(t.shape, -3.0))),
    "a detached tensor": Route(lambda t, detached: augmented(detached, None), lambda t: t.detach()),
    "an SGD step": Route(step(lambda p: SGD(p, lr=0.5))),
    "an Adam step": Route(step(lambda p: Adam(p, lr=0.5))),
    "an SGD step on an array handed out before": Route(step(lambda p: SGD(p, lr=0.5)), lambda t: t.data),
    "a copy by numpy(), taken before": Route(add, lambda t: t.numpy(), harmless=True),
    "a copy by numpy(), taken after": Route(lambda t, _: add(t, t.numpy()), harmless=True),
    "the array that the tensor was made from": Route(add, lambda t: t.source, harmless=True),
}
REPLACING = {"assignment to .data", "an SGD step", "an Adam step"}  # a new array: the closure keeps the old one


class Sourced(Tensor):
    """A leaf that remembers the array that it was made from."""

    __slots__ = ("source",)


def leaf(array, label, tensor):
    source = np.array(array)
    made = tensor(source, label=label)
    made.source = source
    return made


def outcome(case, route, target, right, tensor):
    """ "right", "refused" or "silent": what comes of a write to operand `target`, or to the result (None)."""
    leaves = [leaf(array, "abc"[i % 3], tensor) for i, array in enumerate(case.inputs)]
    handle = None if target is None else route.prepare(leaves[target])
    output = case.call(leaves)
    result = output * 1.0  # so that the result is an operand, too
    if target is None:
        output.source = output.numpy()
        handle = route.prepare(output)
    try:
        route.write(output if target is None else leaves[target], handle)
    except (ValueError, TypeError) as error:
        # the guard is off, and the array is a broadcast one that NumPy protects itself; or an optimizer of a result
        if not any(reason in str(error) for reason in ("read-only", "results of operations are none")):
            raise
        return "refused"
    try:
        result.backward(np.ones(result.shape))
    except MutationError:
        assert all(leaf.grad is None for leaf in leaves), "a refused pass has left a gradient behind"
        return "refused"
    same = all(np.array_equal(leaf.grad, g, equal_nan=True) for leaf, g in zip(leaves, right, strict=True))
    return "right" if same else "silent"


def sizes(case):
    return [array.size for array in (*case.inputs, case.call([Tensor(array) for array in case.inputs]).numpy())]


@pytest.fixture(scope="module")
def walked_cases():
    """A small and a large case of each operation, of those that have elements, with the right gradients."""
    found = []
    for op in OPS:
        cases = sorted((case for case in CASES if case.op == op and all(sizes(case))), key=lambda case: case.size)
        for case in {one.id: one for one in (cases[len(cases) // 4], cases[-1])}.values():
            leaves = [Tensor(array) for array in case.inputs]
            output = case.call(leaves)
            output.backward(np.ones(output.shape))
            found.append((case, [leaf.grad for leaf in leaves]))
    return found


@pytest.mark.parametrize("mode", [nullcontext, lambda: detect_mutation(Sourced), allow_mutation])
def test_trap_34_and_36_no_write_by_any_route_gives_a_wrong_gradient_silently(mode, walked_cases):
    found = Counter()
    for case, right in walked_cases:
        for name, route in ROUTES.items():
            for target in (*range(len(case.inputs)), None):
                with mode() as tensor:
                    result = outcome(case, route, target, right, tensor or Sourced)
                assert mode is allow_mutation or result != "silent", (case.id, name, target)
                found[name, result] += 1
    writing = {name for name, route in ROUTES.items() if not route.harmless}
    assert not any(found[name, "refused"] for name in ROUTES.keys() - writing)
    if mode is allow_mutation:
        assert {name for name, what in found if what == "silent"} == writing - REPLACING
    elif mode is not nullcontext:
        assert all(found[name, "refused"] for name in writing)


def test_no_closure_holds_an_array_that_somebody_else_can_write_to():
    """After the values of all tensors have been handed out, no captured array shares memory with them."""
    for case in CASES:
        order = topological_order(case.call([Tensor(array) for array in case.inputs]))
        handed_out = [tensor.data for tensor in order]
        for node in order:
            for cell in getattr(node.closure, "__closure__", None) or ():
                if isinstance(cell.cell_contents, np.ndarray):
                    assert not any(np.shares_memory(cell.cell_contents, array) for array in handed_out), case.id


# ---------------------------------------------------------------- what an operation needs

NEEDS = {
    "*": (lambda t: t * t, {"input"}),
    "**": (lambda t: t**3, {"input"}),
    "/": (lambda t: 1.0 / t, {"input", "output"}),  # it divides its result by the input once more
    "log": (lambda t: t.log(), {"input"}),
    "sin": (lambda t: t.sin(), {"input"}),
    "abs": (lambda t: t.abs(), {"input"}),
    "softplus": (lambda t: t.softplus(), {"input"}),
    "prod": (lambda t: t.prod(), {"input"}),
    "norm": (lambda t: t.norm(), {"input"}),
    "@": (lambda t: t @ t, {"input"}),
    "max": (lambda t: t.max(), {"input"}),
    "clip": (lambda t: t.clip(0, 1), {"input"}),
    "logsumexp": (lambda t: t.logsumexp(), {"input"}),
    "exp": (lambda t: t.exp(), {"output"}),
    "sqrt": (lambda t: t.sqrt(), {"output"}),
    "tanh": (lambda t: t.tanh(), {"output"}),
    "sigmoid": (lambda t: t.sigmoid(), {"output"}),
    "relu": (lambda t: t.relu(), {"output"}),
    "softmax": (lambda t: t.softmax(), {"output"}),
    "+": (lambda t: t + t, set()),
    "neg": (lambda t: -t, set()),
    "10 *": (lambda t: 10.0 * t, set()),
    "mean": (lambda t: t.mean(), set()),
    "getitem": (lambda t: t[::-1], set()),
    "concatenate": (lambda t: concatenate([t, t]), set()),
    "leaky_relu": (lambda t: t.leaky_relu(0.1), set()),
}


@pytest.mark.parametrize("op", NEEDS)
@pytest.mark.parametrize("target", ["input", "output"])
def test_trap_37_what_breaks_depends_on_what_was_saved(op, target):
    f, needs = NEEDS[op]
    right = Tensor(X)
    f(right).backward(np.ones(f(right).shape))
    for mode in (nullcontext, detect_mutation, allow_mutation):
        with mode() as watched:
            x = (watched or Tensor)(X, label="x")
            y = f(x)
            (x if target == "input" else y).data[...] = -3.0
            if mode is detect_mutation and target in needs:
                with pytest.raises(
                    MutationError, match="input, 'x' of shape" if target == "input" else "its own output"
                ):
                    y.backward(np.ones(y.shape))
                assert x.grad is None
            else:
                y.backward(np.ones(y.shape))
                assert np.allclose(x.grad, right.grad) is (mode is not allow_mutation or target not in needs)


@pytest.mark.parametrize("op", ["*", "@"])
def test_trap_39_a_write_to_what_only_a_constant_would_read_is_no_false_alarm(op):
    with detect_mutation() as watched:
        constant = watched(np.full((2, 2), 3.0), requires_grad=False)
        w = watched(np.ones((2, 2)))
    for first, second in ((w, constant), (constant, w)):
        result = first * second if op == "*" else first @ second
        w.data += 1.0
        w.zero_grad()
        result.backward(np.ones((2, 2)))
        assert (w.grad == (3.0 if op == "*" else 6.0)).all()


# ---------------------------------------------------------------- one by one


@pytest.fixture
def watched():
    with detect_mutation() as tensor:
        yield tensor


@pytest.mark.parametrize("handed_out", [False, True])
@pytest.mark.parametrize("make", [lambda p: SGD(p, lr=0.1), lambda p: Adam(p, lr=0.1)])
@pytest.mark.parametrize("detected", [False, True])
def test_trap_35_an_optimizer_step_between_forward_and_backward(make, handed_out, detected, watched):
    w = (watched if detected else Tensor)([2.0, 3.0], label="w")
    if handed_out:
        w.data.sum()  # somebody has looked at the values by their array
    w.grad = np.array([1.0, 1.0])
    loss = (w * w).sum()
    make([w]).step()
    w.zero_grad()
    if detected:
        with pytest.raises(MutationError, match="'w'"):
            loss.backward()
    else:
        loss.backward()
        np.testing.assert_array_equal(w.grad, [4.0, 6.0])  # at the values of the forward pass


def test_trap_36_a_name_taken_long_before(watched):
    t = watched(X, label="x")
    name = t.data
    for _ in range(3):  # training steps in between do not lose track of it
        (t * t).sum().backward()
    y = (t * t).sum()
    name[0] = 100.0
    assert t.numpy()[0] == 100.0
    with pytest.raises(MutationError):
        y.backward()


def test_trap_38_the_error_names_op_label_shape_cause_and_remedy_and_nothing_is_half_done(watched):
    w, x = watched([[1.0, 2.0]], label="W"), watched([[3.0], [4.0]], label="x")
    h = w @ x
    loss = (h * h).sum()
    w.data[0, 0] = 9.0
    before = w.grad, x.grad, h.grad, loss.grad
    for _ in range(2):  # and it says the same thing again
        with pytest.raises(MutationError) as caught:
            loss.backward()
        assert (w.grad, x.grad, h.grad, loss.grad) == before
        for part in ("`@`", "'W'", "(1, 2)", "written to", "forward pass again", "make a new tensor (t = t + change)"):
            assert part in str(caught.value)
        assert "_" not in str(caught.value)
    w.data[0, 0] = 1.0  # undone: now it is right again
    loss.backward()
    np.testing.assert_array_equal(w.grad, 22.0 * np.array([[3.0, 4.0]]))


def test_trap_39_no_false_alarm_in_an_ordinary_training_loop():
    """Graphs that are dropped, validation between steps, values that are read, two optimizers, shared parameters."""
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(12, 3)), rng.integers(0, 2, 12)
    net, other = MLP([3, 8, 2], rng=0), MLP([3, 8, 2], rng=1)
    other.layers[0].weight = net.layers[0].weight
    optimizers = [SGD(net.parameters(), lr=0.1, momentum=0.9), Adam(other.parameters(), lr=0.01)]
    losses = []
    for _ in range(5):
        for model, optimizer in zip((net, other), optimizers, strict=True):
            model(x).sum()  # a forward pass whose graph is dropped
            with no_grad():
                cross_entropy(model(x), labels)
            model.zero_grad()
            loss = cross_entropy(model(x), labels)
            validation = cross_entropy(model(x), labels)  # it recorded a graph that nobody uses
            for parameter in model.parameters():
                parameter.data.sum(), parameter.numpy()
            loss.backward()
            optimizer.step()
            del validation
            model.parameters()[0].data *= 0.999  # weight decay by hand, between steps
            losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_trap_39_no_false_alarm_for_a_write_that_changes_nothing_and_for_reading(watched):
    t = watched(X, label="x")
    y = (t.exp() * t).sum()
    t.data *= 1.0
    t.data[...] = X
    for read in (t.data.mean, t.numpy, t.__repr__, t.detach, t.transpose, lambda: t > 0):
        read()
    y.backward()
    np.testing.assert_allclose(t.grad, np.exp(X) * (1 + X))
    t = watched([np.nan, -1.0, 2.0])
    y = (t * t).sum()
    t.data.copy()
    y.backward()  # nan stays nan
    assert t.grad[1] == -2.0


def test_trap_39_a_retained_graph_keeps_the_values_of_its_forward_pass():
    shared = Linear(2, 2, rng=0)
    with pytest.raises(ValueError, match="input"):
        shared(Tensor(np.ones((1, 5))))  # an exception in the middle of a forward pass leaves nothing locked
    shared.weight.data += 0.1
    y = (shared(Tensor(np.ones((1, 2)))) ** 2).sum() + (shared.weight * shared.weight).sum()
    y.backward(retain_graph=True)
    once = shared.weight.grad.copy()
    SGD(shared.parameters(), lr=0.1).step()
    shared.weight.data *= 2.0
    y.backward()
    np.testing.assert_allclose(shared.weight.grad, 2.0 * once)


def test_trap_39_scalars_are_watched_too(watched):
    for write in (lambda t: augmented(t, None), lambda t: t.data.__setitem__(..., 5.0)):
        t = watched(3.0, label="x")
        y = t * t
        write(t)
        with pytest.raises(MutationError, match="'x'"):
            y.backward()


@pytest.mark.parametrize("make", [lambda t: t[:1], lambda t: t.reshape(2, 1), lambda t: t.T, lambda t: t + 0.0])
def test_a_write_to_a_tensor_made_from_another_is_not_one_to_the_other(make):
    t = Tensor(X)
    y = (t * t).sum()
    make(t).data[...] = 99.0
    y.backward()
    np.testing.assert_array_equal(t.grad, 2 * X)


# ---------------------------------------------------------------- allow_mutation


@pytest.mark.parametrize("inside", ["the array was handed out", "the operation was recorded"])
def test_what_happened_under_allow_mutation_is_detected_after_it(inside, watched):
    a = watched(X, label="a")
    if inside == "the array was handed out":
        y = a * a
        with allow_mutation():
            d = a.data
    else:
        d = a.data
        with allow_mutation():
            y = a * a
    d[:] = 5.0
    with pytest.raises(MutationError, match=r"'a' of shape \(2,\)"):
        y.backward(np.ones(2))
    assert a.grad is None


def test_what_was_not_handed_out_under_allow_mutation_is_trusted_after_it():
    with allow_mutation():
        a = Tensor([1.0, 2.0])
        y = a * a
    y.backward(np.ones(2))
    np.testing.assert_array_equal(a.grad, [2.0, 4.0])


def test_an_exception_inside_a_block_restores_the_mode():
    for block in (allow_mutation, no_grad):
        with pytest.raises(KeyError), block():
            raise KeyError
    x = Tensor(X)
    y = x * x
    x.data += 1.0
    y.backward(np.ones(2))
    np.testing.assert_array_equal(x.grad, 2 * X)
