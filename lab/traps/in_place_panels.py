"""HTML panels for the four steps of the in-place experiment: the program, and the arrays with their names.

Each is readable as text: a sign or a word says whatever a colour says. assets/traps.css has the styles.
"""

from collections.abc import Sequence
from html import escape

import numpy as np

from lab.text import brief
from lab.traps.in_place import Box, Experiment, same, stages

STEPS = ("Forward", "Mutate", "Backward", "Compare")


def program(experiment: Experiment, done: int) -> str:
    """Render the program as a list of its steps; those that have run are ticked, the next one is marked."""
    create, *passes = stages(experiment)
    gradients = ", ".join(f"{name}.grad" for name in experiment.inputs)
    compare = [f"# {gradients}: as without the write?"]
    items = [_item("✓", "Inputs", create, "done")]
    for number, (name, lines) in enumerate(zip(STEPS, [*passes, compare], strict=True), start=1):
        sign, state = ("✓", "done") if number <= done else ("▶", "next") if number == done + 1 else ("", "later")
        items.append(_item(sign, f"{number} {name}", lines, state))
    return f'<ol class="trap-program">{"".join(items)}</ol>'


def arrays(boxes: Sequence[Box]) -> str:
    """Render each array as a table row: its names, then its cells. A changed cell shows "old → new"."""
    rows = []
    for box in boxes:
        written = not same(box.before, box.values)
        note = "<small>⚠ written to</small>" if written else ""
        names = "".join(f"<code>{escape(name)}</code>" for name in box.names)
        cells = "".join(_cell(then, now) for then, now in zip(np.ravel(box.before), np.ravel(box.values), strict=True))
        rows.append(
            f'<tr class="{"written" if written else ""}"><th scope="row">{names}{note}</th>'
            f'<td class="arrow">→</td>{cells}</tr>'
        )
    return f'<table class="trap-arrays">{"".join(rows)}</table>'


def _item(sign: str, name: str, lines: Sequence[str], state: str) -> str:
    current = ' aria-current="step"' if state == "next" else ""
    text = escape("\n".join(lines))
    return f'<li class="{state}"{current}><b><i>{sign}</i> {name}</b><pre><code>{text}</code></pre></li>'


def _cell(then: float, now: float) -> str:
    if then == now or (np.isnan(then) and np.isnan(now)):
        return f'<td class="cell">{brief(now)}</td>'
    return f'<td class="cell changed"><s>{brief(then)}</s> → <b>{brief(now)}</b></td>'
