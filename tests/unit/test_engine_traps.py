"""The traps that automatic differentiation engines fall into, each with the test that this one does not."""

import asyncio
import functools
import gc
import itertools
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from op_table import CASES

import model
from lab.gradcheck import gradcheck
from model import (
    MLP,
    SGD,
    Adam,
    Linear,
    MutationError,
    Tensor,
    allow_mutation,
    binary_cross_entropy_with_logits,
    concatenate,
    cross_entropy,
    maximum,
    minimum,
    mse_loss,
    no_grad,
    stack,
    topological_order,
    where,
)


def grad_of(f, *arrays, upstream=None):
    """The gradients of f, for an upstream gradient of ones unless another is given."""
    leaves = [Tensor(array) for array in arrays]
    output = f(*leaves)
    output.backward(np.ones(output.shape) if upstream is None else upstream)
    gradients = [leaf.grad for leaf in leaves]
    return gradients[0] if len(gradients) == 1 else gradients


# ---------------------------------------------------------------- graph and accumulation


def test_trap_01_the_same_parent_twice_receives_both_messages():
    assert grad_of(lambda x: x * x, 3.0) == 6.0
    assert grad_of(lambda x: x + x, 3.0) == 2.0
    assert grad_of(lambda x: x - x, 3.0) == 0.0
    assert grad_of(lambda x: x / x, 3.0) == 0.0
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(
        grad_of(lambda x: x @ x, matrix), np.ones((2, 2)) @ matrix.T + matrix.T @ np.ones((2, 2))
    )
    x = Tensor(3.0)
    assert (x * x)._children == (x, x)  # two edges in a drawing


def test_trap_02_the_same_weight_twice_in_a_chain():
    x, w = np.array([[1.0, 2.0]]), np.array([[0.5, -1.0], [2.0, 0.25]])
    assert gradcheck(lambda x, w: x @ w @ w, [x, w])
    ones = np.ones((1, 2))
    np.testing.assert_allclose(
        grad_of(lambda w: Tensor(x) @ w @ w, w), x.T @ (ones @ w.T) + (x @ w).T @ ones, rtol=1e-14
    )


def test_trap_03_a_reused_interior_node():
    def diamond(a):
        b = a + a
        return b + b

    assert grad_of(diamond, 1.0) == 4.0

    def shared(a, b):
        h = a * b
        return h * h + h

    a, b = grad_of(shared, 2.0, 3.0)
    assert (a, b) == (13 * 3.0, 13 * 2.0)


def test_trap_03_topological_order_lists_each_tensor_once_after_its_children():
    a, b = Tensor(1.0, label="a"), Tensor(2.0, label="b")
    h = a * b
    left, right = h + a, h * h
    root = left * right
    order = topological_order(root)
    assert len(order) == len(set(order)) == 6
    assert order[-1] is root
    for i, node in enumerate(order):
        assert set(node._children) <= set(order[:i])
    assert topological_order(a) == [a]


def test_trap_04_deep_diamonds_take_linear_time():
    x = Tensor(1.0)
    y = x
    for _ in range(60):
        y = y + y
    start = time.perf_counter()
    y.backward()
    assert time.perf_counter() - start < 0.5  # 2**60 paths
    assert x.grad == 2.0**60


def test_trap_05_a_long_chain_neither_forward_backward_nor_freeing_recurses():
    length = 100_000
    x = Tensor(1.0)
    y = x
    for _ in range(length):
        y = y + 1.0
    assert len(topological_order(y)) == 2 * length + 1
    y.backward()
    assert x.grad == 1.0


def test_trap_05_the_work_grows_with_the_length_and_not_with_its_square():
    def seconds(length):
        x = y = Tensor(1.0)
        start = time.process_time()
        for _ in range(length):
            y = -y
        y.backward()
        del y
        assert x.grad == 1.0
        return time.process_time() - start

    gc.disable()  # the collector's own walk over a growing heap is not the engine's time
    try:
        short, long = (min(seconds(length) for _ in range(3)) for length in (20_000, 200_000))
    finally:
        gc.enable()
    # 10 times the length takes 10 times as long, or 100 times if the work were quadratic. Memory that no longer fits
    # into a processor's cache has made it 25 times.
    assert long < 50 * short, f"{short:.3f} s for 20,000 operations, {long:.2f} s for 200,000"


