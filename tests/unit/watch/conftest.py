"""What the watcher finds in memory is what its program has left there."""

import gc

import pytest


@pytest.fixture(autouse=True, scope="module")
def what_other_tests_left_is_not_searched():
    """The watcher looks at all objects at the end of each program, and one test collects garbage for each: what other
    tests have left in this process need not be looked at each time."""
    gc.collect()
    gc.freeze()
