"""Descent: three optimizers step down a surface, next to each other."""

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from lab import charts
from lab.charts import Chart, Track
from lab.text import counted, equals, numeral, rounded, short
from lab.training.descent.surfaces import REACH, SURFACES, Surface
from lab.training.descent.walk import CONVERGED, DIVERGED, KINDS, MAX_STEPS, RATES, OptimizerStep, Walk
from lab.ui import binding, page, progress
from lab.ui.chart_host import ChartHost, clicked_points
from lab.ui.memoize import memoize
from lab.ui.table import markdown_table
from lab.ui.widgets import ask, button, pick, row, verdict

TITLES = {key: surface.title for key, surface in SURFACES.items()}
GUESS_STEPS = 10  # number of steps that the question is about
TICK = charts.STEP_MS / 1000  # seconds between two steps of a run
START = ("descent-x", "descent-y")
RATE = tuple(f"descent-rate-{kind}" for kind in KINDS)
STEPS = binding.whole("descent-steps", 0, 0, MAX_STEPS)
TRY_THIS = (
    "On the bowl, find the largest rate at which SGD still converges. What happens at 1? Then start on the saddle at "
    "y = 0, and at y = 0.1. Where has the first one converged?"
)


def main() -> None:
    with page.frame("descent", STEPS) as arrived:
        st.title("Descent")
        if arrived:
            st.session_state["descent until"] = 0
        _down()
        session = st.session_state
        progress.done("why-the-loss-fell", session["descent-guess"] is not None and session["descent-steps"] >= 10)
        page.closing(TRY_THIS, "pages/training_lab.py", "Next: a whole training run, with all instruments")


# ---------------------------------------------------------------- down a surface


def _down() -> None:
    st.markdown(
        "The optimizers start at the same point: click on the picture to move it. The hollow marks show where the "
        "next step **would** land."
    )
    with st.container(key="picture-descent", horizontal=True, gap="medium"):
        left, right, told = (st.container(key=f"descent-{part}") for part in ("picture", "settings", "told"))
    with right:
        surface = _settings()
    walks = _walks(surface)
    with left:
        _transport(walks)
        host = ChartHost("descent")
        host.place("landscape")
    with right:
        _guess(surface, walks["momentum"], {kind: walk.step_after(GUESS_STEPS).loss for kind, walk in walks.items()})
    with told:
        st.fragment(_show, run_every=TICK if _is_running() else None)(surface, walks, host)


def _settings() -> Surface:
    """Draw the widgets for surface, start and rates, and return the surface."""
    session = st.session_state
    pick("Surface", TITLES, "descent-surface", on_change=_start_over, bind="query-params")
    surface = SURFACES[session["descent-surface"]]
    asks_again: Any = {"on_change": binding.put, "args": ("descent-guess", None), "bind": "query-params"}
    for point in clicked_points("descent click")[-1:]:  # before the sliders, which cannot be set once they are drawn
        session["descent-guess"] = None
        session.update(zip(START, (min(max(round(value, 2), -REACH), REACH) for value in point), strict=True))
    for column, key, name, value in zip(st.columns(2), START, surface.names, surface.start, strict=True):
        column.slider(f"Start, {name}", -REACH, REACH, value, 0.01, key=key, **asks_again)
    columns = st.columns(3, vertical_alignment="bottom")
    for column, key, kind, value in zip(columns, RATE, KINDS.values(), surface.rates, strict=True):
        label = f"Rate, {kind.title}"
        column.select_slider(label, RATES, value, format_func=binding.number, key=key, **asks_again)
    return surface


def _start_over() -> None:
    """Begin on another surface, at its own start and rates."""
    session = st.session_state
    surface = SURFACES[session["descent-surface"]]
    _reset()
    session["descent-guess"] = None
    session.update(zip((*START, *RATE), (*surface.start, *surface.rates), strict=True))


def _reset() -> None:
    binding.reset(STEPS)
    st.session_state["descent until"] = 0


def _is_running() -> bool:
    """Return whether a run has steps to take up to the number in the session."""
    return st.session_state["descent-steps"] < st.session_state["descent until"]


def _walks(surface: Surface) -> dict[str, Walk]:
    """Return each optimizer's walk, cached so that a run continues where it was."""
    session = st.session_state
    start = session[START[0]], session[START[1]]
    rates = [session[key] for key in RATE]
    return memoize(
        "descent walks",
        (surface.formula, start, rates),
        lambda: {kind: Walk(surface, kind, rate, start) for kind, rate in zip(KINDS, rates, strict=True)},
    )


def _transport(walks: Mapping[str, Walk]) -> None:
    session = st.session_state

    def go(by: int) -> None:
        session["descent-steps"] = min(session["descent-steps"] + by, MAX_STEPS)

    at, running = session["descent-steps"], _is_running()
    over = at >= MAX_STEPS or _ended(walks, at)
    with row(gap="xsmall"):
        button("Back", "descent back", go, -1, disabled=running or not at, shortcut="Left")
        button("Step", "descent step", go, 1, type="primary", disabled=over or running, shortcut="Right")
        until = min(at + 10, MAX_STEPS)
        button("Run 10", "descent ten", binding.put, "descent until", until, disabled=over or running)
        if running:
            button("Stop", "descent stop", binding.put, "descent until", 0, icon="stop", shortcut="P")
        else:
            button("Run", "descent run", binding.put, "descent until", MAX_STEPS, disabled=over, shortcut="P")
            button("Reset", "descent reset", _reset, disabled=not at)