@pytest.mark.parametrize("backward", ["none", "freed", "retained"])
def test_trap_05_dropping_a_long_chain_does_not_overflow_the_stack(backward):
    """In a process of its own: a recursive destructor kills the interpreter instead of raising."""
    call = {"none": "", "freed": "y.backward()", "retained": "y.backward(retain_graph=True)"}[backward]
    script = f"""
from model import Tensor
x = y = Tensor(0.5)
for _ in range(100_000):
    y = (y * 1.0).sin()
{call}
del y
print("alive")
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert result.stdout.strip() == "alive", result.stderr[-500:]


def test_trap_06_a_second_backward_is_refused_with_the_remedy():
    x = Tensor(3.0)
    y = x * x * x
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()
    assert x.grad == 27.0  # not 72: nothing was added


def test_trap_06_retain_graph_allows_it_leaves_accumulate_and_interiors_do_not():
    x = Tensor(3.0)
    h = x * x
    y = h * x
    y.backward(retain_graph=True)
    assert (x.grad, h.grad, y.grad) == (27.0, 3.0, 1.0)
    y.backward(retain_graph=True)
    assert (x.grad, h.grad, y.grad) == (54.0, 3.0, 1.0)
    y.backward()
    assert x.grad == 81.0
    with pytest.raises(RuntimeError, match="freed"):
        y.backward()


def test_trap_07_two_losses_on_a_trunk_that_the_first_one_freed():
    x = Tensor(3.0)
    trunk = x * x
    first, second = trunk * 2.0, trunk * 3.0
    first.backward()
    with pytest.raises(RuntimeError, match=r"freed.*retain_graph=True"):
        second.backward()
    assert x.grad == 12.0
    x.zero_grad()
    trunk = x * x
    first, second = trunk * 2.0, trunk * 3.0
    first.backward(retain_graph=True)
    second.backward()
    assert x.grad == 30.0


def test_trap_07_an_error_leaves_every_gradient_as_it_was():
    x = Tensor(3.0, label="x")
    trunk = x * x
    first, second = trunk * 2.0, (trunk * 3.0).exp()
    first.backward()
    before = x.grad, trunk.grad, first.grad, second.grad
    with pytest.raises(RuntimeError, match="freed"):
        second.backward()
    assert (x.grad, trunk.grad, first.grad, second.grad) == before


def test_trap_08_gradients_over_two_graphs_accumulate_until_zeroed():
    x = Tensor(1.0)
    (x * 2.0).backward()
    (x * 3.0).backward()
    assert x.grad == 5.0
    x.zero_grad()
    assert x.grad is None
    (x * 3.0).backward()
    assert x.grad == 3.0


@pytest.mark.parametrize("op", [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: concatenate([a, b])])
def test_trap_09_messages_to_two_parents_are_not_the_same_array(op):
    a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    first = (a * 10.0).sum()
    total = op(a, b)
    weighted = (total * 1.0).sum()
    (first + weighted).backward()  # the message of `a * 10` comes last, into a gradient that exists
    np.testing.assert_array_equal(np.abs(b.grad), [1.0, 1.0])
    np.testing.assert_array_equal(a.grad, [11.0, 11.0])
    np.testing.assert_array_equal(total.grad, np.ones(total.shape))
    a.grad += 100.0  # nor is it when the learner writes to a gradient
    np.testing.assert_array_equal(np.abs(b.grad), [1.0, 1.0])


def test_trap_09_shape_operations_do_not_share_their_gradient_with_their_result():
    for move in (
        lambda t: t.reshape(3, 2),
        lambda t: t.T,
        lambda t: t.broadcast_to((2, 3)),
        lambda t: t[:],
        lambda t: t + 0.0,
        lambda t: t.sum(axis=()),
        lambda t: t.expand_dims(0),
    ):
        x = Tensor(np.arange(6.0).reshape(2, 3))
        other = (x * 5.0).sum()
        y = move(x)
        (other + (y * 2.0).sum()).backward()
        np.testing.assert_array_equal(x.grad, np.full((2, 3), 7.0))
        np.testing.assert_array_equal(y.grad, np.full(y.shape, 2.0))


def test_trap_10_a_broadcast_message_can_be_added_to():
    x = Tensor([1.0, 2.0, 3.0])
    (x.sum() + x.sum() + x.mean() + (x * x).sum()).backward()
    np.testing.assert_allclose(x.grad, 2 + 1 / 3 + 2 * np.array([1.0, 2.0, 3.0]))
    x.grad += 1.0  # and the learner can write to it


def test_trap_11_the_incoming_gradient_is_never_written_to():
    seed = np.array([[1.0, -2.0, 0.5]])
    before = seed.copy()
    x = Tensor([[0.1, 0.2, 0.3]])
    for f in (
        lambda t: t.softmax(),
        lambda t: t.relu(),
        lambda t: t * t,
        lambda t: t + t,
        lambda t: -t,
        lambda t: t.T.T,
    ):
        y = f(x)
        y.backward(seed)
        np.testing.assert_array_equal(seed, before)
        assert y.grad is not seed
        y.grad += 1  # the gradient of the root is a copy of what was passed
        np.testing.assert_array_equal(seed, before)


def test_trap_12_a_graph_is_freed_without_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        x = Tensor(np.ones((50, 50)))
        for use in ("dropped", "freed", "retained"):
            y = ((x @ x).relu().softmax() * x.exp()).sum()
            inner = weakref.ref(y._children[0])
            if use != "dropped":
                y.backward(retain_graph=use == "retained")
            del y
            assert inner() is None, use
    finally:
        gc.enable()


def test_trap_12_every_operation_is_free_of_reference_cycles():
    gc.collect()
    gc.disable()
    try:
        for case in {case.op: case for case in CASES}.values():
            leaves = [Tensor(array) for array in case.inputs]
            output = case.call(leaves)
            alive = weakref.ref(output)
            del output
            assert alive() is None, case.id
    finally:
        gc.enable()


def test_trap_12_memory_is_flat_over_training_steps_with_the_collector_off():
    rng = np.random.default_rng(0)
    x, labels = Tensor(rng.normal(size=(32, 20)), requires_grad=False), rng.integers(0, 5, 32)
    net = MLP([20, 32, 5], rng=0)
    optimizer = Adam(net.parameters())

    def steps(n):
        for _ in range(n):
            loss = cross_entropy(net(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        steps(50)
        before = tracemalloc.get_traced_memory()[0]
        steps(1000)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        gc.enable()
    assert grown < 50_000, f"{grown} bytes more after 1,000 steps"


def test_trap_13_item_and_numpy_keep_no_graph_alive():
    x = Tensor(np.ones(1000))
    total = 0.0
    for _ in range(3):
        loss = (x * x).sum()
        inner = weakref.ref(loss._children[0])
        total += loss.item()
        copy = loss.numpy()
        del loss
        assert inner() is None
    assert type(total) is float
    assert total == 3000.0
    assert copy == 1000.0
    assert "item()" in Tensor.__doc__  # and it is documented


def test_trap_13_item_refuses_more_than_one_element():
    with pytest.raises(ValueError, match=r"exactly one element.*\(2,\)"):
        Tensor([1.0, 2.0]).item()
    assert Tensor([[4.0]]).item() == 4.0


def test_trap_14_branches_without_gradient():
    x, c, unused = Tensor(2.0), Tensor(5.0, requires_grad=False), Tensor(7.0)
    hidden = x * 3.0
    y = x * c + hidden.detach() * x + 4.0
    y.backward()
    assert x.grad == 5.0 + 6.0
    assert c.grad is None
    assert unused.grad is None
    assert hidden.grad is None


def test_trap_14_an_expression_of_constants_is_a_constant():
    c = Tensor(5.0, requires_grad=False)
    y = (c * 2.0).exp()
    assert not y.requires_grad
    assert y._children == ()
    with pytest.raises(RuntimeError, match="nothing to differentiate"):
        y.backward()


@pytest.mark.parametrize("make", [lambda p: SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1), lambda p: Adam(p, lr=0.1)])
def test_trap_14_the_optimizer_skips_a_parameter_without_gradient(make):
    used, unused = Tensor([1.0]), Tensor([1.0])
    optimizer = make([used, unused])
    (used * 2.0).sum().backward()
    optimizer.step()
    assert used.numpy() != 1.0
    assert unused.numpy() == 1.0
    optimizer.zero_grad()
    assert used.grad is None


def test_trap_15_backward_without_a_graph_or_without_a_starting_gradient():
    with pytest.raises(RuntimeError, match=r"nothing to differentiate.*'w'"):
        Tensor(1.0, label="w").backward()
    y = Tensor([[1.0, 2.0]]) * 2.0
    with pytest.raises(RuntimeError, match=r"2 elements.*\.sum\(\)"):
        y.backward()
    with pytest.raises(ValueError, match=r"\(2,\).*\(1, 2\)"):
        y.backward(np.ones(2))
    y.backward(np.ones((1, 2)))
    one = Tensor([[3.0]])
    (one * 2.0).backward()  # a single element of any shape needs no starting gradient
    np.testing.assert_array_equal(one.grad, [[2.0]])


def in_a_loop_of_its_own(coroutine):
    """Run it in a fresh thread: the browser tests leave an event loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(coroutine())).result()


