"""HTML panels for the four steps of the in-place experiment: the program, the arrays with their names, the gradients.

Each is readable as text: a sign or a word says whatever a colour says. assets/traps.css has the styles.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from lab.text import brief
from lab.traps.in_place import OPS, WRITTEN, Box, Experiment, Outcome, run, same, stages

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


def forward_pass(op: str) -> str:
    """Render an operation with the arrays of its forward pass: its inputs, then its output."""
    values = run(Experiment(op), 1).values
    tables = [_named(name, values[name]) for name in OPS[op].inputs]
    return (
        f'<div class="trap-pass"><code>y = {escape(OPS[op].text)}</code>{"".join(tables)}<span>→ '
        f"{_named('y', values['y'])}</span></div>"
    )


def gradients(result: Outcome) -> str:
    """Render the gradients after these steps; once compared, each is ticked, or crossed with the right number."""
    if result.error:
        return '<p class="trap-none">No gradient: backward() stopped before the first message.</p>'
    rows = []
    for name in result.experiment.inputs:
        gradient, due = result.gradients[name], result.right.get(name)
        if gradient is None:
            cells = f'<td class="none" colspan="{len(result.experiment.a)}">not computed yet</td>'
        elif due is None:
            cells = "".join(f"<td>{brief(number)}</td>" for number in gradient)
        else:
            cells = "".join(_compared(got, right) for got, right in zip(gradient, due, strict=True))
        rows.append(f'<tr><th scope="row"><code>{name}.grad</code></th>{cells}</tr>')
    return f'<table class="trap-gradients">{"".join(rows)}</table>'


def scores(outcomes: Mapping[tuple[str, str, bool], str], guesses: Mapping[tuple[str, str], bool]) -> str:
    """Render the table of guesses: a row for each operation, and for each written tensor a cell with result and mark.

    outcomes  (op, written, guard) -> "right", "wrong" or "error", from `in_place.outcomes`
    guesses   (op, written) -> whether a wrong gradient was expected
    """
    heads = "".join(f'<th scope="col"><code>{target}</code> written to</th>' for target in WRITTEN.values())
    rows = []
    for op, spec in OPS.items():
        keeps = sorted({held.of for held in run(Experiment(op), 1).held if held.of})
        cells = ""
        for written in WRITTEN:
            wrong, expected = outcomes[op, written, False] == "wrong", guesses[op, written]
            mark, state = (
                ("✓ guessed", "right") if wrong == expected else ("✗ missed" if wrong else "✗ false alarm", "wrong")
            )
            result = "does harm" if wrong else "no harm"
            cells += f'<td class="cell {state}"><b>{mark}</b><small>{result}</small></td>'
        kept = " and ".join(f"<code>{name}</code>" for name in keeps) or "nothing"
        rows.append(f'<tr><th scope="row"><code>y = {escape(spec.text)}</code></th>{cells}<td>{kept}</td></tr>')
    return (
        f'<table class="trap-gradients"><tr><th></th>{heads}<th scope="col">its closure keeps</th></tr>'
        f"{''.join(rows)}</table>"
    )


def _item(sign: str, name: str, lines: Sequence[str], state: str) -> str:
    current = ' aria-current="step"' if state == "next" else ""
    text = escape("\n".join(lines))
    return f'<li class="{state}"{current}><b><i>{sign}</i> {name}</b><pre><code>{text}</code></pre></li>'


def _named(name: str, values: np.ndarray) -> str:
    cells = "".join(f'<td class="cell">{brief(value)}</td>' for value in values)
    return f'<table class="trap-arrays"><tr><th scope="row"><code>{name}</code></th>{cells}</tr></table>'


def _cell(then: float, now: float) -> str:
    if then == now or (np.isnan(then) and np.isnan(now)):
        return f'<td class="cell">{brief(now)}</td>'
    return f'<td class="cell changed"><s>{brief(then)}</s> → <b>{brief(now)}</b></td>'


def _compared(got: float, due: float) -> str:
    if got == due or (np.isnan(got) and np.isnan(due)):
        return f'<td class="cell right">✓ {brief(got)}</td>'
    return f'<td class="cell wrong"><b>✗ {brief(got)}</b> <small>due {brief(due)}</small></td>'
