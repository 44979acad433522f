"""The life of a tensor: states follow from what the engine did, whatever the learner presses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.training.descent.walk import SETTLED
from lab.traps.parameter_life import ACTIONS, MAX_ACTIONS, STATES, WHOLE_STEP, live, parse_life
from model import Tensor
from nn import SGD


def test_one_training_step_goes_through_the_states_in_order():
    life = live("flbs", lr=0.1)
    assert life.path == ["created", "forward", "loss", "backward", "freed", "updated"]
    w = life.log[-1].w
    assert w == pytest.approx(1 - 0.1 * -4)  # dL/dw = 4 w (w^2 - 2)


def test_a_kept_graph_can_be_gone_through_again_and_the_gradients_add_up():
    life = live("flrr", lr=0.1)
    assert life.state == "backward"
    assert [entry.gradient for entry in life.log[2:]] == [-4, -8]
    assert "added" in life.log[3].sentence


def test_a_second_backward_is_an_error_and_changes_nothing():
    life = live("flbb", lr=0.1)
    assert life.log[-1].failed
    assert "retain_graph" in life.log[-1].sentence
    assert life.state == "freed"
    assert life.log[-1].gradient == -4


def test_a_step_between_forward_and_backward_is_reported_by_the_guard():
    life = live("flrsb", lr=0.1)
    assert life.log[-1].failed
    assert "'w'" in life.log[-1].sentence
    assert life.state == "updated"


def test_a_learning_rate_too_high_diverges_and_a_small_one_finds_the_root():
    wild, calm = live(WHOLE_STEP * 12, lr=0.5), live(WHOLE_STEP * 20, lr=0.05)
    assert wild.state == "diverged"
    assert calm.log[-1].w == pytest.approx(np.sqrt(2), abs=1e-3)


def test_a_root_that_is_reached_is_called_converged_and_life_can_go_on():
    life = live(WHOLE_STEP * 20, lr=0.1)
    assert life.state == "converged"
    assert life.log[-1].w == pytest.approx(np.sqrt(2), abs=1e-3)
    first = next(i for i, entry in enumerate(life.log) if entry.state == "converged")
    assert abs(life.log[first].gradient) < SETTLED <= abs(life.log[first - len(WHOLE_STEP)].gradient)
    assert live(WHOLE_STEP * 19 + "f", lr=0.1).state == "forward"


@pytest.mark.parametrize("text", ["x", "l", "b", "fb", "lf", "f" * (MAX_ACTIONS + 1), "fl b", "F"])
def test_a_life_that_cannot_be_lived_is_refused(text):
    with pytest.raises(ValueError, match=text):
        parse_life(text)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(sorted(ACTIONS)), max_size=40), st.sampled_from([0.01, 0.1, 0.5]))
def test_any_life_can_be_replayed(letters, lr):
    text = ""
    for letter in letters:
        text += letter if letter in live(text, lr).possible else ""
    life = live(parse_life(text), lr)
    assert len(life.log) == len(text)
    assert life.state in STATES
    assert all(entry.sentence for entry in life.log)
    assert live(text, lr).log == life.log or not np.isfinite(life.log[-1].w)


def test_the_lines_on_the_buttons_do_what_was_run():
    text, lr = "flbzflrs", 0.1
    w = Tensor(1.0, label="w")
    names = {"w": w, "optimizer": SGD([w], lr=lr)}
    for letter, entry in zip(text, live(text, lr).log, strict=True):
        exec(ACTIONS[letter].code, names)
        assert w.item() == entry.w
        assert w.grad == entry.gradient


def test_at_the_end_of_a_long_life_nothing_more_is_possible():
    assert live("f" * MAX_ACTIONS, lr=0.1).possible == set()
    assert live("", lr=0.1).possible == {"f", "s", "z"}
