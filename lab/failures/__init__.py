"""The failures that people ask about most: what is known about each, and how to find it in a text, code or a curve."""

from lab.failures.catalogue import FAILURES
from lab.failures.code import check_code
from lab.failures.finder import find

__all__ = ["FAILURES", "check_code", "find"]
