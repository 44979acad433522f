"""The failures that people ask about most: what is known about each, and how to find it in a text, code or a log."""

from lab.failures.catalogue import FAILURES
from lab.failures.code import check_code
from lab.failures.curve import LogError, read_log
from lab.failures.finder import find

__all__ = ["FAILURES", "LogError", "check_code", "find", "read_log"]
