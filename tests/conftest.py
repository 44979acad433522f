"""What holds for all tests, whoever starts them and however busy the machine is."""

import asyncio
import gc
import os
import signal

import pytest
from hypothesis import settings

# The training process of a page gives way to everything else: while the tests keep all processors busy, it would hardly
# run at all. Here it is set for the processes that the tests start, too.
os.environ["TENSOR_LAB_NICENESS"] = "0"

# The arrays here are small: threads within an operation would spend more on waiting for each other than they save, and
# the tests keep the processors busy anyway. Libraries read it as they are imported.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"


# The first level is the same each time. The second tries new examples (`--hypothesis-profile=fresh`), and prints its seed.
settings.register_profile("seeded", derandomize=True, deadline=None, database=None)
settings.register_profile("fresh", deadline=None, database=None, print_blob=True)
settings.load_profile("seeded")


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items):
    """Mark as exhaustive the cases that `sample(n)` leaves out: it keeps the first, the last and some between, in
    whatever order they run."""
    cases = {}
    for item in items:
        if sample := item.get_closest_marker("sample"):
            cases.setdefault((sample.args[0], item.path, item.originalname), []).append(item)
    for (kept, *_), group in cases.items():
        group.sort(key=lambda item: [*item.callspec.indices.values()])
        chosen = {round(place * (len(group) - 1) / max(kept - 1, 1)) for place in range(kept)}
        for place, item in enumerate(group):
            if place not in chosen:
                item.add_marker("exhaustive")


def pytest_collection_finish():
    """What has been collected and imported by now stays to the end: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def ctrl_c():
    """Ctrl-C works, in this process and in those that it starts.

    It is inherited whether it does: what a shell script starts in the background, for example, ignores it.
    """
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.fixture(autouse=True)
def no_loop_is_running(request):
    """Playwright leaves its event loop marked as running between the browser's tests, also for those of another kind
    that come after them in the same process."""
    running = None if request.node.get_closest_marker("browser") else asyncio.events._get_running_loop()
    if running is None:
        yield
        return
    asyncio.events._set_running_loop(None)
    yield
    asyncio.events._set_running_loop(running)
