"""Lines over a plane."""

import numpy as np
import pytest

from lab.charts.contours import contour, frontiers
from lab.training.predictions import over_plane
from model import MLP


def linear_model(weight, bias):
    model = MLP((2, len(bias)), init="zeros", dtype=np.float32)
    model.layers[0].weight.data = np.array(weight, np.float32)
    model.layers[0].bias.data = np.array(bias, np.float32)
    return model


def test_the_contour_lies_where_the_field_is_zero():
    xs, ys = np.linspace(-2, 2, 31), np.linspace(-2, 2, 33)
    field = xs[None, :] ** 2 + ys[:, None] ** 2 - 1
    ends = np.concatenate(contour(field, xs, ys))
    assert len(ends) > 50
    assert np.allclose(np.hypot(*ends.T), 1, atol=0.02)


def test_a_saddle_is_cut_twice():
    assert len(contour(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.arange(2.0), np.arange(2.0))) == 2


@pytest.mark.parametrize(("classes", "rays"), [(2, 2), (3, 3)])
def test_frontiers_of_every_pair_of_classes(classes, rays):
    angles = 2 * np.pi * np.arange(classes) / classes
    model = linear_model(10 * np.array([np.cos(angles), np.sin(angles)]), np.zeros(classes))
    xs = ys = np.linspace(-1, 1, 41)
    ends = np.concatenate(frontiers(over_plane(model, xs, ys), xs, ys))
    directions = {round(float(np.degrees(np.arctan2(y, x)) % 360) / 10) for x, y in ends if np.hypot(x, y) > 0.5}
    assert len(directions) == rays


def test_a_network_that_is_not_a_number_has_no_frontier():
    model = linear_model([[np.nan, 1], [0, 0]], [0, 0])
    xs = ys = np.linspace(-1, 1, 5)
    assert frontiers(over_plane(model, xs, ys), xs, ys) == []
