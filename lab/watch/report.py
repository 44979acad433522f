"""Findings as text for the terminal, as JSON and as an HTML page."""

import json
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.trace.notebook import framed
from lab.watch.finding import RunFinding

if TYPE_CHECKING:  # it imports PyTorch
    from lab.watch.run_passes import RunPasses

JSON_KEYS = {"failure": "failure", "name": "name", "file": "file", "line": "line", "sentence": "evidence", "fix": "fix"}
JSON_KEYS |= {"demonstration": "link"}


def text(findings: Sequence[RunFinding], notes: Sequence[str] = (), error: BaseException | None = None) -> str:
    """Format findings for the terminal. Notes say what was not watched; `error` is the exception that ended the run."""
    if not findings and any(note.startswith("lab.watch") for note in notes):  # it stopped: nothing is known of the rest
        return "\n".join(notes)
    if not findings:
        ended = f"{type(error).__name__} ended the run; no known failure was found."
        return "\n".join([f"lab.watch: {'no failure found in this run.' if error is None else ended}", *notes])
    return "\n".join(["lab.watch:", *map(paragraph, findings), *notes])


def paragraph(finding: RunFinding) -> str:
    """Format one finding."""
    return (
        f"{shown(finding.file)}:{finding.line}: failure {finding.failure}, {finding.name}\n"
        f"  seen: {finding.evidence}\n  fix:  {finding.fix}\n  try:  {finding.link}"
    )


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
    rows = [{key: getattr(finding, name) for key, name in JSON_KEYS.items()} for finding in findings]
    return json.dumps(rows, indent=1, ensure_ascii=False)


def as_html(findings: Sequence[RunFinding], script: str, passes: "RunPasses") -> str:
    """Return a self-contained page: one section per finding, then the backward pass of each in the player."""
    about = {finding: passes.pass_number(finding) for finding in findings}
    sections = ""
    for finding, number in about.items():
        ran = passes.traces.get(number)
        seen = f'<a href="#pass-{number}">Backward pass {number} in the player</a>' if ran else "No backward pass ran."
        ended = f" It stopped: {escape(ran.error)}" if ran and ran.error else ""
        title = f"<h2>{finding.failure}. {escape(finding.name)}</h2>"
        sections += f"<section>{title}<pre>{escape(paragraph(finding))}</pre><p>{seen}{ended}</p></section>"
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
        "section:not(.pass){max-width:46rem}pre{white-space:pre-wrap;overflow-wrap:anywhere}"
        f"</style><h1>Watched: {escape(script)}</h1>{sections or '<p>No failure found in this run.</p>'}"
        f"{players}</html>"
    )
