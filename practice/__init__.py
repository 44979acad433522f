"""Tasks for learners: what to write, how it is checked, hints, and the wrong answers that people give.

Each folder is a course: `tasks.toml` has the words of its tasks, `__init__.py` what is checked; beside them stand the
starter, the reference and right answers in an unusual style. How a learner's text is run and judged is in lab/practice.
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
