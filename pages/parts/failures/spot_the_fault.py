"""Spot the fault: a run with a hidden fault; the learner pays for evidence and names the fault."""

import numpy as np
import streamlit as st

from lab import charts
from lab.charts import Chart, CurveOptions, limit_log_axis
from lab.gradcheck import MARKS
from lab.text import numeral
from lab.traps.faults import feedback
from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.healthy_and_broken import LessonRun, train_with
from lab.traps.faults.spot_the_fault import (
    COSTS,
    CURVES,
    NOTHING,
    START,
    WRONG,
    SuspectCase,
    gradient_checks,
    open_case,
    score,
    traced_step,
)
from lab.ui import binding, page, progress
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.table import show_table, with_code
from lab.ui.terms import prose
from lab.ui.widgets import button

EVIDENCE = {
    "norms": "Gradient norms",
    "weights": "Weight histograms",
    "step": "One traced step",
    "check": "Gradient checks",
}
CASES = 10_000


def show() -> None:
    """Draw the tab."""
    st.session_state.setdefault("spot solved", {})  # case -> points, in this visit
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        case = memoize("spot case", number := _number(), lambda: open_case(number))
        st.markdown("This run has one fault, or none. Pay points for evidence, then name the culprit.", width="content")
    run = memoize("spot run", number, lambda: _run(number))  # the shared cache copies its value at each call
    left, right = st.columns([3, 2], gap="large")
    with left:
        _evidence(case, run)
    with right:
        _accuse(case, run)
    progress.done("named-fault", bool(st.session_state["spot solved"]))


SEEN = binding.several("wrong-seen", *EVIDENCE)
NAMED = binding.several("wrong-named", NOTHING, *BY_KEY)
HELD = (SEEN, NAMED)


def _begin_again() -> None:
    """Clear the evidence and the named culprits after another case was chosen."""
    binding.reset(*HELD)
    st.session_state["spot suspect"] = None


def _number() -> int:
    def following() -> None:
        binding.step()
        binding.set_widget("wrong-case", st.session_state["wrong-case"] % CASES + 1)
        _begin_again()

    number = st.number_input(
        "Case",
        1,
        CASES,
        key="wrong-case",
        on_change=_begin_again,
        width=130,
        label_visibility="collapsed",
        bind="query-params",
    )
    button("Next case", "spot next", following, icon="skip_next")
    solved = st.session_state["spot solved"]
    if solved:
        mean = sum(solved.values()) / len(solved)
        plural = "case" if len(solved) == 1 else "cases"
        st.markdown(f"Solved: {len(solved)} {plural}, {mean:.1f} points on average.", width="content")
    return number


@st.cache_data(max_entries=64, show_spinner="Training the network of this case")
def _run(number: int) -> LessonRun:
    return train_with(open_case(number).setup, number)


# ---------------------------------------------------------------- naming the culprit


def _accuse(case: SuspectCase, run: LessonRun) -> None:
    session = st.session_state
    named = [key for key in session[NAMED.key] if key in case.suspects]  # an address may have others
    solved = case.culprit in named
    mistakes = [key for key in named if key != case.culprit]
    points = score([name for name in session[SEEN.key] if run.completed or name not in CURVES], len(mistakes))
    st.header("The culprit")
    st.metric(
        "Points",
        f"{session['spot solved'].get(case.number, points) if solved else points} of {START}",
        help=f"Each piece of evidence costs what its button says; a wrong name costs {WRONG}.",
    )

    def name_it() -> None:
        suspect = session["spot suspect"]
        session[NAMED.key] = (*session[NAMED.key], suspect)
        if suspect == case.culprit:
            session["spot solved"] = {case.number: points} | session["spot solved"]

    for key in mistakes:
        st.warning(f"Not “{_name(key)}”. {_why_not(case.number, key)}", icon=":material/close:")
    if solved:
        _solved(case)
        return
    left_over = [key for key in case.suspects if key not in named]
    suspect = st.radio("Who is it?", left_over, format_func=_name, index=None, key="spot suspect")
    button("Name the culprit", "spot name", name_it, icon="gavel", type="primary", disabled=suspect is None)


@st.cache_data(max_entries=256, show_spinner=False)
def _why_not(number: int, key: str) -> str:
    return feedback.suspect(open_case(number), _run(number), key)


def _name(key: str) -> str:
    return "Nothing is wrong" if key == NOTHING else BY_KEY[key].name


