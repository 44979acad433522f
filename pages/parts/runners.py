"""A race of N runners against two: the passes that a gradient takes by finite differences and by reverse mode.

static/runners/ runs it in the browser.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from lab.autodiff.cost import MAX_COUNTED, METHODS, passes
from lab.text import strict_json
from lab.ui.assets import component

HEADERS = ("one gradient", "forward passes", "backward passes", "at 1 ms a pass")
COUNTS = (*(digit * 10**power for power in range(12) for digit in (1, 2, 5)), MAX_COUNTED)  # values of the slider
UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))  # in milliseconds
_component = component("runners", "runners/runners.js", lost="The runners", style="runners/runners.css")


def show(key: str, count: int, on_count: Callable[[int], None], *, ask: str = "", measured: str = "") -> None:
    """Show the race for `count` parameters, with a slider that changes the count.

    ask       what the learner must do first; "" if the race may begin
    measured  the result of a timing, as a sentence
    """
    counts = sorted({*COUNTS, count})

    def choose() -> None:
        chosen = st.session_state[key].get("count")
        if isinstance(chosen, int) and 1 <= chosen <= MAX_COUNTED:
            on_count(chosen)

    data = {
        "counts": [_count(n) for n in counts],
        "chosen": counts.index(count),
        "guessed": not ask,
        "ask": ask,
        "measured": measured,
        "headers": HEADERS,
    }
    _component(key=key, data=strict_json(data).encode(), on_count_change=choose)


def _count(n: int) -> dict[str, object]:
    finite = sum(passes("finite", n))
    return {
        "n": n,
        "label": f"{n:,}",
        "rows": [
            (title, *(f"{number:,}" for number in passes(method, n)), duration(sum(passes(method, n))))
            for method, title in METHODS.items()
        ],
        "result": f"Finite differences made {finite:,} passes, reverse mode 2: at 1 ms a pass {duration(finite)} "
        f"against 2 ms.",
    }


def duration(milliseconds: int) -> str:
    """Write a duration in its two largest units, rounded down."""
    parts = []
    for name, size in UNITS:
        if milliseconds >= size:
            parts.append(f"{milliseconds // size} {name}")
            milliseconds %= size
    return " ".join(parts[:2])
