"""A right answer may change what holds for the whole of Python, and here it runs in the tests' own process."""

import sys

import pytest


@pytest.fixture(autouse=True)
def limits_stay():
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)
