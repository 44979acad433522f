"""A weight shared over time: its messages, their sum, their fading and exploding, and what detaching takes away."""

from itertools import product

import pytest

from lab.gradcheck import numerical_gradient
from lab.training.descent.over_time import FIRST_STATE, KINDS, by_length, unroll


@pytest.mark.parametrize(("kind", "w", "kept"), [*product(KINDS, (-1.1, 0.0, 0.5, 1.3), (None, 1, 3, 6))])
def test_the_messages_add_up_to_the_gradient_and_differences_agree(kind, w, kept):
    run = unroll(kind, w, 0.3, 6, kept)
    assert [message.time for message in run.messages] == list(range(6, 6 - (kept or 6), -1))
    assert sum(message.message for message in run.messages) == pytest.approx(run.gradient)
    assert run.gradient == pytest.approx(float(numerical_gradient(run.of_weight, w)), rel=1e-6, abs=1e-8)
    for message in run.messages:
        assert message.message == pytest.approx(message.upstream * message.state)


@pytest.mark.parametrize("w", [0.5, 1.0, 1.1])
def test_a_linear_state_fades_and_explodes_as_powers(w):
    run = unroll("linear", w, 0.0, 30)
    assert run.result == pytest.approx(FIRST_STATE * w**30)
    assert run.of_first == pytest.approx(w**30)
    assert [message.upstream for message in run.messages] == pytest.approx([w**k for k in range(30)])
    assert run.gradient == pytest.approx(30 * w**29)


def test_detaching_cuts_the_earlier_messages_and_leaves_the_later_ones():
    whole, cut = unroll("tanh", 1.2, 0.1, 9), unroll("tanh", 1.2, 0.1, 9, kept=4)
    assert cut.messages == whole.messages[:4]
    assert cut.result == whole.result
    assert cut.of_first == 0 != whole.of_first


def test_by_length_is_the_same_runs():
    sizes = by_length("tanh", 0.8, 0.5, kept=3)
    assert sizes["of w"][11] == (12, abs(unroll("tanh", 0.8, 0.5, 12).gradient))
    assert sizes["of w, when detached"][11] == (12, abs(unroll("tanh", 0.8, 0.5, 12, 3).gradient))
    assert sizes["of the first state"][11] == (12, unroll("tanh", 0.8, 0.5, 12).of_first)
