"""A teacher's assignment: tasks to do and controls to hide. lab/ui/starting_point.py reads where it starts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lab.lessons.old_addresses import MOVED
from lab.lessons.pages import PAGES
from lab.lessons.skills import ACHIEVEMENTS, Achievement

BY_PATH = MappingProxyType({page.path: page for page in PAGES if page.path})
NOT_TO_DO = ("for-teachers",)  # pages that cannot be assigned

FORMER: Mapping[str, Achievement] = MappingProxyType(  # pages that have moved since, but are in older assignments
    {
        f"pages/{path}": Achievement(
            f"Page: {page.tabs.get(tab, page.title)}", page.file, {page.tab: tab} if tab else {}
        )
        for path, moved in MOVED.items()
        if path not in BY_PATH
        for page, tab in [(BY_PATH[moved.path], moved.tab)]
    }
)
ITEMS: Mapping[str, Achievement] = MappingProxyType(
    ACHIEVEMENTS
    | FORMER
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
