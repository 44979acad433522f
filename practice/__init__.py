"""The tasks for learners: what to write, how it is checked, hints, and the wrong answers that people give.

Each folder is a course: `tasks.toml` has its tasks and their checks, `__init__.py` the inputs of the checks; next to
them are the starter and the reference. lab/practice runs and judges learners' code.
"""

from __future__ import annotations

from practice.functions import COURSE as functions
from practice.scalars import COURSE as scalars
from practice.tensors import COURSE as tensors

COURSES = {
    scalars.key: scalars,
    tensors.key: tensors,
    functions.key: functions,
}
