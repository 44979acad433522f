"""What went wrong, from a curve: what the doctor's rules say of the numbers that some trainer wrote.

A curve of another trainer says less than a run of this one. So a rule is asked only where the numbers that it goes by
are there; what several causes look like is given as several causes; and what could not be seen is listed.
"""

from lab.failures.curve.answer import CurveAnswer, CurveCause, failure_of, of_records, of_text
from lab.failures.curve.history import UploadedCurve
from lab.failures.curve.known import KNOWN, Known
from lab.failures.curve.table import CurveError

__all__ = [
    "KNOWN",
    "CurveAnswer",
    "CurveCause",
    "CurveError",
    "Known",
    "UploadedCurve",
    "failure_of",
    "of_records",
    "of_text",
]
