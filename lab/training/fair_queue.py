"""A fair queue for a limited number of places, such as processes: one of each visitor before anybody's second."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass


@dataclass
class _Request:
    visitor: Hashable
    until: float  # time at which it lapses, unless it is repeated


class FairQueue:
    """Decides who has a place, in the order in which they first ask. Any thread may use it.

    What can be interrupted at any moment asks for its place again and again (`ask`), and may have to give it to a
    visitor who has none. What cannot be interrupted holds its place (`place`): so each visitor has one at a time.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._requests: dict[Hashable, _Request] = {}  # by ticket, in the order in which they began to ask
        self._changed = threading.Condition()

    def ask(self, ticket: Hashable, visitor: Hashable, patience: float) -> int:
        """Return how many have to leave before this ticket has a place; 0 if it has one.

        The answer holds until the next call, which must come within `patience` seconds, also while there is a place.
        """
        with self._changed:
            now = time.monotonic()
            self._requests = {other: one for other, one in self._requests.items() if one.until >= now}
            self._requests.setdefault(ticket, _Request(visitor, 0.0)).until = now + patience
            ranks = self._ranks()
            return max(0, sorted(ranks, key=lambda one: ranks[one]).index(ticket) + 1 - self._places)

    def release(self, ticket: Hashable) -> None:
        """Give the place of a ticket to the next one."""
        with self._changed:
            self._requests.pop(ticket, None)
            self._changed.notify_all()

    @contextlib.contextmanager
    def place(self, visitor: Hashable, patience: float) -> Iterator[None]:
        """Hold a place within the block. Raises TimeoutError if there is none for this many seconds."""
        ticket = object()
        try:
            with self._changed:
                self._requests[ticket] = _Request(visitor, math.inf)
                if not self._changed.wait_for(lambda: ticket in self._holders(), patience):
                    raise TimeoutError
            yield
        finally:
            self.release(ticket)

    @property
    def waiting(self) -> int:
        """The number of places that are waited for in `place`."""
        with self._changed:
            return len(self._requests) - len(self._holders())

    def _holders(self) -> list[Hashable]:
        """Return the tickets that hold a place. One that does is never displaced: newer ones come behind it."""
        return [ticket for ticket, rank in self._ranks().items() if rank == 0][: self._places]

    def _ranks(self) -> dict[Hashable, int]:
        """Return how many earlier tickets of the same visitor there are, for each ticket."""
        counts: Counter[Hashable] = Counter()
        ranks = {}
        for ticket, request in self._requests.items():
            ranks[ticket] = counts[request.visitor]
            counts[request.visitor] += 1
        return ranks
