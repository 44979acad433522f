"""Spot the fault: a run whose fault is hidden. Ask for evidence, name the culprit, and need as little as you can."""

import numpy as np
import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from lab import charts
from lab.charts import Chart, in_reach, number
from lab.faults.catalogue import BY_KEY
from lab.faults.compare import LessonRun, train_with
from lab.faults.suspects import COSTS, NOTHING, START, WRONG, Case, gradient_checks, open_case, score, traced_step
from lab.ui import page
from lab.ui.table import escape_markdown, markdown_table

EVIDENCE = {
    "accuracy": "Accuracy",
    "norms": "Gradient norms",
    "weights": "Weight histograms",
    "dead": "Dead units",
    "step": "One traced step",
    "check": "Gradient checks",
}
CASES = 10_000


def main() -> None:
    page.opening(
        "Spot the fault",
        f"One thing may be wrong with this training run, or nothing. Start from the loss, ask for evidence, and name "
        f"the culprit. You have {START} points: each piece of evidence costs some, a wrong name costs {WRONG}.",
    )
    _start()
    case = open_case(_number())
    run = _run(case.number)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _loss(run)
    with right:
        _accuse(case)
    _evidence(case, run)
    _to_address()
    page.closing(
        "Play a few cases and see which piece of evidence decides most of them. Then try to win with the loss and one "
        "more piece.",
        "pages/fault_lab.py",
        "Back to the Fault lab: every fault with its cause and its fix",
    )


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _start() -> None:
    """On entering the page: what the address asks for, else the case that the visitor was at."""
    state = st.session_state
    state.setdefault("spot points", {})  # case -> points, of the cases that were solved
    if "spot case" in state:
        return
    kept = state.get("spot kept", {"case": 1, "seen": (), "named": ()})
    asked = page.from_address("case", None, _case)
    if asked is not None and asked != kept["case"]:
        kept = {"case": asked, "seen": (), "named": ()}
    state["spot case"] = kept["case"]
    state["spot seen"] = page.from_address("seen", kept["seen"], _several(*EVIDENCE))
    state["spot named"] = page.from_address("named", kept["named"], _several(*open_case(kept["case"]).suspects))


def _case(text: str) -> int:
    if not 1 <= int(text) <= CASES:
        raise ValueError(text)
    return int(text)


def _several(*choices: str):
    """A parser of names joined by commas, in any order, each once."""

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        if not set(names) <= set(choices) or len(set(names)) < len(names):
            raise ValueError(text)
        return names

    return parse


def _to_address() -> None:
    state = st.session_state
    state["spot kept"] = {"case": state["spot case"], "seen": state["spot seen"], "named": state["spot named"]}
    page.to_address(
        case=str(state["spot case"]),
        seen=",".join(state["spot seen"]) or None,
        named=",".join(state["spot named"]) or None,
    )


def _begin_again() -> None:
    """Another case: no evidence, nobody named."""
    st.session_state["spot seen"] = st.session_state["spot named"] = ()
    st.session_state["spot suspect"] = None


def _number() -> int:
    def following() -> None:
        st.session_state["spot case"] = st.session_state["spot case"] % CASES + 1
        _begin_again()

    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.number_input("Case", 1, CASES, key="spot case", on_change=_begin_again, width=130)
        st.button("Next case", key="spot next", on_click=following, icon=":material/skip_next:")
        points = st.session_state["spot points"]
        if points:
            mean = sum(points.values()) / len(points)
            plural = "case" if len(points) == 1 else "cases"
            st.markdown(f"Solved: {len(points)} {plural}, {mean:.1f} points on average.")
    return number


@st.cache_data(max_entries=64, show_spinner="Training the network of this case")
def _run(number: int) -> LessonRun:
    return train_with(open_case(number).setup, number)


# ---------------------------------------------------------------- naming the culprit


def _accuse(case: Case) -> None:
    state = st.session_state
    named = state["spot named"]
    solved = case.culprit in named
    mistakes = [key for key in named if key != case.culprit]
    points = score(state["spot seen"], len(mistakes))
    st.header("The culprit")
    st.metric("Points", f"{state['spot points'].get(case.number, points) if solved else points} of {START}")

    def name_it() -> None:
        suspect = state["spot suspect"]
        state["spot named"] = (*state["spot named"], suspect)
        if suspect == case.culprit:
            state["spot points"].setdefault(case.number, points)

    for key in mistakes:
        st.warning(f"Not “{_name(key)}”. Look again.", icon=":material/close:")
    if solved:
        _solved(case)
        return
    left_over = [key for key in case.suspects if key not in named]
    suspect = st.radio("Who is it?", left_over, format_func=_name, index=None, key="spot suspect")
    st.button(
        "Name the culprit",
        type="primary",
        key="spot name",
        on_click=name_it,
        disabled=suspect is None,
        icon=":material/gavel:",
    )