def test_trap_16_no_grad_nests():
    x = Tensor(2.0)
    with no_grad():
        with no_grad():
            assert not (x * x).requires_grad
        assert not (x * x).requires_grad
    assert (x * x).requires_grad


def test_trap_16_one_no_grad_object_can_be_entered_again():
    x, block = Tensor(2.0), no_grad()
    with block, block:
        assert not (x * x).requires_grad
    assert (x * x).requires_grad


def test_trap_16_no_grad_as_decorator_with_and_without_parentheses():
    @no_grad()
    def with_parentheses(x):
        """Doc."""
        return x * x

    @no_grad
    def without(x):
        return with_parentheses(x) + x

    x = Tensor(2.0)
    assert not with_parentheses(x).requires_grad
    assert not without(x).requires_grad
    assert (x * x).requires_grad
    assert with_parentheses.__name__ == "with_parentheses"
    assert with_parentheses.__doc__ == "Doc."

    @no_grad
    def recursive(n, x):
        return x * x if n == 0 else recursive(n - 1, x)

    assert not recursive(5, x).requires_grad
    assert (x * x).requires_grad


def test_trap_16_an_exception_inside_no_grad_restores_the_mode():
    x = Tensor(2.0)
    with pytest.raises(KeyError), no_grad():
        raise KeyError("inside")

    @no_grad
    def fails():
        raise KeyError("inside")

    with pytest.raises(KeyError):
        fails()
    assert (x * x).requires_grad


