"""Find what went wrong from an uploaded loss curve, with the doctor's rules.

A foreign curve says less than a run of this trainer. A rule runs only if the columns that it needs are there, several
possible causes are all listed, and so is what could not be seen.
"""

from lab.failures.curve.answer import KNOWN, CurveAnswer, CurveCause, failure_of, of_records, read_log
from lab.failures.curve.history import UploadedCurve
from lab.failures.curve.log import LogError

__all__ = ["KNOWN", "CurveAnswer", "CurveCause", "LogError", "UploadedCurve", "failure_of", "of_records", "read_log"]