def _ended(walks: Mapping[str, Walk], steps: int) -> bool:
    return all(walk.step_after(steps).end for walk in walks.values())


def _guess(surface: Surface, momentum: Walk, losses: Mapping[str, float]) -> None:
    """Ask about the first ten steps before they are taken, and answer afterwards."""
    if surface.lowest:
        question = f"After {GUESS_STEPS} steps of momentum, is x past the minimum or before it?"
        answers = {"past": "past it", "before": "before it"}
        began, came, lowest = momentum.step_after(0).at[0], momentum.step_after(GUESS_STEPS).at[0], surface.lowest[0]
        right = "past" if (came - lowest) * (began - lowest) < 0 else "before"
        because = f"x is {numeral(came)}; it began at {numeral(began)}, and the minimum is at {numeral(lowest)}."
    else:
        question = f"Whose loss is the lowest after {GUESS_STEPS} steps?"
        answers = {key: kind.title for key, kind in KINDS.items()}
        right = min(losses, key=lambda key: losses[key] if math.isfinite(losses[key]) else math.inf)
        because = ", ".join(f"{KINDS[key].title} {numeral(loss)}" for key, loss in losses.items()) + "."
    with (place := st.empty()):
        guessed = ask(question, answers, "descent-guess")
    if st.session_state["descent-steps"] < GUESS_STEPS:
        return
    if guessed is None:
        place.empty()  # only now, as the choice may come from the address
    else:
        st.markdown(f"{verdict(guessed == right)} **After {GUESS_STEPS} steps: {answers[right]}.** {because}")


def _show(surface: Surface, walks: Mapping[str, Walk], host: ChartHost) -> None:
    """Draw the picture and the numbers; during a run, take the next step first."""
    session = st.session_state
    if _is_running():
        session["descent-steps"] += 1
        if _ended(walks, session["descent-steps"]):
            session["descent until"] = 0
        if not _is_running():
            st.rerun()  # of the page: its buttons change, and the fragment no longer runs by itself
        binding.write(STEPS)
    steps = session["descent-steps"]
    ahead = {kind: walk.step_after(steps) for kind, walk in walks.items()}
    theme = page.theme()

    def drawn() -> tuple[Chart, str, str]:
        tracks = [
            Track(KINDS[kind].title, walk.path(steps), None if step.end else step.to, walk.state_after(steps))
            for (kind, walk), step in zip(walks.items(), ahead.values(), strict=True)
        ]
        title = f"{surface.title}: {surface.formula}"
        chart = charts.landscape(title, *surface.heights(), tracks, surface.names, surface.lowest, theme)
        return chart, _state_table(walks, ahead, steps), _next_step_table(surface, ahead)

    chart, state_table, next_step_table = memoize("descent landscape", (walks, steps, theme), drawn)
    host.fill({"landscape": chart})
    st.container(key="descent-states").markdown(state_table)
    st.container(key="descent-next").markdown(next_step_table)


def _state_table(walks: Mapping[str, Walk], ahead: Mapping[str, OptimizerStep], steps: int) -> str:
    rows = [
        (
            KINDS[kind].title,
            short(step.loss),
            short(math.hypot(*step.gradient)),
            walks[kind].state_after(steps) + (f" after {len(walks[kind].first_steps(steps))}" if step.end else ""),
        )
        for kind, step in ahead.items()
    ]
    meanings = [
        f"**{word}**: {meaning}"
        for word, meaning in (("converged", CONVERGED), ("diverged", DIVERGED))
        if any(step.end == word for step in ahead.values())
    ]
    return "\n\n".join([markdown_table([counted(steps, "step"), "loss", "|gradient|", "state"], rows), *meanings])


def _next_step_table(surface: Surface, ahead: Mapping[str, OptimizerStep]) -> str:
    """Tabulate the next step of each optimizer with all numbers that lead to it."""
    rows = []
    for kind, step in ahead.items():
        rate = st.session_state[f"descent-rate-{kind}"]
        for i, name in enumerate(surface.names):
            m, v = ([numeral(pair[i]) for pair in step.memory] + ["–", "–"])[:2]
            update, at, to = step.update[i], step.at[i], step.to[i]
            known = KINDS[kind].title, name, numeral(step.gradient[i]), m, v
            if step.end:
                rows.append((*known, "no step", f"{numeral(at)}: {step.end}"))
                continue
            holds = equals([rate * rounded(update / rate)], update)
            product = f"{binding.number(rate)} · {_signed(update / rate)} {holds} {numeral(update)}"
            holds = equals([rounded(at), -rounded(update)], to)
            rows.append((*known, product, f"{numeral(at)} − {_signed(update)} {holds} {numeral(to)}"))
    rules = "; ".join(f"{kind.title} {kind.rule}" for kind in KINDS.values())
    return "\n\n".join(
        [
            "**The next step**, before it is taken: θ − update is the next θ.",
            markdown_table(["optimizer", "θ", "gradient", "m", "v", "rate · direction = update", "θ − update"], rows),
            f":small[{rules}. m and v are what the optimizer remembers once this gradient has arrived.]",
        ]
    )


def _signed(number: float) -> str:
    """Write a number, in brackets if it is negative."""
    return f"({numeral(number)})" if number < 0 else numeral(number)


main()
