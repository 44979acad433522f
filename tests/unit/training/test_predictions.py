"""Probabilities over the plane, and the lines where the likeliest class changes."""

import numpy as np
import pytest

from lab.training.predictions import (
    PlaneGrid,
    confusion,
    grid,
    layer_maps,
    over_plane,
    probabilities,
)
from nn import ACTIVATIONS, MLP


def linear_model(weight, bias):
    model = MLP((2, len(bias)), init="zeros", dtype=np.float32)
    model.layers[0].weight.data = np.array(weight, np.float32)
    model.layers[0].bias.data = np.array(bias, np.float32)
    return model


def test_the_grid_is_a_square_around_the_points():
    points = np.array([[-1.0, 0.0], [3.0, 1.0]])
    xs, ys = grid(points, 10)
    assert xs[0] < -1
    assert xs[-1] > 3
    assert ys[0] < 0
    assert ys[-1] > 1
    assert np.isclose(xs[-1] - xs[0], ys[-1] - ys[0])


def test_probabilities_are_a_softmax():
    model = linear_model([[0, 1], [0, 0]], [0, 0])
    assert np.allclose(probabilities(model, np.array([[np.log(3), 5.0]])), [[0.25, 0.75]])


def test_the_first_row_is_the_smallest_y():
    model = linear_model([[0, 0], [0, 10]], [0, 0])  # class 1 where y > 0
    answers = over_plane(model, np.linspace(-1, 1, 4), np.linspace(-1, 1, 6))
    assert answers.shape == (6, 4, 2)
    assert answers[0].argmax(axis=-1).tolist() == [0] * 4
    assert answers[-1].argmax(axis=-1).tolist() == [1] * 4


def test_confusion_counts_rows_as_the_truth():
    counts = confusion(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0]), 3)
    assert counts.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_the_map_of_a_unit_is_its_output():
    model = MLP((2, 3, 2), "tanh", rng=0, dtype=np.float32)
    xs, ys = np.linspace(-1, 1, 4), np.linspace(-2, 2, 5)
    maps = layer_maps(model, PlaneGrid(xs, ys))[0]
    weight, bias = model.layers[0].weight.numpy(), model.layers[0].bias.numpy()
    assert maps.shape == (5, 4, 3)
    assert np.allclose(maps[4, 1], np.tanh(np.array([xs[1], ys[4]], np.float32) @ weight + bias), atol=1e-6)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_probabilities_come_from_the_network_itself(activation):
    model = MLP((2, 5, 4, 3), activation, rng=1)
    model32 = MLP((2, 5, 4, 3), activation, rng=1, dtype=np.float32)
    inputs = np.random.default_rng(0).normal(size=(20, 2))
    assert np.allclose(probabilities(model32, inputs), model(inputs).softmax(axis=1).numpy(), atol=1e-5)