def generator():
    yield


async def coroutine():
    pass


async def async_generator():
    yield


def object_with(call):
    """An object whose call runs as this function does."""
    return type("Called", (), {"__call__": staticmethod(call)})()


RUN_LATER = [generator, coroutine, async_generator]


@pytest.mark.parametrize("decorate", [no_grad, no_grad(), allow_mutation()])
@pytest.mark.parametrize("function", [*RUN_LATER, *map(object_with, RUN_LATER), functools.partial(generator)])
def test_trap_16_what_runs_after_the_call_cannot_be_decorated(decorate, function):
    with pytest.raises(TypeError, match=r"generator or an async function.*`with no_grad\(\):` inside it"):
        decorate(function)


def test_trap_16_blocks_that_end_out_of_order_leave_no_mode_behind():
    x = Tensor(2.0)

    def without():
        with no_grad():
            yield

    first, second = without(), without()
    next(first), next(second)
    first.close(), second.close()
    assert (x * x).requires_grad


def test_trap_16_one_block_may_be_used_by_several_threads_at_once():
    x, block = Tensor([2.0]), no_grad()
    inside, done, seen = threading.Event(), threading.Event(), []

    def visitor():
        with allow_mutation(), block:
            inside.set()
            done.wait(5)
        seen.append((x * x).requires_grad)

    thread = threading.Thread(target=visitor)
    thread.start()
    assert inside.wait(5)
    with block:
        assert not (x * x).requires_grad
    done.set()
    thread.join()
    y = (x * x).sum()
    x.data[0] = 5.0  # and the other thread's switched-off guard did not come here
    with pytest.raises(MutationError):
        y.backward()
    assert seen == [True]


def test_trap_16_no_grad_is_per_thread():
    x = Tensor(2.0)
    inside, done, seen = threading.Event(), threading.Event(), []

    def visitor():
        with no_grad():
            inside.set()
            done.wait(5)
            seen.append((x * x).requires_grad)

    thread = threading.Thread(target=visitor)
    thread.start()
    assert inside.wait(5)
    assert (x * x).requires_grad  # while the other thread is inside its block
    done.set()
    thread.join()
    assert seen == [False]


def test_trap_16_no_grad_is_per_task():
    x = Tensor(2.0)

    async def without():
        with no_grad():
            await asyncio.sleep(0.01)
            return (x * x).requires_grad

    async def recording():
        await asyncio.sleep(0.005)
        return (x * x).requires_grad

    async def both():
        return await asyncio.gather(without(), recording())

    assert in_a_loop_of_its_own(both) == [False, True]


