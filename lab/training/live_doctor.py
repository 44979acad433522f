"""The doctor that follows a run on the command line and reports what goes wrong while it trains."""

from __future__ import annotations

import time
from collections.abc import Sequence

from lab.training.config import Config
from lab.training.doctor import Finding, diagnose
from lab.training.records import Record, slim


class LiveDoctor:
    """A doctor that follows a run and reports each illness once, after it has lasted a few looks.

    Each look reads the whole history. Looks become rarer as it grows, so that their cost per epoch stays the same.
    """

    STANDS = 3  # looks in a row before a finding is reported
    SILENT = 5.0  # seconds: a run that ends sooner is reported once, at its end

    def __init__(self, records: Sequence[Record], config: Config) -> None:
        """Start from the records of the epochs that the run already has, if any."""
        self._config = config
        self._quiet_until = time.monotonic() + self.SILENT
        self._records = [*records[:1], *slim(records[1:-1]), *records[1:][-1:]]
        self._next_look = 0
        self._seen: dict[str, int] = {}  # finding -> looks in a row that had it, up to the last
        self._reported: set[str] = set()

    def look(self, record: Record) -> list[Finding]:
        """Add the record of an epoch; return new findings, each at most once in a run."""
        if len(self._records) > 1:  # rules read only the first and the last histogram
            self._records[-1:] = slim(self._records[-1:])
        self._records.append(record)
        if record["epoch"] < self._next_look:
            return []
        self._next_look = record["epoch"] + 1 + record["epoch"] // 20
        found = {finding.name: finding for finding in self.findings()}
        self._seen = {name: self._seen.get(name, 0) + 1 for name in found}
        if time.monotonic() < self._quiet_until:
            return []
        news = [name for name, looks in self._seen.items() if looks >= self.STANDS and name not in self._reported]
        self._reported.update(news)
        return [found[name] for name in news]

    def unreported(self) -> list[Finding]:
        """Return the present findings that `look` has not reported yet."""
        return [finding for finding in self.findings() if finding.name not in self._reported]

    def findings(self) -> list[Finding]:
        """Return the present findings that name an illness, causes first."""
        found = diagnose(self._records, self._config) if self._records else []
        return [finding for finding in found if not finding.well]
