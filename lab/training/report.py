"""A report that compares runs in one self-contained HTML file: no network, no scripts, the pictures are embedded.

Every text that comes from a run is escaped; the page's content security policy forbids the browser to load anything.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Literal

from lab.text import html_table, with_minus
from lab.training.config import Config, describe, setting_text
from lab.training.doctor import diagnose
from lab.training.records import Record, ending, is_regression, score
from lab.training.run_folder import RunError, RunFolder, is_run
from lab.training.summary import comparison_picture, run_picture
from lab.training.sweep import rank

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Training runs</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
div.wide { overflow-x: auto; margin: 1rem 0; }
img { width: 100%; min-width: 44rem; height: auto; background: white; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; font-weight: bold; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
td { white-space: nowrap; }
tbody th { min-width: 9rem; max-width: 24rem; overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
"""  # noqa: E501
END = "</main>\n</body>\n</html>\n"


@dataclass(frozen=True)
class Entry:
    """A run in the report. sizes: the widths of its network from the inputs to the classes."""

    name: str
    run: RunFolder
    config: Config
    records: list[Record]
    sizes: tuple[int, ...]

    @property
    def best(self) -> Record:
        return [record for record in self.records if record["best"]][-1]

    @property
    def held_out(self) -> bool:
        """True if samples were held out for validation; if not, the validation numbers repeat the training numbers."""
        return self.config.val_fraction > 0

    @property
    def ended(self) -> str:
        """How the run ended, in a word or two for a table."""
        return ending(self.config, self.records) or "not finished"

    @cached_property
    def picture(self) -> bytes:
        """The PNG of the run's curves, drawn from its records."""
        title = f"{self.run.path.name}: {describe(self.sizes, self.config)}"
        return run_picture(self.records, title, self.ended == "stopped early", self.held_out)


def read(paths: Iterable[Path]) -> list[Entry]:
    """Read the runs in these folders; a sweep's folder stands for all its runs. Raises RunError, ConfigError."""
    entries = []
    for path in paths:
        members = not is_run(path) and os.path.isdir(path)
        inside = sorted(file.parent for file in path.glob("*/config.json")) if members else []
        for folder in inside or [path]:
            run = RunFolder(folder)
            config, records, sizes = run.config(), run.records(), run.sizes()
            if not records or sizes is None:
                raise RunError(f"The run in {str(folder)!r} has no complete epoch yet: train it first.")
            entries.append(Entry(str(folder), run, config, records, sizes))
    return entries


def as_html(entries: Sequence[Entry]) -> str:
    """Write the HTML page for at least one run."""
    entries = sorted(entries, key=lambda entry: rank(entry.best))
    settings = {entry.name: entry.config.to_json() for entry in entries}
    first = settings[entries[0].name]
    differing = [name for name in first if any(s[name] != first[name] for s in settings.values())]
    parts = [f"<h1>{len(entries)} training runs</h1>" if len(entries) > 1 else "<h1>A training run</h1>"]
    parts.append(_table("Results, the best first", _RESULTS, [_result(entry) for entry in entries]))
    if len(entries) > 1:
        if differing:
            lines = [[name, *(setting_text(settings[name][key]) for key in differing)] for name in settings]
            parts.append(_table("Settings that differ", ["run", *(key.replace("_", " ") for key in differing)], lines))
        else:
            parts.append("<p>All runs have the same settings.</p>")
        curves = {f"{e.name}{'' if e.held_out else f' (training: {NOTHING})'}": e.records for e in entries}
        alt = "Validation loss and validation accuracy of all runs by epoch; the numbers are in the tables below."
        parts.append(_image(comparison_picture(curves), alt))
    same = [[key.replace("_", " "), setting_text(first[key])] for key in first if key not in differing]
    parts.append(f"<details><summary>Settings{' in common' if len(entries) > 1 else ''}</summary>")
    parts.append(_table("Settings", ["setting", "value"], same) + "</details>")
    parts += map(_section, entries)
    return PAGE + "\n".join(parts) + "\n" + END


def _section(entry: Entry) -> str:
    findings = "".join(f"<li>{escape(str(finding))}</li>" for finding in diagnose(entry.records, entry.config))
    alt = "Loss, accuracy, gradient norms and weights of the run; the numbers are in the table below."
    parts: dict[Part, str] = PARTS if entry.held_out else {"train": PARTS["train"]}
    numbers = [
        [
            str(r["epoch"]),
            *(_number(r["train_loss"] if part == "train" else r["val_loss"]) for part in parts),
            *(f"{score(r, part):.4f}" for part in parts),
        ]
        for r in entry.records
    ]
    scored = "R²" if is_regression(entry.records[0]) else "accuracy"
    head = ["epoch", *(f"{word} loss" for word in parts.values()), *(f"{word} {scored}" for word in parts.values())]
    return (
        f"<section><h2>{escape(entry.name)}</h2>\n<p>{escape(describe(entry.sizes, entry.config))}</p>\n"
        f"<p>What the doctor says:</p><ul>{findings}</ul>\n{_image(entry.picture, alt)}\n"
        f"<details><summary>All {len(numbers)} epochs</summary>{_table(entry.name, head, numbers)}</details></section>"
    )


Part = Literal["train", "val"]
PARTS: dict[Part, str] = {"train": "training", "val": "validation"}
NOTHING = "nothing held out"
_RESULTS = ("run", "best validation accuracy", "validation loss", "training accuracy", "best epoch", "epochs", "ended")


def _result(entry: Entry) -> list[str]:
    best = entry.best
    form = "R² {:.4f}" if is_regression(best) else "{:.2%}"
    val, train = (with_minus(form.format(score(best, part))) for part in ("val", "train"))
    validation = [val, _number(best["val_loss"])] if entry.held_out else [NOTHING, NOTHING]
    counts = [str(best["epoch"]), str(len(entry.records))]
    return [entry.name, *validation, train, *counts, entry.ended]


def _number(value: float | None) -> str:
    return "not a number" if value is None else f"{value:.4f}"


def _table(caption: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return _wide(caption, html_table(caption, head, lines))


def _image(png: bytes, alt: str) -> str:
    return _wide("Picture", f'<img alt="{escape(alt)}" src="data:image/png;base64,{b64encode(png).decode()}">')


def _wide(name: str, content: str) -> str:
    """Put content that may be wider than a phone into a frame that scrolls, also by keyboard."""
    return f'<div class="wide" role="group" tabindex="0" aria-label="{escape(name)}">{content}</div>'