def test_trap_16_the_guards_are_per_thread_too():
    x = Tensor([2.0])
    inside, done = threading.Event(), threading.Event()

    def visitor():
        with allow_mutation():
            inside.set()
            done.wait(5)

    thread = threading.Thread(target=visitor)
    thread.start()
    assert inside.wait(5)
    y = (x * x).sum()
    x.data[0] = 5.0
    with pytest.raises(MutationError):
        y.backward()
    done.set()
    thread.join()


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3, 1), (1, 4)),
        ((3,), (2, 3)),
        ((), (2, 3)),
        ((1,), (1, 1)),
        ((2, 1, 3), (4, 1)),
        ((0,), (1,)),
        ((0, 3), (1, 3)),
    ],
)
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
            x._accumulate(np.ones(shape))


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


def test_trap_19_axis_zero_is_not_taken_for_none():
    np.testing.assert_array_equal(Tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0).numpy(), [4.0, 6.0])
    np.testing.assert_array_equal(Tensor([[1.0, 2.0], [3.0, 4.0]]).max(axis=0).numpy(), [3.0, 4.0])


def test_trap_19_an_axis_that_does_not_exist_is_an_error():
    for op in ("sum", "mean", "max", "var", "std", "prod", "softmax", "log_softmax", "logsumexp", "norm"):
        with pytest.raises(ValueError, match=r"axis 5 .* out of bounds|no axis 5|axis 5"):
            getattr(Tensor(np.ones((2, 3))), op)(axis=5)


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
        with pytest.raises(ValueError, match=r"\(0, 3\) has no elements"):
            getattr(empty, op)()
        with pytest.raises(ValueError, match="no elements"):
            getattr(empty, op)(axis=0)
    assert empty.max(axis=1).shape == (0,)
    y = empty @ Tensor(np.ones((3, 2)))
    assert y.shape == (0, 2)
    w = Tensor(np.ones((3, 2)))
    y = Tensor(np.empty((0, 3))) @ w
    y.backward(np.empty((0, 2)))
    np.testing.assert_array_equal(w.grad, np.zeros((3, 2)))


@pytest.mark.parametrize("op", ["softmax", "log_softmax", "logsumexp"])
def test_trap_21_a_maximum_over_nothing_names_the_tensor(op):
    with pytest.raises(ValueError, match=r"'x' of shape \(2, 0\)"):
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
        with pytest.raises(ValueError, match="at least one axis"):
            Tensor(pair[0]) @ Tensor(pair[1])
    with pytest.raises(ValueError, match="at least one axis"):
        2.0 @ Tensor(np.ones(3))


@pytest.mark.parametrize("axes", [(1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (-1, 0, 1)])
def test_trap_23_transpose_uses_the_inverse_permutation(axes):
    x = np.arange(24.0).reshape(2, 3, 4)
    upstream = np.arange(24.0).reshape(x.transpose(axes).shape)
    gradient = grad_of(lambda t: t.transpose(*axes), x, upstream=upstream)
    expected = np.empty_like(x)
    expected.transpose(axes)[...] = upstream
    np.testing.assert_array_equal(gradient, expected)


def test_trap_23_transpose_refuses_axes_that_are_no_permutation():
    for axes in [(0, 0), (0,), (0, 1, 2)]:
        with pytest.raises(ValueError, match=r"\(2, 3\)|axis"):
            Tensor(np.ones((2, 3)), label="W").transpose(*axes)


def test_trap_24_reshape():
    x = np.arange(6.0).reshape(2, 3)
    for source in (x, x.T, x[::-1, ::2], np.asfortranarray(x)):
        assert gradcheck(lambda t: (t.reshape(-1) * np.arange(1.0, t.size + 1)).sum(), [source])
        np.testing.assert_array_equal(Tensor(source).reshape(-1).numpy(), source.reshape(-1))
    assert Tensor([[5.0]]).reshape(()).shape == ()
    assert Tensor(5.0).reshape(1, 1).shape == (1, 1)
    np.testing.assert_array_equal(grad_of(lambda t: t.reshape(()), [[5.0]]), [[1.0]])
    with pytest.raises(ValueError, match=r"6 elements of 'W' of shape \(2, 3\) as"):
        Tensor(x, label="W").reshape(4, 2)


def test_trap_25_duplicate_indices_add():
    np.testing.assert_array_equal(grad_of(lambda t: t[[0, 0, 2, 0]], np.zeros(3)), [3.0, 0.0, 1.0])
    np.testing.assert_array_equal(
        grad_of(lambda t: t[[0, 0, 1], [1, 1, 0]], np.zeros((2, 2))), [[0.0, 2.0], [1.0, 0.0]]
    )
    embedding = grad_of(lambda t: t[np.array([[0, 2], [2, 2]])], np.zeros((3, 2)))
    np.testing.assert_array_equal(embedding, [[1.0, 1.0], [0.0, 0.0], [3.0, 3.0]])


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.swapaxes(0, 3),
        lambda t: t.squeeze(0),
        lambda t: t.squeeze(5),
        lambda t: t.expand_dims(5),
        lambda t: t.transpose(0, 0),
        lambda t: t.reshape(7),
        lambda t: t.broadcast_to((2, 2)),
    ],
)
def test_trap_24_a_change_of_shape_that_is_impossible_names_the_tensor(change):
    with pytest.raises(ValueError, match=r"'W' of shape \(2, 3\)"):
        change(Tensor(np.ones((2, 3)), label="W"))


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


