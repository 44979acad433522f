"""A chain of Jacobians: the work of its product from either end, and in the best order."""

import itertools

import numpy as np
import pytest

from lab.autodiff.jacobian_chain import min_multiplications, multiplications, sizes


@pytest.mark.parametrize("chain", [[3, 4, 5, 1], [1, 6, 6, 6, 4], [5, 5, 5], [2, 7], [4, 1, 3, 2, 6]])
def test_what_is_counted_is_what_a_product_multiplies(chain):
    jacobians = [np.ones(shape) for shape in shapes_of(chain)]
    for end, in_order in (("left", jacobians), ("right", jacobians[::-1])):
        made, product = 0, in_order[0]
        for jacobian in in_order[1:]:
            left, right = (product, jacobian) if end == "left" else (jacobian, product)
            made += left.size * right.shape[1]
            product = left @ right
        assert multiplications(chain, end) == made
    assert min_multiplications(chain) <= min(multiplications(chain, "left"), multiplications(chain, "right"))


def shapes_of(chain):
    """The shapes of the Jacobians, the outermost function's first."""
    return [*zip(chain[1:], chain[:-1], strict=True)][::-1]


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
    assert min_multiplications(chain) == min(every_order(shapes_of(chain)))


def test_the_left_wins_for_one_result_and_the_right_for_one_input():
    wide = sizes(inputs=100, width=50, outputs=1, length=4)
    assert wide == [100, 50, 50, 50, 1]
    assert multiplications(wide, "left") == 50 * 50 + 50 * 50 + 50 * 100 == min_multiplications(wide)
    assert multiplications(wide, "right") == 50 * 50 * 100 * 2 + 50 * 100
    tall = wide[::-1]
    assert multiplications(tall, "right") == multiplications(wide, "left")
