"""HTML that shows the healthy and the broken engine side by side: their code, and their gradients as tables."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import pairwise
from textwrap import dedent

import numpy as np

from lab.text import numeral
from lab.trace.dot import PALETTES
from lab.traps.faults.compare import differs

MAX_LINES = 8  # of code: more cannot be seen at once side by side
LINES_ABOVE = 3  # a difference, shown of longer code

# The browser chooses one of the two, also when the theme changes while this is on the page.
_GRADIENT = f"color:light-dark({PALETTES['light']['gradient']},{PALETTES['dark']['gradient']});"
# An outline and a sign, not a colour, say which elements differ.
_DIFFERENT = "outline:2px solid currentColor;outline-offset:-3px;font-weight:700;"


def code_pair(broken: str, right: str, marks: tuple[Sequence[bool], Sequence[bool]], *, context: bool) -> str:
    """Make HTML with the broken lines next to the right ones; the marked lines get a sign and a bar.

    marks: for each line of broken and of right, whether it is marked. context: show the lines around the marked ones,
    too; of long code only the nearest and the first, the same lines on both sides.
    """
    sides = broken.splitlines(), right.splitlines()
    shown: Sequence[Iterable[int]] = [[at for at, mark in enumerate(side) if mark] for side in marks]
    if context or not all(shown):  # a line that is missing on one side is seen by the lines around its place
        long = max(map(len, sides)) > MAX_LINES
        shown = _near_marks(sides, marks) if long else [range(len(lines)) for lines in sides]
    blocks = zip(("broken", "right"), sides, marks, shown, "✗✓", strict=True)
    return f'<div class="code-pair">{"".join(_code(*block, dots=context) for block in blocks)}</div>'


def _code(title: str, code: Sequence[str], marked: Sequence[bool], shown: Iterable[int], sign: str, dots: bool) -> str:
    """Make HTML with the shown lines; dots: with a line of dots for lines left out."""
    pairs: list[tuple[str, bool]] = []
    for at, following in pairwise([*sorted(shown), len(code)]):
        pairs.append((code[at], marked[at]))
        left_out = code[at + 1 : following]
        if dots and any(map(str.strip, left_out)):
            pairs.append((left_out[0][: len(left_out[0]) - len(left_out[0].lstrip())] + "…", False))
    indented = dedent("\n".join(line for line, _ in pairs)).splitlines()
    lines = "".join(
        f'<span class="{title if mark else ""}">{sign if mark else " "} {escape(line)}\n</span>'
        for line, (_, mark) in zip(indented, pairs, strict=True)
    )
    return f'<figure><figcaption>{title}</figcaption><pre tabindex="0" aria-label="{title} code">{lines}</pre></figure>'


def _near_marks(sides: Sequence[Sequence[str]], marks: Sequence[Sequence[bool]]) -> tuple[set[int], set[int]]:
    """Return the indices of the first line of each side, the marked lines and, from the code that both sides have, the
    lines above a difference and the first lines of methods: the same lines on both sides."""
    shown = tuple({0} | {at for at, mark in enumerate(side) if mark} for side in marks)
    blocks = [
        (slice(*ends[:2]), slice(*ends[2:]))
        for tag, *ends in SequenceMatcher(None, sides[0], sides[1], autojunk=False).get_opcodes()
        if tag == "equal"
    ]
    for each in blocks:
        common = sides[0][each[0]]
        last = each[0].stop == len(sides[0]) and each[1].stop == len(sides[1])
        near = range(len(common) if last else max(len(common) - LINES_ABOVE, 0), len(common))
        kept = [at for at, line in enumerate(common) if line.startswith("def ") or (at in near and line.strip())]
        for indices, block in zip(shown, each, strict=True):
            indices |= {block.start + at for at in kept}
    return shown[0], shown[1]


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