def test_trap_25_a_bad_index_is_an_index_error_with_the_name():
    for index in (5, (0, 0, 0), "a", 1.5):
        with pytest.raises(IndexError, match=r"'W' of shape \(2, 3\)"):
            Tensor(np.ones((2, 3)), label="W")[index]


def test_trap_25_a_list_or_array_used_as_index_may_change_afterwards():
    index = np.array([0, 1])
    x = Tensor([1.0, 2.0, 3.0])
    y = x[index]
    rows = x[(index,)]
    index[0] = 2
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [1.0, 1.0, 0.0])
    rows.sum().backward()
    np.testing.assert_array_equal(x.grad, [2.0, 2.0, 0.0])
    chosen = [0, 0]
    z = x[chosen]
    chosen[0] = 2
    x.zero_grad()
    z.sum().backward()
    np.testing.assert_array_equal(x.grad, [2.0, 0.0, 0.0])


def test_trap_25_a_tensor_cannot_be_written_to_by_index():
    x = Tensor([1.0, 2.0])
    with pytest.raises(TypeError):
        x[0] = 5.0


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
    with pytest.raises(ValueError, match=r"\(2, 1\), \(3, 1\) along axis 1"):
        concatenate([Tensor(np.ones((2, 1))), Tensor(np.ones((3, 1)))], axis=1)


