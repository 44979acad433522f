"""What the tests of training share."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.training import sweep


@pytest.fixture
def workers_in_this_process(monkeypatch):
    """A sweep trains its runs in this process, one after the other: for tests of what it leaves behind.

    Each worker process takes 2 s of processor time to begin, and test_sweep.py tests them.
    """
    monkeypatch.setattr(sweep, "local_workers", lambda runs: ThreadPoolExecutor(1))
