"""One fault: the same numbers through a healthy engine and one that is broken in exactly one way."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import numpy as np
import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from lab import charts
from lab.charts import Chart, CurveOptions
from lab.expression import ExpressionError
from lab.expression.parser import parse
from lab.failures import FAILURES
from lab.text import brief, numeral
from lab.trace.comparison import first_difference
from lab.trace.schema import Event
from lab.training.doctor import Finding, diagnose
from lab.traps.faults import feedback, side_by_side
from lab.traps.faults.broken_training import Setup
from lab.traps.faults.catalogue import BY_KEY, Fault, source
from lab.traps.faults.healthy_and_broken import (
    CURVES,
    EFFECTS,
    STEPS,
    EngineComparison,
    LessonRun,
    check,
    compare,
    compare_on,
    leaves,
    numbers,
    play,
    train_with,
    which_curve,
)
from lab.ui import binding, expression_box, page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.table import escape_markdown, show_table, with_code
from lab.ui.terms import prose
from lab.ui.widgets import button, pick, result, switch
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
        _broken_rule(fault)
        if st.session_state[RUN.key]:
            _results(fault, seed)
        else:
            _guess(fault, seed)


def is_run() -> bool:
    """Tell whether a fault is open and both engines have run."""
    return st.session_state[FAULT.key] is not None and st.session_state[RUN.key]


def open_fault(key: str | None) -> None:
    """Open a fault, or none, without guesses and results; a callback."""
    binding.reset(*HELD)
    st.session_state["wrong-own"], st.session_state["wrong-play"] = "", False
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


def _broken_rule(fault: Fault) -> None:
    whole = not st.session_state[RUN.key]  # after the run only the marked lines, to leave room for the results
    st.html(side_by_side.code_pair(fault.difference, context=whole))


def _ask(question: str, answers: Mapping[str, str], key: str) -> None:
    pick(
        f"What do you expect? {question}",
        answers,
        key,
        index=None,
        placeholder="Choose an answer",
        persist_state="session",
    )


def _guess(fault: Fault, seed: int) -> None:
    left, right = st.columns(2, gap="medium")
    with left.container(gap="small"):
        if fault.example:
            st.html(side_by_side.value_tables(leaves(fault, seed), source(fault.example)))
            _ask("Next to the healthy engine, the gradients are…", EFFECTS, EFFECT.key)
        else:
            st.markdown(UNTOUCHED)
    with right.container(gap="small"):
        st.markdown(
            "Each engine trains the same small network on the moons data, from the same seed. It has two hidden layers "
            "of 8 units, the second with a shortcut around it."
        )
        _ask("The training run…", CURVES, CURVE.key)
        guessed = st.session_state[CURVE.key] and (fault.kind == "training" or st.session_state[EFFECT.key])
        with st.container(horizontal=True, vertical_alignment="center"):
            button(
                "Run both engines",
                "fault go",
                binding.put,
                RUN.key,
                True,
                icon="play_arrow",
                type="primary",
                disabled=not guessed,
            )
            if not guessed:
                st.caption("First say what you expect.")


# ---------------------------------------------------------------- what came of it


@st.cache_data(max_entries=64, show_spinner="Training both networks")
def _runs(key: str, seed: int) -> tuple[LessonRun, LessonRun]:
    return train_with(BY_KEY[key].healthy, seed), train_with(BY_KEY[key].broken, seed)


def _results(fault: Fault, seed: int) -> None:
    """Show the answers in place of the questions, and all other results below them."""
    case = fault.key, seed
    comparison = memoize("fault comparison", case, lambda: compare(fault, seed))
    healthy, broken = memoize("fault runs", case, lambda: _runs(*case))  # the shared cache makes a copy at each call
    left, right = st.columns(2, gap="large")
    with left:
        st.header("The gradients")
        if fault.kind == "engine":
            why_not = partial(feedback.effect, comparison)
            _answer(EFFECTS, comparison.effect, EFFECT.key, fault.symptom, why_not)
        else:
            st.markdown(f"{UNTOUCHED} {fault.symptom}")
        _gradients(fault, comparison)
    with right:
        st.header("The training run")
        truth = which_curve(healthy, broken)
        _answer(CURVES, truth, CURVE.key, fault.in_training, partial(feedback.curve, healthy, broken, truth))
        if broken.error:
            st.error(f"The broken run stopped. {with_code(broken.error)}", icon=":material/block:")
        theme = page.theme()
        show_chart(
            memoize("fault losses", (case, theme), lambda: charts.losses(healthy.losses, broken.losses, theme)),
            "fault loss",
        )
    if fault.kind == "engine":
        _own_expression(fault, seed)
        _events(fault, seed)
    st.header("What finds it")
    st.markdown(fault.caught_by)
    if fault.kind == "engine":
        _gradient_check(fault, seed)
    _doctor(fault, seed, healthy, broken)
    norms = memoize("fault norms", (case, theme), lambda: _norms(healthy, broken, theme))
    for column, (name, chart) in zip(st.columns(2, gap="large"), norms.items(), strict=False):
        with column:
            show_chart(chart, f"fault norms {name}", name)
    _guard(fault)
    _fix(fault)


def _answer(choices: Mapping[str, str], truth: str, guess: str, why: str, why_not: Callable[[str], str]) -> None:
    """Show the result next to the learner's guess, if there is one, with the reason and what rules the guess out.

    guess: its session key. why: the reason. why_not: returns what rules out a wrong guess.
    """
    guessed = st.session_state[guess]
    if guessed is None:
        st.markdown(f"Found: **{choices[truth]}**. {why}")
    elif guessed == truth:
        st.success(f"As you expected: **{choices[truth]}**. {why}", icon=":material/check:")
    else:
        st.warning(
            f"You expected: {choices[guessed]}. Found: **{choices[truth]}**. {escape_markdown(why_not(guessed))} {why}",
            icon=":material/close:",
        )


def _gradients(fault: Fault, comparison: EngineComparison) -> None:
    if fault.kind == "training":
        st.markdown(
            f"These are the gradients of step {STEPS}. The two networks have drifted apart, so the numbers differ."
        )
    pairs = [(name, g, comparison.broken.gradients[name]) for name, g in comparison.healthy.gradients.items()]
    small = [pair for pair in pairs if pair[1] is None or pair[1].size <= 24]
    st.html("".join(side_by_side.gradient_tables(*pair) for pair in small))
    if comparison.broken.messages != comparison.healthy.messages:
        st.markdown(
            f"Messages sent in the backward pass: {comparison.healthy.messages:,} in the healthy engine, "
            f"**{comparison.broken.messages:,}** in the broken one."
        )
    with st.expander("Every tensor of the pass, as a table"):
        if [name for name, *_ in comparison.healthy.nodes] == [name for name, *_ in comparison.broken.nodes]:
            both = zip(comparison.healthy.nodes, comparison.broken.nodes, strict=True)
            rows = [(name, _short(value), _short(g), _short(other)) for (name, value, g), (_, _, other) in both]
            show_table(["tensor", "value", "gradient, healthy", "gradient, broken"], rows)
            return
        for title, one in (("healthy", comparison.healthy), ("broken", comparison.broken)):
            nodes = [(name, _short(value), _short(gradient)) for name, value, gradient in one.nodes]
            show_table([f"tensor, {title}", "value", "gradient"], nodes)


def _own_expression(fault: Fault, seed: int) -> None:
    """Run the learner's own expression on both engines and compare the gradients."""
    text = st.text_input(
        "The same fault on your own expression",
        key="wrong-own",
        max_chars=200,
        placeholder="a*b + tanh(a)",
        bind="query-params",
    )
    if not text.strip():
        return
    try:
        expression = parse(text)
        values = numbers(dict.fromkeys(expression.names, ()), seed)
        comparison = compare_on(fault, expression, values)
    except ExpressionError as error:
        expression_box.mistake(error)
        return
    st.markdown(
        f"With {', '.join(f'{name} = {numeral(float(value))}' for name, value in values.items())}: "
        f"**{EFFECTS[comparison.effect]}**. {with_code(comparison.broken.error)}"
    )
    pairs = [(name, g, comparison.broken.gradients[name]) for name, g in comparison.healthy.gradients.items()]
    st.html("".join(side_by_side.gradient_tables(*pair) for pair in pairs))


