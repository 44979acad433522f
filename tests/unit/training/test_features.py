"""Features of two inputs instead of the inputs themselves."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lab.training.config import Config, ConfigError
from lab.training.features import FEATURES, FeatureMLP, of_inputs
from lab.training.live import LiveRun
from lab.training.predictions import PlaneGrid, layer_maps
from train import Trainer, train

ROUND = Config(data="circles", hidden=(), features=("x2", "y2"), lr=0.05, epochs=6)


def test_features_are_what_their_names_say():
    x, y = np.array([[0.5, -2.0]]).T
    assert of_inputs(np.array([[0.5, -2.0]]), tuple(FEATURES))[0] == pytest.approx(
        [0.5, -2.0, 0.25, 4.0, -1.0, math.sin(1.5), math.sin(-6.0)]
    )
    assert x.shape == y.shape


def test_with_squares_a_circle_needs_no_hidden_layer():
    *_, last = train(ROUND)
    assert last["val_accuracy"] > 0.95
    *_, plain = train(replace(ROUND, features=()))
    assert plain["val_accuracy"] < 0.7


def test_a_copy_and_a_state_have_the_features_too():
    run = LiveRun(replace(ROUND, hidden=(3,)))
    run.advance(40)
    copy = run.network()
    assert isinstance(copy, FeatureMLP)
    xs = np.linspace(-1, 1, 4)
    x, y = np.meshgrid(xs, xs)
    weight, bias = (parameter.numpy() for parameter in copy.layers[0].parameters())
    expected = np.maximum(np.stack([x * x, y * y], axis=-1) @ weight + bias, 0)
    np.testing.assert_allclose(layer_maps(copy, PlaneGrid(xs, xs))[0], expected, atol=1e-5)
    again = Trainer(run.config)
    again.load_state(run.trainer.state())
    assert np.array_equal(again.weights(), run.trainer.weights())


@pytest.mark.parametrize("features", [("x", "x"), ("z",), "x2", [[]]])
def test_what_is_no_feature_is_refused(features):
    with pytest.raises(ConfigError, match="--features"):
        Config(features=features)


def test_features_are_for_two_inputs():
    with pytest.raises(ConfigError, match="'digits' has 64"):
        Trainer(Config(features=("x2",)))


def test_the_gradients_of_the_next_batch_are_those_of_the_step_to_come():
    trainer = Trainer(Config(data="moons", hidden=(4,), optimizer="sgd", lr=0.1, epochs=1))
    before = [layer.weight.numpy().copy() for layer in trainer.model.layers]
    expected = trainer.gradients(LiveRun(trainer.config).network())
    next(trainer.steps())
    for old, gradient, layer in zip(before, expected, trainer.model.layers, strict=True):
        np.testing.assert_allclose(layer.weight.numpy(), old - 0.1 * gradient, atol=1e-6)
