"""Watch a PyTorch script while it runs, and say which of the 25 failures it commits, from facts and not from its text.

PyTorch is imported when `doctor` is called, and nowhere else in the lab.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.watch.finding import Finding


@contextmanager
def doctor() -> Iterator[list[Finding]]:
    """Watch the PyTorch code of a `with` block. The list it gives is filled at the end of the block, or when it fails.

    What was found is printed to standard error as well. ImportError: PyTorch is not installed.
    """
    import sys

    from lab.watch.report import text
    from lab.watch.watcher import Watcher

    found: list[Finding] = []
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
        print(text(found), file=sys.stderr)


__all__ = ["Finding", "doctor"]
