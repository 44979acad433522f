"""A fair queue for a limited number of places, such as processes: no visitor takes a place that others wait for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Hashable, Iterator


class NoTurn(Exception):
    """No place became free in time."""


class Turns:
    """Gives each visitor one place at a time, in the order in which they ask. Any thread may use it."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._served: set[Hashable] = set()  # visitors who have a place
        self._waiting: list[tuple[Hashable, object]] = []  # a visitor, and a ticket for each place that they ask for
        self._changed = threading.Condition()

    @property
    def waiting(self) -> int:
        """The number of turns that are waited for."""
        return len(self._waiting)

    @contextlib.contextmanager
    def turn(self, visitor: Hashable, patience: float) -> Iterator[None]:
        """Hold a place within the block. Raises NoTurn if there is none for this many seconds."""
        ticket = (visitor, object())
        with self._changed:
            self._waiting.append(ticket)
            came = self._changed.wait_for(lambda: self._next() is ticket, patience)
            self._waiting.remove(ticket)
            if came:
                self._free -= 1
                self._served.add(visitor)
            self._changed.notify_all()  # the next one may have a turn, too
        if not came:
            raise NoTurn
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._served.remove(visitor)
                self._changed.notify_all()

    def _next(self) -> tuple[Hashable, object] | None:
        """Return the ticket whose turn it is: the first of a visitor who has no place yet."""
        return next((ticket for ticket in self._waiting if ticket[0] not in self._served), None) if self._free else None
