"""The failures that people ask about most: what is known of each, and how it is found."""

from lab.failures.catalogue import FAILURES
from lab.failures.code import check_code
from lab.failures.finder import find

__all__ = ["FAILURES", "check_code", "find"]