def test_trap_26_stack_joins_along_a_new_axis():
    a, b = grad_of(lambda a, b: stack([a, b], axis=1), np.ones(3), np.ones(3), upstream=np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(a, [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(b, [1.0, 3.0, 5.0])
    assert stack([Tensor(1.0), 2.0, Tensor(3.0)]).shape == (3,)
    with pytest.raises(ValueError, match=r"\(2,\)"):
        stack([Tensor([1.0, 2.0]), Tensor([1.0])])


@pytest.mark.parametrize("join", [concatenate, stack])
def test_trap_26_joining_nothing_is_a_sentence(join):
    with pytest.raises(ValueError, match=rf"{join.__name__}.*(at least one|nothing|no tensors|empty)"):
        join([])


def test_trap_26_numbers_have_no_axis_to_be_joined_along():
    with pytest.raises(ValueError, match=r"concatenate .*\(\)"):
        concatenate([Tensor(1.0), Tensor(2.0)])


@pytest.mark.parametrize("loss", [mse_loss, binary_cross_entropy_with_logits])
def test_trap_27_losses_do_not_broadcast(loss):
    prediction = Tensor(np.zeros((3, 1)), label="prediction")
    for target in (np.zeros(3), np.zeros((1, 3)), Tensor(np.zeros(3)), 0.0):
        with pytest.raises(ValueError, match=r"'prediction' of shape \(3, 1\)"):
            loss(prediction, target)
    assert loss(prediction, np.zeros((3, 1))).shape == ()


def test_trap_27_cross_entropy_wants_a_row_per_label():
    with pytest.raises(ValueError, match=r"\(3, 2\).*shape \(3, 1\)"):
        cross_entropy(Tensor(np.zeros((3, 2))), np.zeros((3, 1), int))
    with pytest.raises(ValueError, match=r"\(n, classes\)"):
        cross_entropy(Tensor(np.zeros(3)), np.zeros(3, int))


# ---------------------------------------------------------------- types and NumPy


def test_trap_28_float32_stays_float32():
    t = Tensor(np.ones((2, 2), np.float32))
    results = [
        t * 2.0,
        2.0 * t,
        t + 1,
        1 - t,
        t / 3,
        3 / t,
        t**2,
        t**0.5,
        2**t,
        t * np.float64(2),
        np.pi * t,
        -t,
        abs(t),
    ]
    results += [t @ t, t.exp(), t.sigmoid(), t.softplus(), t.leaky_relu(), t.clip(0, 1), t.softmax(), t.logsumexp()]
    results += [
        t.mean(),
        t.var(),
        t.std(),
        t.norm(),
        t.max(),
        t.prod(),
        t.sum(),
        t[0],
        t.T,
        t.reshape(4),
        maximum(t, 0.5),
    ]
    results += [
        minimum(0.5, t),
        where(np.eye(2) > 0, t, 0.0),
        concatenate([t, np.ones((1, 2))]),
        stack([t, np.ones((2, 2))]),
    ]
    results += [mse_loss(t, np.zeros((2, 2))), cross_entropy(t, [0, 1]), binary_cross_entropy_with_logits(t, np.eye(2))]
    results += [t * np.ones(2), np.ones((2, 2)) @ t, t.mean() * 2.0, t.sum() / 3]
    for result in results:
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


@pytest.mark.parametrize("function", [np.exp, np.sin, np.sqrt, np.abs, np.negative, np.isnan])
def test_trap_31_a_numpy_function_of_a_tensor_is_a_type_error(function):
    with pytest.raises(TypeError):
        function(Tensor([1.0, 2.0]))


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
    t = Tensor([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(t > 2, [False, False, True])
    np.testing.assert_array_equal(t >= Tensor([1.0, 3.0, 3.0]), [True, False, True])
    np.testing.assert_array_equal(t == np.array([1.0, 0.0, 3.0]), [True, False, True])
    np.testing.assert_array_equal(t != 1.0, [False, True, True])
    np.testing.assert_array_equal(np.float64(2.0) > t, [True, False, False])
    np.testing.assert_array_equal(np.array([2.0, 2.0, 2.0]) <= t, [False, True, True])
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


def test_trap_33_constants_in_an_expression_are_copied_too():
    constant, condition, labels = np.array([1.0, 2.0]), np.array([True, False]), np.array([0, 1])
    t, logits = Tensor([3.0, 4.0]), Tensor(np.zeros((2, 2)))
    y = (t * constant).sum() + where(condition, t, 0.0).sum() + maximum(t, constant).sum() + (constant / t).sum()
    loss = cross_entropy(logits, labels)
    constant[:], condition[:], labels[:] = 100.0, False, 0
    y.backward()
    np.testing.assert_allclose(t.grad, [1 + 1 + 1 - 1 / 9, 2 + 0 + 1 - 2 / 16])
    loss.backward()
    np.testing.assert_allclose(logits.grad, [[-0.25, 0.25], [0.25, -0.25]])


# ---------------------------------------------------------------- in place

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


# ---------------------------------------------------------------- numerics

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


def test_trap_45_every_convention_is_stated_in_the_docstring():
    for phrase in (
        "relu'(0) = 0",
        "|x|'(0) = 0",
        "split evenly",
        "on the bounds",
        "x ** 0 at 0",
        "norm and std at 0",
        "log(0)",
    ):
        assert phrase in model.__doc__


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
        ([0, 3], "0 to 2"),
        ([0, -1], "0 to 2"),
        ([0.0, 1.0], "integer"),
        ([0.5, 1.0], "integer"),
        ([True, False], "integer"),
        ([0], r"\(2, 3\).*\(1,\)"),
        ([0, 1, 2], r"\(2, 3\).*\(3,\)"),
        (0, r"\(2, 3\)"),
        ([[0, 1]], r"\(2, 3\)"),
        (["a", "b"], "integer"),
        (Tensor([0.0, 1.0]), "integer"),
    ],
)
def test_trap_48_cross_entropy_refuses_labels_that_are_no_classes(labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cross_entropy(Tensor(np.zeros((2, 3)), label="logits"), labels)


@pytest.mark.parametrize("dtype", [int, np.int8, np.uint8, np.int64])
def test_trap_48_cross_entropy_takes_every_kind_of_integer(dtype):
    assert cross_entropy(Tensor(np.zeros((2, 3))), np.array([0, 2], dtype)).item() == pytest.approx(np.log(3))


def test_trap_49_adam_divides_outside_the_root_and_corrects_its_bias():
    for gradient in (1e-8, 1e-3, 5.0, -2.0):
        p = Tensor([1.0])
        p.grad = np.array([gradient])
        Adam([p], lr=0.1, eps=1e-8).step()
        expected = 1.0 - 0.1 * gradient / (abs(gradient) + 1e-8)  # at t = 1 the corrected means are g and g squared
        assert p.numpy()[0] == pytest.approx(expected, rel=1e-12)


def test_trap_49_adam_with_a_zero_gradient_stays_finite():
    p = Tensor([1.0, 2.0])
    optimizer = Adam([p], lr=0.1)
    for _ in range(3):
        p.grad = np.zeros(2)
        optimizer.step()
    np.testing.assert_array_equal(p.numpy(), [1.0, 2.0])


@pytest.mark.parametrize("make", [lambda p: SGD(p, lr=0.1, momentum=0.5), lambda p: Adam(p, lr=0.1)])
def test_trap_49_a_tied_parameter_is_stepped_once(make):
    once, twice = Tensor([1.0]), Tensor([1.0])
    once_optimizer, twice_optimizer = make([once]), make([twice, twice])
    for _ in range(2):
        once.grad, twice.grad = np.array([0.5]), np.array([0.5])
        once_optimizer.step()
        twice_optimizer.step()
    np.testing.assert_array_equal(once.numpy(), twice.numpy())


@pytest.mark.parametrize(
    ("init", "std"),
    [
        ("xavier", np.sqrt(2 / (600 + 300))),
        ("he", np.sqrt(2 / 600)),
        ("normal", 1.0),
        ("uniform", 1 / np.sqrt(3 * 600)),
        ("zeros", 0.0),
    ],
)
def test_trap_50_the_spread_of_the_initial_weights(init, std):
    weight = Linear(600, 300, init=init, rng=0).weight.numpy()
    assert weight.shape == (600, 300)
    assert weight.std() == pytest.approx(std, rel=0.01)
    assert weight.mean() == pytest.approx(0.0, abs=0.01 * std + 1e-12)


# ---------------------------------------------------------------- checking gradients (in full in test_gradcheck.py)


def test_trap_51_the_check_uses_a_random_cotangent():
    class SoftmaxWithoutGradient(Tensor):
        __slots__ = ()

        def softmax(self, axis=-1):
            def _backward(upstream):
                self._accumulate(np.zeros(self.shape))

            return self._node(Tensor.softmax(self, axis).numpy(), (self,), "softmax", _backward)

    x = np.array([0.3, -0.2, 0.9])
    assert gradcheck(lambda t: t.softmax().sum(), [x], tensor=SoftmaxWithoutGradient)  # what a plain sum sees
    assert not gradcheck(lambda t: t.softmax(), [x], tensor=SoftmaxWithoutGradient)


def test_trap_52_float32_is_checked_in_float64_and_the_inputs_are_untouched():
    x = np.array([0.1, 0.7], np.float32)
    before = x.tobytes()
    report = gradcheck(lambda t: t.exp(), [x])
    assert report
    assert "float32" in str(report)
    assert x.tobytes() == before


def test_trap_53_the_check_fails_on_none_and_names_the_worst_element():
    assert not gradcheck(lambda a, b: a * 1.0, {"a": 1.0, "b": 1.0})

    class WrongAtOne(Tensor):
        __slots__ = ()

        def _accumulate(self, message):
            super()._accumulate(message + np.array([0.0, 0.0, 1.0]))

    report = gradcheck(lambda x: x * 2.0, {"x": np.ones(3)}, tensor=WrongAtOne)
    assert not report
    assert report.worst.name == "x[2]"


def test_trap_54_kinks_are_reported():
    report = gradcheck(lambda x: x.relu(), {"x": np.array([-1.0, 0.0, 1.0])})
    assert report
    assert [kink.name for kink in report.kinks] == ["x[1]"]


def test_trap_55_a_broken_rule_is_caught():
    """One for the eye; test_engine_mutations.py does it for every rule and every small way to break it."""

    class Broken(Tensor):
        __slots__ = ()

        def __mul__(self, other):
            def _backward(upstream):
                self._accumulate(upstream * a)  # should be b
                other._accumulate(upstream * a)

            a, b = self.numpy(), other.numpy()
            return self._node(a * b, (self, other), "*", _backward)

    assert gradcheck(lambda a, b: a * b, [2.0, 3.0])
    assert not gradcheck(lambda a, b: a * b, [2.0, 3.0], tensor=Broken)
