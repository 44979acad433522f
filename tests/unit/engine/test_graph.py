"""The graph: which tensors a result depends on, in which order they are visited, when they are freed."""

import gc
import subprocess
import sys
import tracemalloc
import weakref

import numpy as np
import pytest
from op_table import CASES

from lab.gradcheck import gradcheck
from model import Tensor, cross_entropy, topological_order
from nn import MLP, SGD, Adam
from tests.unit.engine.gradients import grad_of


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
    assert (x * x).children == (x, x)  # two edges in a drawing


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
        assert set(node.children) <= set(order[:i])
    assert topological_order(a) == [a]


class Counted(Tensor):
    """A tensor that counts the work: messages, and how often tensors are looked up or compared."""

    __slots__ = ()
    count = 0

    def accumulate(self, message):
        Counted.count += 1
        super().accumulate(message)

    def __hash__(self):
        Counted.count += 1
        return object.__hash__(self)

    def __eq__(self, other):
        Counted.count += 1
        return self is other


def work(action):
    Counted.count = 0
    action()
    return Counted.count


def test_trap_04_deep_diamonds_take_linear_work():
    x = y = Counted(1.0)
    for _ in range(60):
        y = y + y
    assert work(y.backward) < 60 * 10  # there are 2**60 paths
    assert x.grad == 2.0**60


def test_trap_05_a_long_chain_recurses_in_neither_pass():
    length = 10 * sys.getrecursionlimit()
    x = y = Tensor(1.0)
    for _ in range(length):
        y = y + 1.0
    assert len(topological_order(y)) == 2 * length + 1
    y.backward()
    assert x.grad == 1.0


def test_trap_05_dropping_a_long_chain_does_not_overflow_the_stack():
    """In a process of its own: a recursive destructor kills the interpreter instead of raising.

    In a thread with a small stack, 10,000 operations are as deep as 300,000 would be on the usual one.
    """
    script = """
import threading
from model import Tensor

def drop(finish):
    x = y = Tensor(0.5)
    for _ in range(5_000):
        y = (y * 1.0).sin()
    finish(y)
    del y

threading.stack_size(256 * 1024)
for finish in (lambda y: None, lambda y: y.backward(), lambda y: y.backward(retain_graph=True)):
    thread = threading.Thread(target=drop, args=(finish,))
    thread.start()
    thread.join()
    print("alive")
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert result.stdout.split() == ["alive"] * 3, result.stderr[-500:]


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
        inner = weakref.ref(loss.children[0])
        total += loss.item()
        copy = loss.numpy()
        del loss
        assert inner() is None
    assert type(total) is float
    assert total == 3000.0
    assert copy == 1000.0
    assert "item()" in Tensor.__doc__  # and it is documented


def test_trap_14_branches_without_gradient():
    x, c, unused = Tensor(2.0), Tensor(5.0, requires_grad=False), Tensor(7.0)
    hidden = x * 3.0
    y = x * c + hidden.detach() * x + 4.0
    y.backward()
    assert x.grad == 5.0 + 6.0
    assert c.grad is None
    assert unused.grad is None
    assert hidden.grad is None


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
