"""One fault: the same numbers through a healthy engine and one that is broken in exactly one way."""

from collections.abc import Mapping

import streamlit as st

from lab import charts
from lab.charts import Chart, CurveOptions
from lab.failures.catalogue import BY_KEY as FAILURES
from lab.text import brief, listed
from lab.trace.comparison import first_difference
from lab.training.doctor import diagnose
from lab.traps.faults.catalogue import BY_KEY, Fault
from lab.traps.faults.gradient_tables import gradient_tables
from lab.traps.faults.healthy_and_broken import (
    CURVES,
    EFFECTS,
    LessonRun,
    check,
    compare,
    leaves,
    play,
    train_with,
    which_curve,
)
from lab.ui import binding, page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button, pick, result, switch, verdict
from model import Tensor

ENGINES = ("broken", "healthy")
UNTOUCHED = "The rules of the engine are untouched: what they compute is right. The mistake is in the training."
FAULT = binding.choice("wrong-fault", None, *BY_KEY)
EFFECT = binding.choice("wrong-gradient", None, *EFFECTS)
CURVE = binding.choice("wrong-curve", None, *CURVES)
RUN = binding.flag("wrong-run")
EVENT = binding.HeldValue("wrong-event", None, binding.natural, written=False)
HELD = (FAULT, EFFECT, CURVE, RUN, EVENT)


def show(key: str) -> None:
    """Draw one fault: its broken rule and a guess, then the results."""
    fault = BY_KEY[key]
    with st.container(gap="small"):
        seed = _heading(fault)
        if st.session_state[RUN.key]:
            _rule(fault.fix)
            _results(fault, seed)
        else:
            rule, guess = st.columns([3, 2], gap="medium")
            with rule:
                _rule("\n".join(fault.difference))
            with guess.container(gap="small"):
                _guess(fault, seed)


def is_run() -> bool:
    """Return whether a fault is open and both engines have run."""
    return st.session_state[FAULT.key] is not None and st.session_state[RUN.key]


def open_fault(key: str | None) -> None:
    """Open a fault, or none, without guesses and results; a callback."""
    binding.reset(*HELD)
    binding.set_widget("wrong-play", False)
    st.session_state[FAULT.key] = key


def _leave_event() -> None:
    """Forget the event that a link asked for, because the pass has changed."""
    binding.reset(EVENT)


# ---------------------------------------------------------------- choose, read, guess


def _heading(fault: Fault) -> int:
    """Draw the name of the fault and its cause, and return the seed that the visitor has chosen."""
    about, numbers = st.columns([6, 1], gap="medium", vertical_alignment="bottom")
    with about.container(gap="xsmall"):
        st.header(fault.name, anchor="fault")
        st.markdown(f"{fault.cause} Guess what it does. Then run both engines on the same numbers.")
    return numbers.number_input(
        "Seed",
        0,
        999,
        key="wrong-seed",
        on_change=_leave_event,
        help="Other numbers, other initial weights.",
        bind="query-params",
    )


def _rule(difference: str) -> None:
    with st.container(key="picture-rule"):  # which a projector shows
        st.code(difference, language="diff", wrap_lines=True)


def _ask(question: str, answers: Mapping[str, str], key: str) -> None:
    pick(
        f"What do you expect? {question}",
        answers,
        key,
        index=None,
        placeholder="Choose an answer",
        persist_state="session",
    )


def _example(fault: Fault, seed: int) -> None:
    st.code(fault.example, wrap_lines=True)
    st.markdown(f"With {listed(f'{name} = {brief(value)}' for name, value in leaves(fault, seed).items())}.")


def _guess(fault: Fault, seed: int) -> None:
    if fault.example:
        _example(fault, seed)
        _ask("Next to the healthy engine, the gradients are…", EFFECTS, EFFECT.key)
    else:
        st.markdown(UNTOUCHED)
    st.markdown(
        "Then each engine trains the same small network, with a shortcut, on the moons data, from the same seed."
    )
    _ask("The training run…", CURVES, CURVE.key)
    guessed = st.session_state[CURVE.key] and (fault.kind == "training" or st.session_state[EFFECT.key])
    with st.container(horizontal=True, vertical_alignment="center"):
        look = {"type": "primary", "disabled": not guessed}
        button("Run both engines", "fault go", binding.put, RUN.key, True, icon="play_arrow", **look)
        if not guessed:
            st.caption("First say what you expect.")


# ---------------------------------------------------------------- the results


@st.cache_data(max_entries=64, show_spinner="Training both networks")
def _runs(key: str, seed: int) -> tuple[LessonRun, LessonRun]:
    return train_with(BY_KEY[key].healthy, seed), train_with(BY_KEY[key].broken, seed)


