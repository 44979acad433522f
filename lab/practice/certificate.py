"""Makes the certificate of an engine that a learner has built: one HTML file that loads nothing else.

Every text is escaped, above all the learner's code; a policy in the page forbids the browser to load anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from html import escape

from lab.practice.learner_run import Contest, Side
from lab.text import html_table
from practice.task import Course

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>An engine of my own</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { margin-bottom: 0; }
.lead { font-size: 1.15rem; margin-top: .25rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; font-weight: normal; vertical-align: top;
  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
svg { width: 100%; height: auto; font: 13px system-ui, sans-serif; fill: currentColor; }
svg polyline, svg path { fill: none; stroke: currentColor; }
pre { padding: .75rem; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: .3rem;
  font-size: .8rem; line-height: 1.4; white-space: pre-wrap; }
.honest { border-left: 4px solid currentColor; padding-left: .75rem; }
@media print { :root { color-scheme: light; font-size: 11pt; } body { margin: 0; } pre { border: 0; padding: 0; } }
</style>
</head>
<body>
<main>
"""
_END = "</main>\n</body>\n</html>\n"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 240, 56, 28, 12  # size and margins of the loss curve


def page(
    course: Course, source: str, days: Mapping[str, str], checks: int, contest: Contest | None, today: date
) -> str:
    """Return the HTML of the certificate.

    days     the key of a task -> the day on which it passed, where known
    checks   the number of checks since the learner opened the lab
    contest  the training with exactly this source, or None
    """
    title = escape(course.title.lower())
    lines = len(source.rstrip().split("\n"))
    tasks = [(task.title, days.get(task.key, "passed before")) for task in course.tasks]
    parts = [
        "<h1>An engine of my own</h1>",
        f'<p class="lead">An engine for automatic differentiation ({title}), in {lines} lines of my own, '
        f"as it was on {today.day} {today:%B %Y}.</p>",
        html_table("The tasks, each checked", ("task", "passed on"), tasks),
        f"<p>Checks since the lab was opened: {checks}.</p>",
        *_training(contest),
        "<h2>The code</h2>",
        f"<pre>{escape(source)}</pre>",
        '<p class="honest">The lab made this page on its author’s own machine, from what ran there. '
        "It is a souvenir, not a proof: nobody checked it, and it can be edited like any file.</p>",
    ]
    return _PAGE + "\n".join(parts) + "\n" + _END


def results(contest: Contest) -> list[tuple[str, str, str]]:
    """Return the results of a training as rows: what was measured, with the learner's engine, with the lab's."""
    yours, labs = contest.yours, contest.labs
    rows = [("losses computed", str(len(yours.points)), str(len(labs.points)))]
    rows.append(("last loss", _loss(yours), _loss(labs)))
    if contest.task.answers is not None:
        rows.append(("unseen digits read correctly", _share(yours), _share(labs)))
    rows.append(("processor time", _seconds(yours), _seconds(labs)))
    return rows


def _training(contest: Contest | None) -> list[str]:
    if contest is None or not contest.yours.points:
        return []
    what = "four points" if contest.task.answers is None else "handwritten digits"
    parts = [f"<h2>A network that learned {what} with it</h2>"]
    if contest.graduated:
        parts.append(
            f"<p><strong>It reads {contest.yours.share:.1%} of the digits that it has never seen.</strong></p>"
        )
    if contest.yours.why:
        parts.append(f"<p>It stopped before the end: {escape(contest.yours.why)}</p>")
    parts.append(_curve(contest.yours, contest.labs))
    parts.append(html_table("Result", ("", "my engine", "the lab’s"), results(contest)))
    return parts


def _curve(yours: Side, labs: Side) -> str:
    """Draw both losses by step as SVG. The lab's line is broad and pale, so that it shows where the lines overlap."""
    finite = [point.loss for side in (yours, labs) for point in side.points if math.isfinite(point.loss)]
    last = max(len(yours.points), len(labs.points), 2) - 1
    high, low = max([0.0, *finite]) or 1.0, min([0.0, *finite])

    def place(step: int, loss: float) -> str:
        x = LEFT + step / last * (WIDTH - LEFT)
        y = TOP + (high - loss) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return f"{x:.1f},{y:.1f}"

    def polyline(side: Side, width: float, opacity: float) -> str:
        points = " ".join(place(point.step, point.loss) for point in side.points if math.isfinite(point.loss))
        return f'<polyline points="{points}" stroke-width="{width}" stroke-opacity="{opacity}"/>'

    words = f"Loss by step: {_loss(yours)} at the end with my engine"
    words += f", {_loss(labs)} with the lab’s." if labs.points else "."
    floor = HEIGHT - BOTTOM
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(words)}">'
        f'<path d="M{LEFT},{TOP} V{floor} H{WIDTH}" stroke-width="1"/>'
        f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{high:.3g}</text>'
        f'<text x="{LEFT - 6}" y="{floor}" text-anchor="end">{low:.3g}</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 8}">step 0</text>'
        f'<text x="{WIDTH}" y="{HEIGHT - 8}" text-anchor="end">step {last}</text>'
        f"{polyline(labs, 4, 0.3)}{polyline(yours, 1.2, 1)}</svg>"
        "<p>Loss by step: the thin line with my engine, the broad pale one with the lab’s.</p>"
    )


def _loss(side: Side) -> str:
    return f"{side.points[-1].loss:.4g}" if side.points else "none"


def _share(side: Side) -> str:
    return "none" if side.share is None else f"{side.share:.1%}"


def _seconds(side: Side) -> str:
    return f"{side.points[-1].seconds:.2f} s" if side.points else "none"
