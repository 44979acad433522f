"""Watch a program while it runs: `doctor` reports which failures PyTorch code commits, from what it
computes rather than from its text; `watch` records forward and backward passes for the player.

Only this package imports PyTorch, and only when it is needed."""

from collections.abc import Iterator
from contextlib import contextmanager

from lab.watch.finding import RunFinding
from lab.watch.passes import RecordedPass, watch


@contextmanager
def doctor() -> Iterator[list[RunFinding]]:
    """Watch the PyTorch code of a `with` block; yield a list that holds the findings once the block has ended.

    The findings are also printed to standard error. Raises ImportError if PyTorch is not installed.
    """
    import sys

    from lab.watch.report import text
    from lab.watch.watcher import Watcher

    found: list[RunFinding] = []
    watcher = Watcher()
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
