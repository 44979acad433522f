"""What a teacher can put on the list of an assignment."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lab.lessons.achievements import ACHIEVEMENTS, Achievement
from lab.lessons.pages import PAGES

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
