"""What tests of learners' code share."""

import sys

import pytest

from lab.practice import isolation, process_pool


@pytest.fixture(autouse=True)
def limits_stay():
    """A right answer may change what holds for the whole of Python, and here it runs in the tests' own process."""
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)


@pytest.fixture(scope="module", params=["bubblewrap", "limits alone"])
def boxed(request):
    if request.param == "bubblewrap" and not isolation.bubblewrap_works():
        pytest.skip("bubblewrap is missing or does not work on this machine")
    return request.param == "bubblewrap"


@pytest.fixture(scope="module")
def pool(boxed):
    with process_pool.Pool(boxed) as pool:
        yield pool
