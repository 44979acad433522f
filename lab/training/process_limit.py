"""The limit for training processes, which the visitors of a server share."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass


@dataclass
class _Request:
    visitor: Hashable
    until: float  # time at which it lapses, unless it is repeated


class ProcessLimit:
    """Decides which trainings may run at once: one of each visitor before anybody's second, the first to ask first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._requests: dict[Hashable, _Request] = {}  # by training, in the order in which they began to ask
        self._lock = threading.Lock()

    def ask(self, training: Hashable, visitor: Hashable, patience: float) -> int:
        """Return how many have to end before this training may run; 0 lets it run.

        The answer holds until the next call, which must come within `patience` seconds, also while the training runs.
        """
        with self._lock:
            now = time.monotonic()
            self._requests = {other: one for other, one in self._requests.items() if one.until >= now}
            self._requests.setdefault(training, _Request(visitor, 0.0)).until = now + patience
            return max(0, self._in_turn().index(training) + 1 - self.limit)

    def release(self, training: Hashable) -> None:
        """Give the place of a training to the next one."""
        with self._lock:
            self._requests.pop(training, None)

    def _in_turn(self) -> list[Hashable]:
        """Return the trainings in the order of their right to run."""
        counts: Counter[Hashable] = Counter()
        rank = {}
        for training, request in self._requests.items():
            rank[training] = counts[request.visitor]
            counts[request.visitor] += 1
        return sorted(rank, key=lambda training: rank[training])
