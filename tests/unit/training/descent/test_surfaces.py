"""Functions of two parameters: over a grid as with numbers, and two weights of the network that was really trained."""

import numpy as np
import pytest

from lab.gradcheck import gradcheck
from lab.training.descent.surfaces import POINTS, REACH, SURFACES, TARGETS, trained
from model import Tensor, mse_loss
from nn import MLP

NETWORK = SURFACES["network"]


@pytest.mark.parametrize("surface", SURFACES.values(), ids=lambda surface: surface.title)
def test_heights_are_what_single_points_give_and_the_gradient_is_right(surface):
    heights, xs, ys = surface.heights()
    assert heights.shape == (len(ys), len(xs))
    assert (xs[0], xs[-1]) == (-REACH, REACH)
    for row, column in ((0, 0), (7, 30), (60, 12)):
        assert heights[row, column] == pytest.approx(surface.function(Tensor(xs[column]), Tensor(ys[row])).item())
    assert gradcheck(surface.function, {"x": surface.start[0], "y": surface.start[1]}).passed
    if surface.lowest:
        assert surface.function(*map(Tensor, surface.lowest)).item() == 0 <= heights.min()


def test_the_loss_is_that_of_the_engines_network():
    network = MLP((1, 3, 1), "tanh")
    for parameter, value in zip(network.parameters(), trained(), strict=True):
        parameter.data = np.array(value)
    assert NETWORK.function(Tensor(0.0), Tensor(0.0)).item() == pytest.approx(mse_loss(network(POINTS), TARGETS).item())
    network.parameters()[0].data[0, 1] += 0.5
    network.parameters()[2].data[1, 0] -= 0.25
    moved = mse_loss(network(POINTS), TARGETS).item()
    assert NETWORK.function(Tensor(0.5), Tensor(-0.25)).item() == pytest.approx(moved)
