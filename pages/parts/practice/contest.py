"""A contest: a learner's engine and the lab's train the same network, one after the other.

A visitor has one contest at a time, which continues while they visit other pages.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab import charts
from lab.charts import Axis, Line
from lab.practice.learner_training import TRAININGS, Contest
from lab.ui import page, progress
from lab.ui.chart_host import ChartHost
from lab.ui.table import escape_markdown, show_table, with_code
from lab.ui.widgets import button
from pages.parts.practice import finished
from pages.parts.practice.finished import Engine
from pages.parts.practice.processes import runner_in_turn

TICK = 0.4  # seconds between two updates of the page
SEED = 0  # random seed of the initial weights of both trainings


def show(engine: Engine) -> None:
    """Draw the buttons Train and Stop, both losses, and the result."""
    session = st.session_state
    contest = of(engine)
    progress.done("own-digits", contest is not None and contest.graduated)
    running = contest is not None and not contest.done

    def start() -> None:
        if before := session.get("own contest"):
            before.stop()  # it may be of another engine, and a visitor has one contest at a time
        session["own contest"] = Contest(engine.course, engine.source, SEED, runner_in_turn())

    def stop() -> None:
        if contest:
            contest.stop()

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        label = "Train again" if contest and contest.done else "Train"
        button(label, "own train", start, icon="play_arrow", type="primary", disabled=running)
        button("Stop", "own stop", stop, icon="stop", disabled=not running)
        st.markdown(f"{TRAININGS[engine.course.key]} Both begin with the same numbers.")
    if contest is None:
        return
    host = ChartHost("own")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        host.place("losses")
    with right:
        st.fragment(_follow, run_every=TICK if running else None)(contest, host, running)


def of(engine: Engine) -> Contest | None:
    """Return the contest of exactly this engine, or None."""
    contest: Contest | None = st.session_state.get("own contest")
    return contest if contest and (contest.course.key, contest.source) == (engine.course.key, engine.source) else None


def _follow(contest: Contest, host: ChartHost, running: bool) -> None:
    """Draw the losses and the progress; when the contest ends, rerun the page to show the result."""
    if running and contest.done:
        st.rerun()
    drawn = [
        Line(name, [(point.step, point.loss) for point in side.points])
        for name, side in (("Your engine", contest.yours), ("The lab’s engine", contest.labs))
    ]
    x = Axis("step", ends=(0, contest.task.steps - 1))
    host.fill({"losses": charts.lines("Loss of both trainings", drawn, x, Axis("loss"), theme=page.theme())})
    if not contest.done:
        whose, side = ("the lab’s", contest.labs) if contest.labs.points else ("your", contest.yours)
        st.progress(contest.progress, f"Step {len(side.points)} of {contest.task.steps} with {whose} engine.")
        return
    _outcome(contest)


def _outcome(contest: Contest) -> None:
    contest.result()  # raises an error of the lab itself
    yours, labs = contest.yours, contest.labs
    if contest.graduated:
        st.success(
            f"Your engine reads {yours.share:.1%} of the digits that it has never seen. This is the graduation: every "
            "rule in it is yours.",
            icon=":material/school:",
        )
    if yours.why:
        engine = finished.engines()[contest.course.key]
        where = f"after step {yours.points[-1].step}" if yours.points else "before its first step"
        st.error(
            f"Your engine stopped {where}. {escape_markdown(finished.with_line(engine, yours.why, yours.line))}",
            icon=":material/block:",
        )
    if labs.why:
        st.error(f"The lab’s engine stopped: {with_code(labs.why)}")
    if (first := next((point.step for point in yours.points if not np.isfinite(point.loss)), None)) is not None:
        st.warning(f"From step {first} on, your engine’s loss is not a finite number.")
    if labs.points and yours.points:
        if contest.first_difference is None:
            st.markdown(f"**The same numbers:** all {len(yours.points)} losses agree, to one part in a million.")
        else:
            st.markdown(f"**Not the same numbers:** the losses first differ in step {contest.first_difference}.")
    show_table(["", "your engine", "the lab’s"], _results(contest))


def _results(contest: Contest) -> list[tuple[str, ...]]:
    """Return the results of a training as rows: what was measured, with the learner's engine, with the lab's."""
    sides = contest.yours, contest.labs
    last = [side.points[-1] if side.points else None for side in sides]
    rows: list[tuple[str, ...]] = [
        ("losses computed", *(str(len(side.points)) for side in sides)),
        ("last loss", *(f"{point.loss:.4g}" if point else "none" for point in last)),
        ("processor time, just now", *(f"{point.seconds:.2f} s" if point else "none" for point in last)),
    ]
    if contest.task.answers is not None:
        shares = ("none" if side.share is None else f"{side.share:.1%}" for side in sides)
        rows.insert(2, ("unseen digits read correctly", *shares))
    return rows
