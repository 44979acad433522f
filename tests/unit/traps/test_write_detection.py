"""The thorough guard sees what a learner's own closure captured, and refuses nothing that is right."""

import numpy as np
import pytest

from lab.traps import MutationError, detect_mutation
from model import Tensor, allow_mutation


def scaled(x, factors):
    """An operation whose author keeps an array of their own: only the thorough guard can know of it."""

    def _backward(upstream):
        x.accumulate(upstream * factors)

    return x.node(x.numpy() * factors, (x,), "scaled", _backward)


def test_an_array_that_your_own_closure_captured_is_seen_here_and_only_here():
    factors = np.array([2.0, 3.0])
    x = Tensor([1.0, 1.0])
    y = scaled(x, factors)
    factors += 1.0
    y.backward(np.ones(2))
    np.testing.assert_array_equal(x.grad, [3.0, 4.0])  # wrong: it was 2, 3 in the forward pass
    with detect_mutation() as Watched:
        x = Watched([1.0, 1.0])
        y = scaled(x, factors).sum()
        factors += 1.0
        with pytest.raises(MutationError, match=r"`scaled` needs the array `factors`.*Run the forward pass again"):
            y.backward()
        assert x.grad is None


def test_it_looks_through_a_function_that_a_closure_captured():
    factors = np.array([2.0, 3.0])

    def times(message):
        return message * factors

    with detect_mutation() as Watched:
        x = Watched([1.0, 1.0])
        y = x.node(x.numpy() * factors, (x,), "scaled", lambda upstream: x.accumulate(times(upstream)))
        factors[0] = 9.0
        with pytest.raises(MutationError, match="`factors`"):
            y.backward(np.ones(2))


def test_a_variable_that_was_given_another_value_counts_as_changed():
    with detect_mutation() as Watched:
        x, factors = Watched([1.0, 1.0]), np.array([2.0, 3.0])
        y = x.node(x.numpy() * factors, (x,), "scaled", lambda upstream: x.accumulate(upstream * factors))
        factors = 7.0
        with pytest.raises(MutationError, match="`factors`"):
            y.backward(np.ones(2))


def test_a_class_of_your_own_can_be_watched():
    class Mine(Tensor):
        __slots__ = ()

        def scaled(self, factors):
            return scaled(self, factors)

    factors = np.array([2.0, 3.0])
    with detect_mutation(Mine) as Watched:
        assert issubclass(Watched, Mine)
        y = Watched([1.0, 1.0]).scaled(factors).sum()
        factors[0] = 9.0
        with pytest.raises(MutationError, match="`factors`"):
            y.backward()


def test_a_write_is_detected_even_where_closures_share_their_arrays():
    with allow_mutation(), detect_mutation() as Watched:
        x = Watched([1.0, 2.0], label="x")
        y = (x * x).sum()
        x.data[0] = -7.0
        with pytest.raises(MutationError, match="'x'"):
            y.backward()


def test_a_freed_graph_is_refused_as_ever_and_plain_tensors_are_not_watched():
    with detect_mutation() as Watched:
        y = (Watched([1.0, 2.0]) * 2.0).sum()
        y.backward()
        with pytest.raises(RuntimeError, match="retain_graph=True"):
            y.backward()
    with allow_mutation():
        x = Tensor([1.0])
        y = x * x
        x.data[0] = 3.0
        y.backward()  # nothing is watched here