def _results(fault: Fault, seed: int) -> None:
    """Show the answers in place of the questions, and all other results below them."""
    case = fault.key, seed
    healthy, broken = memoize("fault runs", case, lambda: _runs(*case))  # the shared cache makes a copy at each call
    left, right = st.columns(2, gap="large")
    with left:
        st.header("The gradients")
        if fault.example:
            _example(fault, seed)
            comparison = memoize("fault comparison", case, lambda: compare(fault, seed))
            _answer(EFFECTS, comparison.effect, EFFECT.key, fault.symptom)
            healthy_gradients, broken_gradients = comparison.healthy.gradients, comparison.broken.gradients
            pairs = [(name, gradient, broken_gradients[name]) for name, gradient in healthy_gradients.items()]
            st.html("".join(gradient_tables(*pair) for pair in pairs))
        else:
            st.markdown(f"{UNTOUCHED} {fault.symptom}")
    with right:
        st.header("The training run")
        _answer(CURVES, which_curve(healthy, broken), CURVE.key, fault.in_training)
        if broken.error:
            st.error(f"The broken run stopped. {with_code(broken.error)}", icon=":material/block:")
        theme = page.theme()
        show_chart(
            memoize("fault losses", (case, theme), lambda: charts.losses(healthy.losses, broken.losses, theme)),
            "fault loss",
        )
    if fault.kind == "engine":
        _events(fault, seed)
    st.header("What finds it")
    st.markdown(fault.caught_by)
    if fault.kind == "engine":
        _gradient_check(fault, seed)
    _doctor(fault, seed, broken)
    norms = memoize("fault norms", (case, theme), lambda: _norms(healthy, broken, theme))
    for column, (name, chart) in zip(st.columns(2, gap="large"), norms.items(), strict=False):
        with column:
            show_chart(chart, f"fault norms {name}", name)
    if fault.failure:
        failure = FAILURES[fault.failure]
        page.link_to(
            "pages/what_went_wrong.py",
            f"The same in a program: {failure.name}",
            "troubleshoot",
            {"failure": failure.key},
        )


def _answer(choices: Mapping[str, str], truth: str, guess: str, why: str) -> None:
    """Show the result with its reason, next to the learner's guess, if there is one. guess: its session key."""
    guessed = st.session_state[guess]
    judged = "" if guessed is None else f"{verdict(guessed == truth)} "
    st.markdown(f"{judged}Found: **{choices[truth]}**. {why}")


def _events(fault: Fault, seed: int) -> None:
    """Show the pass in the player, at the first event in which the engines differ."""
    part = st.expander("See it event by event", key="wrong-play", on_change="rerun", bind="query-params")
    if not part.open:
        return
    with part:
        engine = switch("Engine", ENGINES, "fault engine", default=ENGINES[0], on_change=_leave_event)
        passes = memoize(
            "fault passes",
            (fault.key, seed),
            lambda: {"broken": play(fault, fault.broken.engine, seed), "healthy": play(fault, Tensor, seed)},
        )
        trace, different = passes[engine], first_difference(passes["healthy"], passes["broken"])
        first = 1 if different is None else different + 1
        st.markdown(
            f"Event {first} of the broken engine is the first that the healthy one does not have. "
            "Go through what comes before and after it, then see what the healthy engine does there."
        )
        player(
            trace,
            key="fault player",
            event=min(first, len(trace.events)),
            opened=st.session_state[EVENT.key],
            address=EVENT.key,
        )


def _norms(healthy: LessonRun, broken: LessonRun, theme: str) -> dict[str, Chart]:
    """Draw the gradient norms of both runs on one scale."""
    options = CurveOptions(len(healthy.records), theme=theme)
    norms = {
        name: charts.gradient_norms(run.from_start, list(run.records[0]["grad_norm"]), options)
        for name, run in (("healthy", healthy), ("broken", broken))
        if run.records
    }
    low = min(chart.spec["yAxis"]["min"] for chart in norms.values())
    high = max(chart.spec["yAxis"]["max"] for chart in norms.values())
    for chart in norms.values():
        chart.spec["yAxis"] |= {"min": low, "max": high}
        charts.limit_log_axis(chart.spec)
    return norms


# ---------------------------------------------------------------- what finds it


def _gradient_check(fault: Fault, seed: int) -> None:
    st.markdown("**The gradient check**, run now on both engines")
    engines = Tensor, fault.broken.engine
    reports = memoize("fault checks", (fault.key, seed), lambda: [check(fault, engine, seed) for engine in engines])
    for column, title, report in zip(st.columns(2, gap="medium"), ("Healthy", "Broken"), reports, strict=True):
        with column:
            result(bool(report), f"**{title} engine.** {escape_markdown(report.verdict)}")


def _doctor(fault: Fault, seed: int, broken: LessonRun) -> None:
    st.markdown("**The training doctor** on the broken run")
    if not broken.records:
        st.info("There is no history: no epoch was completed.", icon=":material/hourglass_empty:")
        return
    config = fault.broken.config(seed)
    first = memoize("fault doctor", (fault.key, seed), lambda: diagnose(broken.records, config, own_loop=True)[0])
    evidence = escape_markdown(" ".join(first.evidence))
    if first.well:  # although the run is broken
        st.container(border=True).markdown(
            f":material/visibility_off: **The run looks healthy.** {evidence} Its records cannot reveal this fault."
        )
    else:
        remedy = escape_markdown(first.remedy)
        st.warning(f"**{first.name}.** {evidence} {remedy}", icon=":material/stethoscope:")
