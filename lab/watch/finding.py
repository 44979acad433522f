"""What the watcher says: which failure, where, and the evidence."""

from dataclasses import dataclass

from lab.failures import FAILURES
from lab.watch.fixes import IN_PYTORCH

BY_NUMBER = {failure.number: failure for failure in FAILURES}


@dataclass(frozen=True)
class RunFinding:
    """One failure that a script committed while it ran.

    failure   its number in the catalogue, 1 to 25
    file      the file of the cause
    line      the line of the cause; 0 where it is not known
    evidence  what was measured, as a sentence
    turn      the number of the backward pass that it was noticed in; 0 where that is not known
    advice    what to do, where this form of the failure wants another fix than the usual one
    """

    failure: int
    file: str
    line: int
    evidence: str
    turn: int = 0
    advice: str = ""

    @property
    def name(self) -> str:
        return BY_NUMBER[self.failure].name

    @property
    def fix(self) -> str:
        return self.advice or IN_PYTORCH.get(self.failure) or BY_NUMBER[self.failure].fix

    @property
    def link(self) -> str:
        """The address of the lab's demonstration, below that of the lab."""
        return f"what-went-wrong?failure={BY_NUMBER[self.failure].key}"

    def as_row(self) -> dict[str, object]:
        """The finding as plain data, for JSON."""
        return {
            "failure": self.failure,
            "name": self.name,
            "file": self.file,
            "line": self.line,
            "sentence": self.evidence,
            "fix": self.fix,
            "demonstration": self.link,
        }
