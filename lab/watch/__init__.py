"""Watch a program while it runs: `doctor` says which of the 25 failures a PyTorch script commits, from facts and not
from its text; `watch` records a forward and backward pass for the player.

PyTorch is imported when it is needed here, and nowhere else in the lab.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.watch.finding import RunFinding
from lab.watch.passes import RecordedPass, watch


@contextmanager
def doctor() -> Iterator[list[RunFinding]]:
    """Watch the PyTorch code of a `with` block. The list it gives is filled at the end of the block, or when it fails.

    What was found is printed to standard error as well. ImportError: PyTorch is not installed.
    """
    import sys

    from lab.watch.report import text
    from lab.watch.watcher import Watcher

    found: list[RunFinding] = []
    watcher: Any = Watcher()
    error: BaseException | None = None
    try:
        with watcher:
            yield found
    except BaseException as raised:
        error = raised
        raise
    finally:
        found += watcher.findings(error)
        print(text(found, watcher.notes(), error), file=sys.stderr)


__all__ = ["RecordedPass", "RunFinding", "doctor", "watch"]
