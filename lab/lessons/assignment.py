"""What a teacher can put on the list of an assignment."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lab.lessons.achievements import ACHIEVEMENTS, Achievement
from lab.lessons.pages import BY_PATH

NOT_TO_DO = ("for-teachers",)  # pages that cannot be assigned

ITEMS: Mapping[str, Achievement] = MappingProxyType(
    ACHIEVEMENTS
    | {
        f"pages/{path}": Achievement(f"Page: {page.title}", page.file, {})
        for path, page in BY_PATH.items()
        if path and path not in NOT_TO_DO
    }
)