def _events(fault: Fault, seed: int) -> None:
    """Show the pass in the player, at the first event in which the engines differ."""
    part = st.expander("See it event by event", key="wrong-play", on_change="rerun", bind="query-params")
    if not part.open:
        return
    with part:
        engine = switch("Engine", ENGINES, "fault engine", default=ENGINES[0], on_change=_leave_event)
        if fault.shorter:
            st.code(source(fault.shorter), wrap_lines=True)
        passes = memoize(
            "fault passes",
            (fault.key, seed),
            lambda: {"broken": play(fault, fault.broken.engine, seed), "healthy": play(fault, Tensor, seed)},
        )
        trace, different = passes[engine], first_difference(passes["healthy"], passes["broken"])
        first = 1 if different is None else different + 1
        st.markdown(
            f"Event {first} of the broken engine is the first that the healthy one does not have. "
            f"{_sum_missed(passes['broken'].events[first - 1])}Go through what comes before and after it, then see "
            "what the healthy engine does there."
        )
        player(
            trace,
            key="fault player",
            event=min(first, len(trace.events)),
            opened=st.session_state[EVENT.key],
            address=EVENT.key,
        )


def _sum_missed(event: Event) -> str:
    """Say that a gradient has not become its old value plus the message; "" if the event is another one."""
    if event["kind"] != "accumulate" or np.array_equal(
        due := np.add(event["before"], event["message"]), event["after"]
    ):
        return ""
    before, message, after = (brief(event[name]) for name in ("before", "message", "after"))
    return f"There {before} and the message {message} should make {brief(due)}, and the gradient becomes {after}. "


