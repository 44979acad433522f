"""HTML that shows the healthy and the broken engine side by side: their code, and their gradients as tables."""

from collections.abc import Mapping, Sequence
from html import escape
from textwrap import dedent

import numpy as np

from lab.text import numeral
from lab.trace.dot import PALETTES
from lab.traps.faults.healthy_and_broken import differs

MAX_LINES = 8  # of code: more cannot be seen at once side by side
LINES_AROUND = 2  # a difference, shown of longer code

# The browser chooses one of the two, also when the theme changes while this is on the page.
_GRADIENT = f"color:light-dark({PALETTES['light']['gradient']},{PALETTES['dark']['gradient']});"
# An outline and a sign, not a colour, say which elements differ.
_DIFFERENT = "outline:2px solid currentColor;outline-offset:-3px;font-weight:700;"


def code_pair(difference: Sequence[str], *, context: bool) -> str:
    """Make HTML with wrong lines next to the right ones; the lines that differ get a sign and a bar.

    difference: as Fault.difference. context: show the lines around the differing ones, too; of long code only the
    nearest, and the first of each function.
    """
    differs = [line[0] in "-+" and bool(line[2:].strip()) for line in difference]
    if len({line[0] for line, differing in zip(difference, differs, strict=True) if differing}) < 2:
        context = True  # a line that is missing on one side is seen by the lines around its place
    around = 0 if not context else LINES_AROUND if len(difference) > MAX_LINES else len(difference)
    shown = [
        any(differs[max(at - around, 0) : at + around + 1]) or (context and line[2:].startswith("def "))
        for at, line in enumerate(difference)
    ]
    blocks = []
    for title, sign, mark in (("broken", "-", "✗"), ("right", "+", "✓")):
        pairs: list[tuple[str, str]] = []
        for line, show in zip(difference, shown, strict=True):
            if line[0] not in (sign, " "):
                continue
            if show:
                pairs.append((mark if line[0] == sign and line[2:].strip() else " ", line[2:]))
            elif context and line.strip() and pairs and not pairs[-1][1].endswith("…"):
                pairs.append((" ", line[2 : len(line) - len(line[2:].lstrip())] + "…"))
        blocks.append(_code(title, pairs))
    return f'<div class="code-pair">{"".join(blocks)}</div>'


def _code(title: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Make HTML with lines of code, each with its mark."""
    indented = dedent("\n".join(line for _, line in pairs)).splitlines()
    lines = "".join(
        f'<span class="{title if mark != " " else ""}">{mark} {escape(line)}\n</span>'
        for line, (mark, _) in zip(indented, pairs, strict=True)
    )
    return f'<figure><figcaption>{title}</figcaption><pre tabindex="0" aria-label="{title} code">{lines}</pre></figure>'


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
