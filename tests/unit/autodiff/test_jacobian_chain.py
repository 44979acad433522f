"""A chain of Jacobians: the same product from either end, and the work that was counted."""

import itertools

import numpy as np
import pytest

from lab.autodiff.jacobian_chain import example, min_multiplications, multiplications, multiply, sizes


@pytest.mark.parametrize("chain", [[3, 4, 5, 1], [1, 6, 6, 6, 4], [5, 5, 5], [2, 7], [4, 1, 3, 2, 6]])
def test_what_is_counted_is_what_is_multiplied(chain):
    jacobians = example(chain)
    left, right = multiply(jacobians, "left"), multiply(jacobians, "right")
    assert left.matrix.shape == (chain[-1], chain[0])
    np.testing.assert_allclose(left.matrix, right.matrix, rtol=1e-12, atol=1e-12)
    assert left.multiplications == multiplications(chain, "left")
    assert right.multiplications == multiplications(chain, "right")
    assert min_multiplications(chain) <= min(left.multiplications, right.multiplications)


def every_order(shapes):
    if len(shapes) == 1:
        return [0]
    return [
        rows * shapes[i - 1][1] * columns + a + b
        for i in range(1, len(shapes))
        for rows, columns in [(shapes[0][0], shapes[-1][1])]
        for a, b in itertools.product(every_order(shapes[:i]), every_order(shapes[i:]))
    ]


def test_the_fewest_are_the_fewest_of_every_order():
    chain = [4, 1, 3, 2, 6, 2]
    shapes = [jacobian.shape for jacobian in example(chain)]
    assert min_multiplications(chain) == min(every_order(shapes))


def test_the_left_wins_for_one_result_and_the_right_for_one_input():
    wide = sizes(inputs=100, width=50, outputs=1, length=4)
    assert wide == [100, 50, 50, 50, 1]
    assert multiplications(wide, "left") == 50 * 50 + 50 * 50 + 50 * 100 == min_multiplications(wide)
    assert multiplications(wide, "right") == 50 * 50 * 100 * 2 + 50 * 100
    tall = wide[::-1]
    assert multiplications(tall, "right") == multiplications(wide, "left")
