"""A teacher's assignment: tasks to do and controls to hide. lab/ui/starting_point.py reads where it starts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lab.lessons.pages import PAGES
from lab.lessons.skills import ACHIEVEMENTS, Achievement

BY_PATH = MappingProxyType({page.path: page for page in PAGES if page.path})
NOT_TO_DO = ("for-teachers",)  # pages that cannot be assigned

ITEMS: Mapping[str, Achievement] = MappingProxyType(
    ACHIEVEMENTS
    | {
        f"pages/{path}": Achievement(f"Page: {page.title}", page.file, {})
        for path, page in BY_PATH.items()
        if path not in NOT_TO_DO
    }
)

CONTROLS = MappingProxyType(
    {
        "hints": "Hints of tasks, programs and questions",
        "lines": "*Show one way to write it*",
        "reveal": "*Reveal* in Predict, then reveal",
        "try": "*Try this* at the end of each page",
    }
)
