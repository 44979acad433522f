"""A finding of the watcher: a failure, the line of its cause and the evidence."""

from dataclasses import dataclass

from lab.failures import FAILURES
from lab.watch.fixes import IN_PYTORCH

BY_NUMBER = {failure.number: failure for failure in FAILURES}


@dataclass(frozen=True)
class RunFinding:
    """One failure that a script committed while it ran.

    failure        its number in the catalogue, 1 to 25
    file, line     where the cause is; line 0 if unknown
    evidence       what was measured, as a sentence
    backward_pass  number of the backward pass in which it was noticed; 0 if unknown
    advice         the fix, if this form of the failure needs another one than usual
    """

    failure: int
    file: str
    line: int
    evidence: str
    backward_pass: int = 0
    advice: str = ""

    @property
    def name(self) -> str:
        return BY_NUMBER[self.failure].name

    @property
    def fix(self) -> str:
        return self.advice or IN_PYTORCH.get(self.failure) or BY_NUMBER[self.failure].fix

    @property
    def link(self) -> str:
        """Address of the lab's demonstration, relative to the lab."""
        return f"what-went-wrong?wrong-failure={BY_NUMBER[self.failure].key}"