def _solved(case: SuspectCase) -> None:
    if case.fault is None:
        st.success("**Right: nothing is wrong.** This is the healthy engine.", icon=":material/check:")
        return
    fault = case.fault
    st.success(f"**Right: {fault.name}.** {fault.cause} {fault.in_training}", icon=":material/check:")
    st.markdown(f"What finds it: {fault.caught_by}")
    page.link_to(
        "pages/what_went_wrong.py",
        "See it next to the healthy engine",
        "compare_arrows",
        {"tab": "message", "fault": fault.key, "run": "1"},
    )


# ---------------------------------------------------------------- evidence


def _loss(case: SuspectCase, run: LessonRun) -> None:
    where = f"after epoch {len(run.completed)}" if run.completed else "before its first epoch was complete"
    if run.error:
        st.error(f"The run stopped {where}. {with_code(run.error)}", icon=":material/block:")
    elif len(run.completed) < len(run.records):
        st.error(f"The run stopped {where}: its loss was no longer a number.", icon=":material/block:")
    losses = [record["train_loss"] for record in run.from_start if record["train_loss"]]
    log, theme = max(losses) > 20 * min(losses), page.theme()

    def draw() -> Chart:
        no_batches = np.empty(0)
        chart = charts.loss(run.from_start, no_batches, no_batches, _options(run), log=log)
        limit_log_axis(chart.spec)
        return chart

    show_chart(memoize("spot loss", (case.number, theme), draw), "spot loss")


def _evidence(case: SuspectCase, run: LessonRun) -> None:
    session = st.session_state

    def ask(name: str) -> None:
        session[SEEN.key] = (*session[SEEN.key], name)

    st.header("Evidence")
    missing = () if run.completed else CURVES
    with st.container(key="spot-evidence", horizontal=True, gap="small"):
        for name in (name for name in EVIDENCE if name not in session[SEEN.key] or name in missing):
            cost = f"{COSTS[name]} {'point' if COSTS[name] == 1 else 'points'}"
            button(
                f"{EVIDENCE[name]}, {'there is none' if name in missing else cost}",
                f"spot ask {name}",
                ask,
                name,
                icon="search",
                disabled=name in missing,
            )
    if missing:
        st.caption("No epoch was completed, so there are no curves and no histograms.")
    for name in reversed(session[SEEN.key]):  # the newest evidence comes first
        if name == "step":
            _traced(case)
        elif name == "check":
            _checks(case)
        elif name not in missing:
            for key, chart in _charts(name, run).items():
                show_chart(chart, f"spot {key}")
    _loss(case, run)


def _charts(name: str, run: LessonRun) -> dict[str, Chart]:
    """Draw the gradient norms of all layers, or the weights of each."""
    layers = list(run.records[0]["grad_norm"])
    if name == "weights":
        records = [run.initial, *run.completed]
        return {layer: charts.ridges(records, layer, "weight", page.theme()) for layer in layers}
    chart = charts.gradient_norms(run.from_start, layers, _options(run))
    limit_log_axis(chart.spec)
    return {name: chart}


def _options(run: LessonRun) -> CurveOptions:
    return CurveOptions(max(1, len(run.records)), theme=page.theme())


def _traced(case: SuspectCase) -> None:
    rate, steps, error = memoize("spot step", case.number, lambda: traced_step(case))
    st.markdown(f"**One traced step**, the third of the run. The learning rate is {rate:g}.")
    if error:
        st.error(f"It did not get that far. {with_code(error)}", icon=":material/block:")
        return
    rows = [
        (s.parameter, numeral(s.left_over), numeral(s.gradient), numeral(s.before), numeral(s.slope), numeral(s.after))
        for s in steps
    ]
    headers = ["parameter", "left over", "gradient", "first element", "its gradient", "after the step"]
    show_table(headers, rows)
    prose(
        "Left over: the norm of the [[gradient]] after `zero_grad()` and before `backward()`. Gradient: its norm after "
        "`backward()`. A step of SGD subtracts the learning rate times the gradient."
    )


def _checks(case: SuspectCase) -> None:
    found = memoize("spot checks", case.number, lambda: gradient_checks(case))
    checks = sorted(found, key=lambda check: check.passed)
    passed = sum(check.passed for check in checks)
    st.markdown(f"**Gradient checks** of the engine in this run: {passed} of {len(checks)} expressions pass.")
    rows = [(MARKS[check.outcome], check.expression, check.verdict) for check in checks]
    show_table(["check", "expression", "verdict"], rows)
