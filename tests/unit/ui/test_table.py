"""Texts of learners and of errors on a page: plain, whatever signs they have."""

import pytest

from lab.ui.table import with_code


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`@` cannot multiply 'a_b' by 2", "`@` cannot multiply \\'a\\_b\\' by 2"),
        ("a $x$ and *b*", "a \\$x\\$ and \\*b\\*"),
        ("one ` alone", "one \\` alone"),
        ("`a*b`` c", "`a*b`\\` c"),
        ("``<b>`` x", "\\``<b>`\\` x"),
        ("two\n\nlines", "two lines"),
    ],
)
def test_only_what_stands_between_backticks_is_code(text, shown):
    assert with_code(text) == shown