def _short(array: np.ndarray | None) -> str:
    if array is None:
        return "None"
    values = [numeral(v) for v in np.ravel(array)[:4]]
    return ", ".join(values) + (", …" if np.size(array) > 4 else "")


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


# ---------------------------------------------------------------- what finds it, and the fix


def _gradient_check(fault: Fault, seed: int) -> None:
    st.markdown("**The gradient check**, run now on both engines" + (", on a longer chain" if fault.checked else ""))
    if fault.checked:
        st.code(source(fault.checked), wrap_lines=True)
    engines = Tensor, fault.broken.engine
    reports = memoize("fault checks", (fault.key, seed), lambda: [check(fault, engine, seed) for engine in engines])
    for column, title, report in zip(st.columns(2, gap="medium"), ("Healthy", "Broken"), reports, strict=True):
        with column:
            result(bool(report), f"**{title} engine.** {escape_markdown(report.verdict)}")


def _doctor(fault: Fault, seed: int, healthy: LessonRun, broken: LessonRun) -> None:
    st.markdown("**The training doctor** on both histories")
    both = ("Healthy", healthy, fault.healthy), ("Broken", broken, fault.broken)
    findings = memoize(
        "fault doctor", (fault.key, seed), lambda: [_finding(run, setup, seed) for _, run, setup in both]
    )
    for column, (title, run, _), first in zip(st.columns(2, gap="medium"), both, findings, strict=True):
        with column:
            if first is None:
                st.info(
                    f"**{title} engine.** There is no history: no epoch was completed.",
                    icon=":material/hourglass_empty:",
                )
                continue
            evidence = escape_markdown(" ".join(first.evidence))
            remedy = escape_markdown(first.remedy)
            if not first.well:
                st.warning(
                    f"**{title} engine: {first.name.lower()}.** {evidence} {remedy}", icon=":material/stethoscope:"
                )
            elif run is broken:  # its records look healthy although it is broken
                st.container(border=True).markdown(
                    f":material/visibility_off: **{title} engine: the run looks healthy.** {evidence} Training "
                    f"records cannot reveal this fault."
                )
            else:
                say, icon = (st.success, "check") if first.key == "healthy" else (st.info, "hourglass_top")
                say(f"**{title} engine: {first.name.lower()}.** {evidence} {remedy}", icon=f":material/{icon}:")


def _finding(run: LessonRun, setup: Setup, seed: int) -> Finding | None:
    """Return the doctor's first finding, or None without records."""
    return diagnose(run.records, setup.config(seed), own_loop=True)[0] if run.records else None


def _guard(fault: Fault) -> None:
    refusal = fault.refusal()
    if refusal is None:
        return
    code, error = refusal
    prose("**The [[guard]].** These lines make the same mistake, and are refused:")
    st.code(code, wrap_lines=True)
    st.error(with_code(error), icon=":material/shield:")


def _fix(fault: Fault) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.header("The fix")
        st.code(fault.fix, language="diff", wrap_lines=True)
    with right:
        st.header("In PyTorch")
        if fault.torch_message:
            st.code(fault.torch_code, wrap_lines=True)
            st.markdown(f"It says: *{escape_markdown(fault.torch_message)}*")
        else:
            st.markdown("PyTorch prints nothing here. What finds it is the check above.")
    for failure in FAILURES:
        if any(place.query.get("fault") == fault.key for place in failure.places):
            page.link_to(
                "pages/what_went_wrong.py",
                f"What went wrong? {failure.name}",
                "troubleshoot",
                {"failure": failure.key},
            )
    if fault.key == "late-read":
        with suppress(StreamlitPageNotFoundError):  # the page was started on its own, without app.py
            st.page_link("pages/simulate_error.py", label="Go through this one in four steps", icon=":material/bolt:")
