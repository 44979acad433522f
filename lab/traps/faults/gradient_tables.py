"""HTML tables of the gradients from the healthy and the broken engine, side by side."""

from html import escape

import numpy as np

from lab.text import numeral
from lab.trace.dot import PALETTES
from lab.traps.faults.healthy_and_broken import differs

# The browser chooses one of the two, also when the theme changes while this is on the page.
_GRADIENT = f"color:light-dark({PALETTES['light']['gradient']},{PALETTES['dark']['gradient']});"
# An outline and a sign, not a colour, say which elements differ.
_DIFFERENT = "outline:2px solid currentColor;outline-offset:-3px;font-weight:700;"


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