def _name(key: str) -> str:
    return "Nothing is wrong" if key == NOTHING else BY_KEY[key].name


def _solved(case: Case) -> None:
    if case.fault is None:
        st.success("**Right: nothing is wrong.** This is the healthy engine.", icon=":material/check:")
        return
    fault = case.fault
    st.success(f"**Right: {fault.name}.** {fault.cause} {fault.in_training}", icon=":material/check:")
    st.markdown(f"What finds it: {fault.caught_by}")
    try:
        st.page_link(
            "pages/fault_lab.py",
            label="See it beside the healthy engine",
            icon=":material/compare_arrows:",
            query_params={"fault": fault.key, "run": "1"},
        )
    except StreamlitPageNotFoundError:  # the page was opened alone, without app.py
        st.markdown(f"The Fault lab shows it under “{fault.name}”.")


# ---------------------------------------------------------------- evidence


def _loss(run: LessonRun) -> None:
    st.header("The loss")
    if run.error:
        where = f"after epoch {len(run.records)}" if run.records else "before its first epoch was complete"
        st.error(f"The run stopped {where}. {escape_markdown(run.error)}", icon=":material/block:")
    losses = [record["train_loss"] for record in run.from_start if record["train_loss"]]
    log = max(losses) > 20 * min(losses)
    chart = charts.loss(run.from_start, np.array([]), 1, until=len(run.records), log=log, theme=page.theme())
    in_reach(chart.spec)
    _show(chart, "loss")


def _evidence(case: Case, run: LessonRun) -> None:
    state = st.session_state

    def ask(name: str) -> None:
        state["spot seen"] = (*state["spot seen"], name)

    st.header("Evidence")
    with st.container(horizontal=True):
        for name, title in EVIDENCE.items():
            cost = f"{COSTS[name]} {'point' if COSTS[name] == 1 else 'points'}"
            seen = name in state["spot seen"]
            st.button(
                f"{title}, {'seen' if seen else cost}",
                key=f"spot ask {name}",
                on_click=ask,
                args=(name,),
                disabled=seen,
                icon=":material/visibility:" if seen else ":material/search:",
            )
    shown = [name for name in state["spot seen"] if name in ("accuracy", "norms", "weights", "dead")]
    if shown and not run.records:
        st.info("No epoch was completed, so there are no curves and no histograms to show.")
    elif shown:
        for start in range(0, len(shown), 2):
            for column, name in zip(st.columns(2, gap="medium"), shown[start : start + 2], strict=False):
                with column:
                    _show(_chart(name, run), name)
    if "step" in state["spot seen"]:
        _traced(case)
    if "check" in state["spot seen"]:
        _checks(case)


def _chart(name: str, run: LessonRun) -> Chart:
    layers = list(run.records[0]["grad_norm"])
    options = {"until": len(run.records), "theme": page.theme()}
    if name == "accuracy":
        return charts.accuracy(run.from_start, **options)
    if name == "norms":
        chart = charts.gradient_norms(run.from_start, layers, **options)
        in_reach(chart.spec)
        return chart
    if name == "dead":
        return charts.dead_units(run.from_start, layers[:-1], **options)
    return charts.weight_histograms(run.records[-1], run.initial, layers, page.theme())


def _show(chart: Chart, key: str) -> None:
    """A chart under its heading, and its numbers as a table for whoever opens it."""
    st.markdown(f"**{chart.title}**")
    st.echarts_chart(chart.spec, height=chart.height, alt=chart.alt, key=f"spot-chart-{key}")
    table = st.expander("As a table", key=f"spot-table-{key}", on_change="rerun", type="compact")
    if table.open:
        table.markdown(markdown_table(chart.headers, chart.rows))


def _traced(case: Case) -> None:
    rate, steps, error = traced_step(case)
    st.markdown(f"**One traced step**, the third of the run. The learning rate is {rate:g}.")
    if error:
        st.error(f"It did not get that far. {escape_markdown(error)}", icon=":material/block:")
        return
    rows = [
        (s.parameter, number(s.left_over), number(s.gradient), number(s.before), number(s.slope), number(s.after))
        for s in steps
    ]
    headers = ["parameter", "left over", "gradient", "first element", "its gradient", "after the step"]
    st.markdown(markdown_table(headers, rows))
    st.markdown(
        ":small[left over: the norm of the gradient after zero_grad() and before backward(). gradient: its norm after "
        "backward(). A step of SGD takes the learning rate times the gradient away.]"
    )


def _checks(case: Case) -> None:
    checks = sorted(gradient_checks(case), key=lambda check: check.passed)
    passed = sum(check.passed for check in checks)
    st.markdown(f"**Gradient checks** of the engine in this run: {passed} of {len(checks)} expressions pass.")
    rows = [("✓ passes" if check.passed else "✗ fails", check.expression, check.verdict) for check in checks]
    st.markdown(markdown_table(["check", "expression", "verdict"], rows))


main()
