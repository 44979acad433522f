"""Optimizers and initial weights."""

import numpy as np
import pytest

from model import Tensor
from nn import SGD, Adam


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
    ("make", "name", "value"),
    [
        (lambda p: SGD(p, 0.1, momentum=0.9), "momentum", np.float64(0.5)),
        (lambda p: SGD(p, 0.1), "weight_decay", np.float64(0.5)),
        (lambda p: SGD(p, 0.1), "lr", np.float64(0.5)),
        (Adam, "eps", np.float64(1e-8)),
        (Adam, "betas", tuple(np.float64([0.8, 0.9]))),
    ],
)
def test_a_scheduler_with_numpy_numbers_leaves_parameters_in_float32(make, name, value):
    p = Tensor(np.float32([1.0, 2.0]))
    optimizer = make([p])
    setattr(optimizer, name, value)
    for _ in range(2):
        p.grad = np.ones(2, np.float32)
        optimizer.step()
    assert p.dtype == np.float32
    if name == "lr":
        assert p.numpy().tolist() == [0.0, 1.0]  # a new learning rate holds from the next step


def test_memory_that_was_copied_is_what_it_was():
    p = Tensor([1.0, 2.0])
    optimizer = Adam([p])
    p.grad = np.ones(2)
    optimizer.step()
    kept = dict(optimizer.memory)
    optimizer.step()
    assert kept["steps"].tolist() == [1]
    assert optimizer.memory["steps"].tolist() == [2]


def test_parameters_keep_their_numbers():
    with pytest.raises(AttributeError):
        SGD([Tensor([1.0])], 0.1).parameters.remove(None)
