"""The doctor who follows a run on the command line, and tells what has gone wrong while somebody waits for its end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from lab.training.config import Config
from lab.training.doctor import Finding, diagnose
from lab.training.records import Record, slim


class Watch:
    """Follows a run. `look` tells somebody who waits for its end what has gone wrong meanwhile.

    It tells a finding once, when it is no passing one. Each look reads the whole history; they become rarer as it
    grows, so that they cost an epoch the same all along.
    """

    STANDS = 3  # looks in a row, before a finding is told
    SILENT = 5.0  # seconds: of a run that is over so soon, all is told at the end, and once

    def __init__(self, records: Sequence[Record], config: Config) -> None:
        """records: of the epochs that the run has already, if any; config: its settings."""
        self._config = config
        self._speaks_from = time.monotonic() + self.SILENT
        self._records = [*records[:1], *slim(records[1:-1]), *records[1:][-1:]]
        self._next_look = 0
        self._seen: dict[str, int] = {}  # in how many looks in a row, up to the last one
        self._told: set[str] = set()

    def look(self, record: Record) -> list[Finding]:
        """Add the record of an epoch. Returns what is new: each finding at most once in a run."""
        if len(self._records) > 1:  # of the histograms, the rules read the first and the last
            self._records[-1:] = slim(self._records[-1:])
        self._records.append(record)
        if record["epoch"] < self._next_look:
            return []
        self._next_look = record["epoch"] + 1 + record["epoch"] // 20
        found = {finding.name: finding for finding in self.findings()}
        self._seen = {name: self._seen.get(name, 0) + 1 for name in found}
        if time.monotonic() < self._speaks_from:
            return []
        news = [name for name, looks in self._seen.items() if looks >= self.STANDS and name not in self._told]
        self._told.update(news)
        return [found[name] for name in news]

    def untold(self) -> list[Finding]:
        """What stands now and `look` has not told yet."""
        return [finding for finding in self.findings() if finding.name not in self._told]

    def findings(self) -> list[Finding]:
        """All that stand now, the cause first; none when nothing is wrong, as far as can be told."""
        found = diagnose(self._records, self._config) if self._records else []
        return [finding for finding in found if not finding.well]
