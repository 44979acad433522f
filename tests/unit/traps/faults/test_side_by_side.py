"""Code and gradients of two engines next to each other."""

import re
from html import unescape

import numpy as np

from lab.traps.faults.catalogue import FAULTS
from lab.traps.faults.side_by_side import code_pair, gradient_tables, value_tables


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
    html += value_tables({"<i>": np.array([0.5, -1.0])}, "a <u> b")
    html += code_pair(["- 1 <s> 2", "+ 3 <s> 4"], context=True)
    assert not re.search("<b>x|<i>|<u>|<s>", html)


def test_only_the_lines_that_matter_are_shown_on_request():
    html = code_pair(["  def f():", "-     return 1", "+     return 2"], context=False)
    assert re.findall(r">([^<>]*)\n</span>", html) == ["✗ return 1", "✓ return 2"]


def blocks(fault):
    """The lines of both excerpts, each with its mark."""
    found = re.findall(r"<pre.*?</pre>", code_pair(fault.difference, context=True), re.S)
    return [[unescape(line) for line in re.findall(r">([^<>]*)\n</span>", block)] for block in found]


def test_what_differs_in_long_code_is_seen_with_its_surroundings_at_once():
    for fault in FAULTS:
        for lines, sign in zip(blocks(fault), "-+", strict=True):
            assert len(lines) <= 15, fault.key
            told = [line[2:].strip() for line in fault.difference if line[0] == sign and line[2:].strip()]
            assert [line[1:].strip() for line in lines if line[0] in "✗✓"] == told
            assert lines[0][1:].strip().startswith(("def ", "Config(")), fault.key


def test_both_excerpts_show_the_same_part():
    for fault in FAULTS:
        broken, right = ([line for line in lines if line[0] == " " and line.strip(" …")] for lines in blocks(fault))
        assert broken == right, fault.key
