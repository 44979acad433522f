"""A leaf updated by hand: each way that loses the leaf is refused with its cure, each way that is right works."""

import operator
from contextlib import nullcontext

import numpy as np
import pytest

from model import Tensor, no_grad
from nn import SGD, Linear

IN_PLACE = [
    (operator.iadd, "+="), (operator.isub, "-="), (operator.imul, "*="), (operator.itruediv, "/="),
    (operator.ipow, "**="), (operator.imatmul, "@="),
]  # read by rows  # fmt: skip


@pytest.mark.parametrize("recording", [True, False])
@pytest.mark.parametrize(("change", "sign"), IN_PLACE)
def test_a_leaf_refuses_augmented_assignment_at_its_line(change, sign, recording):
    w = Tensor([1.0, 2.0], label="w")
    for other in (np.ones(2), Tensor([1.0, 2.0]), 0.5):
        with nullcontext() if recording else no_grad(), pytest.raises(RuntimeError) as refusal:
            change(w, other)
        assert f"`{sign}` would not change the leaf 'w' of shape (2,)" in str(refusal.value)
        assert f"to update it, write w.data {sign} ..." in str(refusal.value)
    assert w.numpy().tolist() == [1.0, 2.0]


def test_a_weight_of_a_layer_refuses_it_and_stays():
    layer = Linear(2, 1, rng=0)
    weight = layer.weight
    with pytest.raises(RuntimeError, match=r"weight\.data -= "):
        layer.weight -= np.ones((2, 1))
    assert layer.weight is weight
    unnamed = Tensor(1.0, label="W 1")
    with pytest.raises(RuntimeError, match=r"t\.data \*= "):  # W 1 is no name that can be written
        unnamed *= 2.0


def test_a_result_and_a_constant_are_rebound_as_ever():
    a, b = Tensor(2.0), Tensor(3.0)
    x = a * b
    x += a
    x *= b
    x.backward()
    assert (a.grad, b.grad) == (12.0, 14.0)
    total = 0.0
    for _ in range(3):
        total += a * b
    assert total.item() == 18.0
    constant = Tensor([1.0], requires_grad=False)
    constant += 1.0
    assert constant.numpy() == [2.0]
    array = np.ones(1)
    with pytest.raises(TypeError, match="does not support ufuncs"):
        array += a


@pytest.mark.parametrize("retain", [False, True])
def test_the_update_of_the_data_is_right(retain):
    w = Tensor([1.0, 2.0], label="w")
    for _ in range(3):
        w.zero_grad()
        (w * w).sum().backward(retain_graph=retain)
        w.data -= 0.1 * w.grad
    np.testing.assert_allclose(w.numpy(), np.array([1.0, 2.0]) * 0.8**3)


def message(run):
    with pytest.raises(RuntimeError) as refusal:
        run()
    return str(refusal.value)


def test_a_state_and_a_total_carried_over_get_their_cure():
    def recurrent():
        h, w = Tensor([0.0]), Tensor([0.5])
        for _ in range(2):
            h = (h * w + 1.0).tanh()
            h.sum().backward()

    def running_total():
        total, w = 0.0, Tensor(2.0)
        for _ in range(2):
            total = total + w * w
            total.backward()

    assert "detach()" in message(recurrent)
    assert "loss.item()" in message(running_total)


def test_two_losses_on_one_trunk_and_a_second_pass_get_their_cure():
    def two_losses():
        h = Tensor(2.0) * 3.0
        first, second = h * h, h + 1.0
        first.backward()
        (h * 5.0).item()  # a look at it, which no pass goes through
        second.backward()

    def twice():
        loss = Tensor(2.0) * 3.0
        loss.backward()
        loss.backward()

    for run in (two_losses, twice):
        assert "retain_graph=True" in message(run)


def test_an_update_under_no_grad_by_rebinding_names_the_right_way():
    def train():
        w = Tensor([1.0, 2.0])
        for _ in range(2):
            (w * w).sum().backward()
            with no_grad():
                w = w - 0.1 * w.grad

    assert "write w.data -= ... instead" in message(train)


def test_a_kept_gradient_stays_and_no_two_leaves_share_one():
    w, u = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    (w * w).sum().backward()
    history = [w.grad]
    u.grad = w.grad
    for _ in range(2):
        ((w * w).sum() + u.sum()).backward()
        history.append(w.grad)
    np.testing.assert_array_equal(history, [[2.0, 4.0], [4.0, 8.0], [6.0, 12.0]])
    np.testing.assert_array_equal(u.grad, [4.0, 6.0])


def test_a_tensor_assigned_as_a_gradient_becomes_an_array():
    w = Tensor([1.0, 2.0])
    w.grad = Tensor([1.0, 1.0])
    (w * w).sum().backward()
    assert type(w.grad) is np.ndarray
    assert w.grad.tolist() == [3.0, 5.0]
    w.grad = Tensor([1.0, 1.0])
    SGD([w], lr=0.5).step()
    assert w.numpy().tolist() == [0.5, 1.5]
    scalar = Tensor(1.0)
    scalar.grad = Tensor(2.0)
    (scalar * 3.0).backward()
    assert type(scalar.grad) is np.float64
    assert scalar.grad == 5.0
