"""What the browser draws from the visitor's progress, or reads from it: static/progress/lists.js.

The kinds are "path", "assignment", "tasks", "note" and "engines"; static/types.d.ts has their data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lab.text import strict_json
from lab.ui.assets import component

_component = component("progress", "progress/lists.js", lost="Your progress")


def mount(kind: str, key: str, shown: Mapping[str, Any], **callbacks: Callable[[], None]) -> None:
    """Mount a list, or what stores or sends the visitor's progress. key: its session key; shown: its data."""
    _component(key=key, data=strict_json({"kind": kind, **shown}).encode(), **callbacks)
