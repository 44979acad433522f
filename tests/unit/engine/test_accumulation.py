"""Messages that arrive at one tensor add up, and nobody else sees it."""

import numpy as np
import pytest

from model import Tensor, concatenate, maximum


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


@pytest.mark.parametrize("choose", [Tensor.relu, Tensor.clip, Tensor.max, lambda t: maximum(t, 0.0)])
def test_trap_9_a_chosen_number_sends_a_message_of_its_own(choose):
    x = Tensor(2.0)
    chosen = choose(x)
    (x * 3.0 + (chosen * np.ones(2)).sum()).backward()  # the chosen one sends to x first, then `*` adds to x
    assert (x.grad, chosen.grad) == (5.0, 2.0)
