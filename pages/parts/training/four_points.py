"""A whole training on four points: guess how soon the loss is small, then see each number of each step."""

import math
from collections.abc import Sequence

import streamlit as st

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.text import counted, numeral
from lab.training.descent import four_points
from lab.training.descent.four_points import TARGETS
from lab.training.descent.walk import RATES
from lab.ui import binding, page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.table import show_table
from lab.ui.widgets import FIRST, ask, button, verdict

TITLE = "Four points"  # among the lessons
SEEDS = (0, 999)
OPEN = "training-four"  # session key: these are shown in place of the training of a network
TRY_THIS = "Find a rate that makes the loss grow instead. What do the gradients look like just before it does?"
SOON = {"10": "within 10 steps", "30": "within 30", "100": "within 100", "never": "not within 100"}
STEPS = "training-four_steps"  # session key


def show() -> None:
    """Draw the guess, the transport, the loss and the numbers."""
    st.markdown(
        f"Train a network of {four_points.PARAMETERS} parameters on {len(four_points.POINTS)} points with "
        f"{four_points.POINTS.shape[1]} inputs each. Guess how soon its loss is below "
        f"{four_points.LEARNED_LIMIT}, then press Step."
    )
    st.caption("The loss is the mean squared error, and the last layer has no tanh. Other choices give other numbers.")
    session = st.session_state

    def go(by: int) -> None:
        session[STEPS] = min(session[STEPS] + by, four_points.MAX_STEPS)

    left, right = st.columns([3, 2], gap="large")
    with left:
        guessed = ask(f"Guess: the loss is below {four_points.LEARNED_LIMIT}", SOON, "training-soon")
    waits = guessed is None
    with right:
        rate = st.select_slider(
            "Rate", RATES, four_points.RATE, key="training-four_rate", format_func=binding.number, bind="query-params"
        )
        seed = st.number_input("Seed of the first weights", *SEEDS, 0, key="training-four_seed", bind="query-params")
        steps = st.slider("Steps", 0, four_points.MAX_STEPS, 0, key=STEPS, disabled=waits, bind="query-params")
        if waits:
            steps = 0
    with left, st.container(horizontal=True, gap="small"):
        full = waits or steps >= four_points.MAX_STEPS
        button("Step", "four step", go, 1, type="primary", disabled=full)
        button("Run 100", "four run", go, four_points.MAX_STEPS, disabled=full)
        button("Reset", "four reset", go, -steps, disabled=not steps)
    moments = memoize("four moments", (rate, seed, steps), lambda: four_points.train(rate, seed, steps))
    last = moments[-1]
    with right:
        st.metric(f"Loss after {counted(steps, 'step')}", numeral(last.loss))
        st.markdown(FIRST if guessed is None else _soon(moments, guessed))
    with left:
        chart = charts.lines(
            "Loss by step",
            [Line("mean squared error", [(float(i), moment.loss) for i, moment in enumerate(moments)])],
            Axis("step", ends=(0, four_points.MAX_STEPS)),
            Axis("loss", log=True, ends=(_lowest(moments), None)),
            marks=[Mark("y", four_points.LEARNED_LIMIT, f"target: {four_points.LEARNED_LIMIT}")],
            height=260,
            theme=page.theme(),
        )
        show_chart(chart, "four loss")
        wanted = ", ".join(numeral(value) for value in TARGETS[:, 0])
        st.markdown(f"**Loss and predictions as they fall**, the latest first. Targets: {wanted}.")
        rows = [
            (step, numeral(moments[step].loss), *(numeral(value) for value in moments[step].predictions))
            for step in range(steps, -1, -1)
        ]
        with st.container(height=240 if steps > 4 else "content", border=steps > 4):
            show_table(["step", "loss", *(f"point {i}" for i in range(1, 5))], rows)
    with st.expander(f"Every parameter’s gradient after {counted(steps, 'step')} ({len(last.parameters)} of them)"):
        show_table(
            ["parameter", "value", "gradient", f"value − {binding.number(rate)} · gradient"],
            [
                (name, numeral(value), numeral(gradient), numeral(value - rate * gradient))
                for name, value, gradient in last.parameters
            ],
        )


def _lowest(moments: Sequence[four_points.Moment]) -> float:
    """Return the lower end of the axis of the loss: a power of ten below the target and below all losses."""
    losses = (moment.loss for moment in moments if moment.loss > 0)  # False for nan, too
    return float(10.0 ** math.floor(math.log10(min(four_points.LEARNED_LIMIT / 2, *losses))))


def _soon(moments: Sequence[four_points.Moment], guessed: str) -> str:
    """Say after which step the loss was small for the first time, and whether the guess was right."""
    below = next((step for step, moment in enumerate(moments) if moment.loss < four_points.LEARNED_LIMIT), None)
    if below is not None:
        right = next(name for name in SOON if below <= int(name))
        sentence = f"It was below {four_points.LEARNED_LIMIT} for the first time after {counted(below, 'step')}"
        if below:
            sentence += (
                f", at {numeral(moments[below].loss)}; one step before it was {numeral(moments[below - 1].loss)}"
            )
    elif len(moments) > four_points.MAX_STEPS:
        right, sentence = "never", f"After {counted(four_points.MAX_STEPS, 'step')} it is {numeral(moments[-1].loss)}"
    else:
        return f"It has not been below {four_points.LEARNED_LIMIT} yet."
    return f"{verdict(guessed == right)} {sentence}."
