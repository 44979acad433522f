"""A remedy is tried for real: old and new settings from the same start."""

import time
from dataclasses import replace

import pytest

from lab.training.config import Config
from lab.training.datasets import load
from lab.training.doctor import diagnose
from lab.training.trial import TrialResult, can_be_tried, try_in_turn, try_remedy
from train import train

STUCK = Config(data="moons", samples=200, init="zeros", lr=0.01, hidden=(16,), epochs=25)


@pytest.fixture(scope="module")
def stuck():
    return diagnose(list(train(STUCK)), STUCK)


def test_a_remedy_that_cures_is_shown(stuck):
    (trial,) = try_in_turn(stuck, STUCK)
    assert trial.word == "cured"
    assert trial.finding.grade == "shown"
    assert trial.seeds == (0, 1, 2)
    assert trial.epochs == 25
    assert trial.after < 0.5 * trial.before
    assert str(trial) == (
        f"cured: validation loss {trial.before:.3g} to {trial.after:.3g} (median of 3 pairs of runs, seeds 0, 1, 2, "
        "25 epochs each)"
    )


def test_a_remedy_that_does_not_help_is_withdrawn_and_the_next_is_tried(stuck):
    useless = replace(stuck[0], settings={"lr": 1e-6})
    harmful = replace(stuck[0], settings={"lr": 1e5})
    trials = list(try_in_turn([useless, harmful, stuck[0]], STUCK))
    assert [trial.word for trial in trials][1:] == ["worse", "cured"]
    assert trials[0].word in ("no better", "worse")
    assert [trial.finding.grade for trial in trials] == ["suspected", "suspected", "shown"]


def test_advice_without_comparable_settings_is_not_tried(stuck):
    data = load("moons", samples=200)
    for settings in ({}, {"samples": 1000}, {"val_fraction": 0.2}):
        advice = replace(stuck[0], settings=settings)
        assert not can_be_tried(advice)
        assert not list(try_in_turn([advice], STUCK, data))


def test_a_loss_that_is_no_number_is_cured_by_one_that_is():
    wild = replace(STUCK, init="he", optimizer="sgd", lr=1e4, activation="leaky_relu", epochs=8)
    (trial,) = try_in_turn(diagnose(list(train(wild)), wild), wild)
    assert trial.word == "cured"
    assert "not a number to" in str(trial)


def test_an_experiment_that_is_watched_comes_to_the_same_result(stuck):
    config = replace(STUCK, epochs=12)
    data = load("moons", samples=200)
    experiment = TrialResult(stuck[0], config, data)
    deadline = time.monotonic() + 120
    while not experiment.done:
        assert time.monotonic() < deadline
        experiment.watch()
        time.sleep(0.02)
    assert experiment.result() == try_remedy(stuck[0], config, data)
    assert experiment.pair == 3


def test_without_validation_samples_the_training_loss_is_compared_and_named(stuck):
    config = replace(STUCK, val_fraction=0.0, epochs=5)
    assert ": training loss " in str(try_remedy(stuck[0], config))
