"""Which upstream cells a gradient sums, against the engine, for shapes at random."""

import operator

import numpy as np
import pytest

from lab.autodiff.one_operation import run
from lab.autodiff.shapes import fit, read_shape

RNG = np.random.default_rng(11)


def gradient(sources, upstream, shape):
    """Add up the summands into a gradient in the shape of the operand."""
    flat = upstream.ravel()
    return np.array([sum(flat[term.cell] * term.factor for term in terms) for terms in sources], float).reshape(shape)


def shape_at_random():
    return tuple(int(n) for n in RNG.integers(1, 5, size=RNG.integers(0, 4)))


def shrunk(shape):
    """A shape that fits to this one: some axes of length 1, some missing."""
    shape = tuple(1 if RNG.random() < 0.4 else n for n in shape)
    return shape[RNG.integers(0, len(shape) + 1) :]


def agrees(operation, *operands):
    """The summands of each gradient add up to it."""
    found = run(operation, *operands)
    for sources, due in zip(found.sources, found.gradients, strict=True):
        np.testing.assert_allclose(gradient(sources, found.upstream, due.shape), due, rtol=1e-12, atol=1e-12)
    return found


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_the_terms_of_broadcasting_are_the_gradients_of_the_engine(operation):
    for _ in range(60):
        whole = shape_at_random()
        agrees(operation, *(RNG.normal(size=shrunk(whole)) for _ in range(2)))


def test_the_terms_of_a_matrix_product():
    for _ in range(60):
        n, k, m = RNG.integers(1, 5, size=3)
        found = agrees(operator.matmul, RNG.normal(size=(n, k)), RNG.normal(size=(k, m)))
        for i, row in enumerate(found.sources[0]):  # A[i, k] reaches row i, times row k of B
            assert [term.cell for term in row] == [i // k * m + j for j in range(m)]
            assert [term.factor for term in row] == found.operands[1][i % k].tolist()


@pytest.mark.parametrize("op", ["sum", "mean", "max"])
def test_the_terms_of_a_reduction(op):
    for _ in range(60):
        value = RNG.integers(0, 3, size=shape_at_random()).astype(float)  # with ties
        for axis in (None, *range(value.ndim)):
            agrees(lambda x, axis=axis: getattr(x, op)(axis), value)


@pytest.mark.parametrize("index", [0, (slice(None), 1), (1, 2), [0, 0, 2], (slice(None), slice(None, None, -1)), None])
def test_the_terms_of_indexing(index):
    agrees(lambda x: x[index], RNG.normal(size=(3, 4)))


def test_a_cell_taken_twice_has_two_summands_and_one_left_out_none():
    assert run(lambda x: x[[0, 0, 2]], np.array([5.0, 6.0, 7.0])).sources == ([[(0, 1.0), (1, 1.0)], [], [(2, 1.0)]],)


def test_shapes_fit_as_numpy_says():
    for _ in range(300):
        left, right = shape_at_random(), shape_at_random()
        axes = fit(left, right)
        try:
            due = np.broadcast_shapes(left, right)
        except ValueError:
            assert None in [axis.length for axis in axes]
        else:
            assert tuple(axis.length for axis in axes[::-1]) == due
    (only,) = fit((1,), (3,))
    assert only.copies("left")
    assert not only.copies("right")


@pytest.mark.parametrize(
    ("text", "shape"),
    [("3, 1", (3, 1)), ("(2,)", (2,)), ("", ()), ("()", ()), ("2x3×4", (2, 3, 4)), (" 4 ", (4,)), ("[1,2]", (1, 2))],
)
def test_shapes_are_read_as_they_are_typed(text, shape):
    assert read_shape(text) == shape


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a, 2", "lengths"), ("2.5", "lengths"), ("-1", "lengths"), ("0", "between 1 and 4"), ("5", "between"),
        ("1,1,1,1", "at most 3"), ("9" * 5000, "between"), ("²", "lengths"), ("x", "lengths"), ("2,,3", "lengths"),
        (",", "lengths"),
    ],
)  # read by rows  # fmt: skip
def test_what_is_no_shape_gets_a_sentence(text, said):
    with pytest.raises(ValueError, match=said):
        read_shape(text)
