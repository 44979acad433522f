"""HTML that shows the healthy and the broken engine side by side: their code, and their gradients as tables."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from textwrap import dedent

import numpy as np

from lab.text import numeral
from lab.trace.dot import PALETTES
from lab.traps.faults.compare import differs

MAX_LINES = 8  # of code: more cannot be seen at once side by side

# The browser chooses one of the two, also when the theme changes while this is on the page.
_GRADIENT = f"color:light-dark({PALETTES['light']['gradient']},{PALETTES['dark']['gradient']});"
# An outline and a sign, not a colour, say which elements differ.
_DIFFERENT = "outline:2px solid currentColor;outline-offset:-3px;font-weight:700;"


def code_pair(broken: str, right: str, marks: tuple[Sequence[bool], Sequence[bool]], *, context: bool) -> str:
    """Make HTML with the broken lines next to the right ones; the marked lines get a sign and a bar.

    marks: for each line of broken and of right, whether it is marked. context: show the lines around the marked ones,
    too; of long code only the nearest and the first, so that all can be seen at once.
    """
    blocks = zip(("broken", "right"), (broken, right), marks, "✗✓", strict=True)
    return f'<div class="code-pair">{"".join(_code(*block, context) for block in blocks)}</div>'


def _code(title: str, code: str, marked: Sequence[bool], sign: str, context: bool) -> str:
    pairs = [(line, mark) for line, mark in zip(code.splitlines(), marked, strict=True) if mark or context]
    if len(pairs) > MAX_LINES:
        pairs = _near_marks(pairs)
    indented = dedent("\n".join(line for line, _ in pairs)).splitlines()
    lines = "".join(
        f'<span class="{title if mark else ""}">{sign if mark else " "} {escape(line)}\n</span>'
        for line, (_, mark) in zip(indented, pairs, strict=True)
    )
    return f'<figure><figcaption>{title}</figcaption><pre tabindex="0" aria-label="{title} code">{lines}</pre></figure>'


def _near_marks(pairs: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Keep the first line and each marked line with the line above it (two lines above a single mark).

    A line of dots stands for lines left out.
    """
    marked = [at for at, (_, mark) in enumerate(pairs) if mark]
    if not marked:
        return list(pairs)
    above = 2 if len(marked) == 1 else 1
    shown = {0} | {near for at in marked for near in range(max(at - above, 0), at + 1)}
    lines: list[tuple[str, bool]] = []
    for before, at in pairwise(sorted(shown | {len(pairs)})):
        lines.append(pairs[before])
        if at - before > 1:
            line = pairs[before + 1][0]
            lines.append((line[: len(line) - len(line.lstrip())] + "…", False))
    return lines


def gradient_tables(name: str, healthy: np.ndarray | None, broken: np.ndarray | None) -> str:
    """Make HTML with one tensor's gradient from both engines; elements that differ are outlined and marked ≠."""
    different, note = None, ""
    if healthy is not None and broken is not None:
        if healthy.shape == broken.shape:
            different = differs(healthy, broken)
            count = int(different.sum())
            note = (
                f": {count} of {different.size} elements {'differs' if count == 1 else 'differ'}"
                if count
                else ": equal"
            )
            note = ": differs" if count == different.size == 1 else note
        else:
            note = f": shape {broken.shape} instead of {healthy.shape}"
    elif healthy is not broken:
        note = ": nothing arrived"
    if different is None and broken is not None and healthy is not broken:
        different = np.ones(broken.shape, dtype=bool)
    tables = _table("healthy", name, healthy, None) + _table("broken", name, broken, different)
    return (
        f'<div role="group" aria-label="Gradient of {escape(name)}{escape(note)}" style="margin-bottom:0.9rem">'
        f'<div style="margin-bottom:0.3rem">Gradient of <b>{escape(name)}</b>{escape(note)}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:0.6rem 1.6rem">{tables}</div></div>'
    )


def value_tables(values: Mapping[str, np.ndarray], code: str) -> str:
    """Make HTML with an expression and, next to it, a table of each input tensor's values."""
    tables = "".join(
        _scrolling(
            f"{name}, shape {value.shape}", f"values of {name}", _rows(value, np.zeros(value.shape, dtype=bool), "")
        )
        for name, value in values.items()
    )
    shown = f'<pre tabindex="0" aria-label="expression" style="margin:0;overflow-x:auto">{escape(code.strip())}</pre>'
    return (
        '<div class="code-pair" style="display:flex;flex-wrap:wrap;align-items:center;gap:0.6rem 1.6rem">'
        f"{shown}{tables}</div>"
    )


def _table(engine: str, name: str, gradient: np.ndarray | None, marked: np.ndarray | None) -> str:
    label = f"gradient of {name}, {engine} engine"
    if gradient is None:
        return _scrolling(engine, label, f'<tr><td style="padding:0.15rem 0.6rem;{_DIFFERENT}">≠ None</td></tr>')
    marked = np.zeros(gradient.shape, dtype=bool) if marked is None else marked
    return _scrolling(engine, label, _rows(gradient, marked, _GRADIENT))


def _scrolling(title: str, label: str, rows: str) -> str:
    """Make a table that scrolls separately if it is too wide, also by keyboard."""
    return (
        f'<div tabindex="0" role="region" aria-label="{escape(label)}" style="overflow-x:auto;max-width:100%">'
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums;line-height:1.6">'
        f'<caption style="text-align:left;font-size:0.85em;white-space:nowrap">{escape(title)}</caption>'
        f"{rows}</table></div>"
    )


def _rows(array: np.ndarray, marked: np.ndarray, style: str) -> str:
    rows = zip(np.atleast_2d(array), np.atleast_2d(marked), strict=True)
    return "".join(
        f"<tr>{''.join(_cell(v, m, style) for v, m in zip(values, marks, strict=True))}</tr>" for values, marks in rows
    )


def _cell(value: float, marked: bool, style: str) -> str:
    style = f"padding:0 0.6rem;text-align:right;white-space:nowrap;{style}"
    sign = "≠ " if marked else ""
    return f'<td style="{style}{_DIFFERENT if marked else ""}">{sign}{numeral(value)}</td>'
