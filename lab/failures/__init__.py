"""The failures that people ask about most: what is known of each, and how it is found."""

from lab.failures.catalogue import FAILURES
from lab.failures.finder import find

__all__ = ["FAILURES", "find"]
