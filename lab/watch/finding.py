"""A finding of the watcher: a failure, the line of its cause and the evidence; which explain others."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.failures import FAILURES

BY_NUMBER = {failure.number: failure for failure in FAILURES}
CAUSES = {  # consequence -> what explains it, by numbers of failures
    6: {18, 24},
    9: {20},
    10: {1, 9, 11},
    14: {16, 17},
    15: {14, 16},
    17: {6, 8, 9, 16, 18, 20, 25},
    19: {7, 11, 12, 13, 21},
    24: {6, 18},
}


@dataclass(frozen=True)
class RunFinding:
    """One failure that a script committed while it ran."""

    failure: int  # its number in the catalogue, 1 to 25
    file: str
    line: int  # of the cause; 0 if unknown
    evidence: str  # what was measured, as a sentence
    backward_pass: int = 0  # number of the backward pass in which it was noticed; 0 if unknown
    advice: str = ""  # the fix, if this form of the failure needs another one than usual

    @property
    def name(self) -> str:
        return BY_NUMBER[self.failure].name

    @property
    def fix(self) -> str:
        return self.advice or BY_NUMBER[self.failure].fix

    @property
    def link(self) -> str:
        """Address of the lab's demonstration, relative to the lab."""
        return f"what-went-wrong?wrong-failure={BY_NUMBER[self.failure].key}"


def without_consequences(findings: Sequence[RunFinding]) -> list[RunFinding]:
    """Return the findings that are causes, sorted by line, without those that another finding explains."""
    numbers = {finding.failure for finding in findings}
    explained = {number for number, causes in CAUSES.items() if numbers & causes}
    causes = [found for found in findings if found.failure not in explained]
    return sorted(causes, key=lambda found: (found.file, found.line, found.failure))
