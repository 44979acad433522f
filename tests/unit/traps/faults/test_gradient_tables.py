"""Gradients of two engines next to each other."""

import re

import numpy as np

from lab.traps.faults.gradient_tables import gradient_tables


def cells(html):
    return re.findall(r"<td[^>]*>([^<]*)</td>", html)


def test_what_differs_is_outlined_and_marked():
    html = gradient_tables("W", np.array([[1.0, -2.0], [3.0, 4.0]]), np.array([[1.0, -2.0], [3.0, 4.5]]))
    assert cells(html) == ["1", "−2", "3", "4", "1", "−2", "3", "≠ 4.5"]
    assert html.count("outline:") == 1
    assert "1 of 4 elements differs" in html


def test_equal_gradients_have_no_mark():
    html = gradient_tables("a", np.array(2.0), np.array(2.0))
    assert cells(html) == ["2", "2"]
    assert "outline" not in html
    assert "equal" in html


def test_a_gradient_that_is_missing_of_another_shape_or_no_number_is_marked():
    assert "≠ None" in gradient_tables("a", np.array([1.0]), None)
    html = gradient_tables("b", np.array([1.0, 2.0]), np.ones((2, 2)))
    assert "shape (2, 2) instead of (2,)" in html
    assert sum("≠" in cell for cell in cells(html)) == 4
    assert "≠ NaN" in gradient_tables("x", np.array([1.0]), np.array([np.nan]))


def test_names_are_escaped():
    html = gradient_tables("<b>x", np.array(1.0), np.array(2.0))
    assert "<b>x" not in html
