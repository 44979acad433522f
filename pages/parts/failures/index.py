"""The index of What went wrong?: failures of programs and faults of engines together, by what one sees."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from lab.failures.catalogue import BY_KEY as FAILURES
from lab.traps.faults.catalogue import BY_KEY as FAULTS
from lab.ui.widgets import button

COLUMNS = 3


class Group(NamedTuple):
    """What one sees, and the keys of the failures and faults that it can come from."""

    seen: str
    failures: Sequence[str]
    faults: Sequence[str] = ()


INDEX = (
    Group(
        "An error stops it",
        ("inplace", "twice", "scalar", "nograph", "leaf", "numpy", "integers", "optimizer", "detach"),
        ("skip-unbroadcast", "wrong-capture"),
    ),
    Group("A gradient is None", ("nonleafgrad", "no-grad", "argmax")),
    Group(
        "A gradient is a wrong number",
        ("float32", "accumulation"),
        ("overwrite", "wrong-order", "backward-twice", "relu-side", "mean-undivided"),
    ),
    Group("It is nan or inf", ("nan", "where"), ("softmax-unshifted", "log-unguarded")),
    Group(
        "The loss climbs, jumps or swings",
        ("zero-grad", "rate", "order"),
        ("forgot-zero-grad", "sign-flipped", "rate-too-high"),
    ),
    Group(
        "The loss stands still, or too high",
        ("broadcast", "dead", "vanishing", "zero-init", "softmax"),
        ("silent-broadcast", "zero-init", "half-precision"),
    ),
    Group("It needs ever more memory or time", ("kept",)),
)
IN_COLUMN: Mapping[int, Sequence[int]] = {0: (0, 1), 1: (2, 3, 6), 2: (4, 5)}  # groups of each column: equally long


def show(open_failure: Callable[[str], None], open_fault: Callable[[str], None]) -> None:
    """Draw the index; each entry is a button that calls one of the two with its key."""
    st.caption(
        "A number opens a short program that fails, and its fix. :material/build: runs an engine or a training with "
        "one fault next to a healthy one."
    )
    for column, groups in zip(st.columns(COLUMNS), IN_COLUMN.values(), strict=True):
        with column.container(gap=None):
            for group in (INDEX[at] for at in groups):
                _show_group(group, open_failure, open_fault)


def _show_group(group: Group, open_failure: Callable[[str], None], open_fault: Callable[[str], None]) -> None:
    st.markdown(f"**{group.seen}**")
    look = {"type": "tertiary"}
    for failure in sorted((FAILURES[key] for key in group.failures), key=lambda failure: failure.number):
        name = f"{failure.number} {failure.name}"
        button(name, f"wrong choose {failure.key}", open_failure, failure.key, help=failure.symptom, **look)
    for fault in (FAULTS[key] for key in group.faults):
        button(fault.name, f"wrong fault {fault.key}", open_fault, fault.key, icon="build", help=fault.symptom, **look)
    st.space(12)
