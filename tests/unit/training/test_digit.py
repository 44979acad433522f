"""A drawn digit in the form of the digits that were learned."""

import numpy as np
import pytest

from lab.training.images import DIGITS, LEVELS, SIDE, normalise, parse_drawing


def bitmap(rows, columns):
    drawn = np.zeros((SIDE, SIDE), dtype=np.uint8)
    drawn[rows, columns] = 1
    return drawn


def test_a_text_becomes_a_bitmap():
    drawn = parse_drawing("1" + "0" * (SIDE * SIDE - 1))
    assert drawn.shape == (SIDE, SIDE)
    assert drawn[0, 0] == drawn.sum() == 1


@pytest.mark.parametrize("text", ["", "1" * 1023, "2" * 1024, "٠" * 1024, "1" * 1025])
def test_another_text_is_refused(text):
    with pytest.raises(ValueError, match="1024"):
        parse_drawing(text)


def test_an_empty_pad_is_an_empty_image():
    assert not normalise(bitmap([], [])).any()


def test_a_drawing_is_as_high_and_as_wide_as_the_digits_of_the_data():
    with np.load(DIGITS) as archive:
        digits = archive["images"].reshape(-1, 8, 8)
    for rows, columns, axis in ((32, 32, 1), (12, 20, 1), (9, 30, 1), (32, 32, 2), (12, 20, 2), (9, 30, 2)):
        drawn = normalise(bitmap(slice(rows), slice(columns)))
        assert np.array_equal(drawn.any(axis=axis - 1), np.median(digits.any(axis=axis), axis=0))


def test_a_drawing_is_moved_to_the_middle_and_scaled_whatever_its_place_and_size():
    bars = [normalise(bitmap(slice(2, 2 + 4 * k), slice(5, 5 + k))) for k in (1, 2, 3, 6)]
    for bar in bars:
        assert np.array_equal(bar, bars[0])
    assert bars[0][:, 3:5].min() == LEVELS  # a bar of 32 x 8 pixels in the middle
    assert bars[0].sum() == 8 * 2 * LEVELS


def test_a_digit_of_the_data_comes_back_as_it_was():
    with np.load(DIGITS) as archive:
        image = archive["images"][0].reshape(8, 8)
    drawn = np.kron(image > 8, np.ones((4, 4), dtype=np.uint8))
    assert np.corrcoef(normalise(drawn).ravel(), image.ravel())[0, 1] > 0.8
