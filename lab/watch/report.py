"""Findings as text for the terminal, as JSON and as an HTML page."""

import json
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.trace.notebook import framed
from lab.trace.recording import Trace
from lab.watch.finding import RunFinding

if TYPE_CHECKING:  # it imports PyTorch
    from lab.watch.run_passes import RunPasses

NOTHING = "lab.watch: no failure found in this run."


def text(findings: Sequence[RunFinding], notes: Sequence[str] = (), error: BaseException | None = None) -> str:
    """Format findings for the terminal. Notes say what was not watched; `error` is the exception that ended the run."""
    if not findings:
        if any(note.startswith("lab.watch") for note in notes):  # it stopped watching: nothing is known of the rest
            return "\n".join(notes)
        ended = f"lab.watch: {type(error).__name__} ended the run; no known failure was found."
        return "\n".join([NOTHING if error is None else ended, *notes])
    parts = [
        f"{shown(finding.file)}:{finding.line}: failure {finding.failure}, {finding.name}\n"
        f"  seen: {finding.evidence}\n  fix:  {finding.fix}\n  try:  {finding.link}"
        for finding in findings
    ]
    return "\n".join(["lab.watch:", *parts, *notes])


def shown(file: str) -> str:
    """Return a path as it is typed in this folder, or the cell of a notebook as IPython calls it."""
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if shell and (cell := shell.compile.format_code_name(file)):
        return " ".join(cell)
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def as_json(findings: Sequence[RunFinding]) -> str:
    """Return the findings as a JSON list of objects with keys such as failure, line and sentence."""
    return json.dumps([finding.as_row() for finding in findings], indent=1, ensure_ascii=False)


def as_html(findings: Sequence[RunFinding], script: str, passes: "RunPasses") -> str:
    """Return a self-contained page: one section per finding, then the backward pass of each in the player."""
    about = {finding: passes.pass_number(finding) for finding in findings}
    sections = "".join(as_section(finding, number, passes.traces.get(number)) for finding, number in about.items())
    # Only the first frame holds the player's code; the others load it from there.
    players = "".join(
        f'<section class="pass" id="pass-{number}"><h2>Backward pass {number}</h2>'
        f"{framed(passes.traces[number], code=not index)}</section>"
        for index, number in enumerate(sorted({*about.values()} - {0}))
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Watched: {escape(script)}</title><style>:root{{color-scheme:light dark}}"
        "body{font:16px/1.5 system-ui;margin:2rem auto;padding:0 1rem;max-width:90rem}"
        "section:not(.pass){max-width:46rem}code{overflow-wrap:anywhere}"
        f"</style><h1>Watched: {escape(script)}</h1>{sections or '<p>No failure found in this run.</p>'}"
        f"{players}</html>"
    )


def as_section(finding: RunFinding, number: int, trace: Trace | None) -> str:
    """Return the HTML of one finding, with a link to its backward pass."""
    if trace is None:
        seen = "No backward pass ran."
    else:
        ended = f" It stopped: {trace.error}" if trace.error else ""
        seen = f'<a href="#pass-{number}">Backward pass {number} in the player</a>{escape(ended)}'
    return (
        f"<section><h2>{finding.failure}. {escape(finding.name)}</h2>"
        f"<p><code>{escape(finding.file)}:{finding.line}</code></p><p>{escape(finding.evidence)}</p>"
        f"<p><b>Fix.</b> {escape(finding.fix)}</p><p>Demonstration: <code>{escape(finding.link)}</code></p>"
        f"<p>{seen}</p></section>"
    )
