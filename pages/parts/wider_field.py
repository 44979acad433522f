"""The wider field: this engine and PyTorch compared, larger layers, history and books."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from lab import charts
from lab.charts import AnswerCell, AnswerRow
from lab.designs.pytorch_questions import QUESTIONS, EngineAnswer, answer, differing, pytorch_answers, recorded_answers
from lab.expression import parse
from lab.expression.run_pytorch import installed
from lab.operation_table import OPS
from lab.text import read_rows
from lab.trace.recording import record
from lab.ui import binding, expression_box, page
from lab.ui.chart_host import show_chart
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.table import escape_markdown, show_table, with_code
from lab.ui.widgets import pick, switch, verdict

READING = read_rows(Path(__file__).parents[2] / "lab" / "lessons" / "reading.toml")
AFTER = {preset["key"]: preset for preset in expression_box.presets() if "question" in preset}
HELD = (binding.flag("engines-asked"),)  # so that a reload asks PyTorch again
YEARS = ("1847", "1951", "1964", "1970", "1986", "2015")
TRY_THIS = {
    "beside": "Change one of the snippets in a notebook so that both engines use the same dtype.",
    "next": "Open the attention in the Graph lab, go backward, and find the softmax: whose gradient has row sums of 0?",
}


def draw_comparison() -> None:
    """Draw the tab that compares this engine with PyTorch."""
    _compare()
    _close("beside")


def draw_reading() -> None:
    """Draw the tab with larger layers, history and books."""
    _next()
    st.header("History")
    _history()
    _close("next")


def _close(name: str) -> None:
    page.closing(TRY_THIS[name], "pages/graph_lab.py", "Next: any expression of your own in the Graph lab")


# ---------------------------------------------------------------- this engine, PyTorch, JAX, static graphs


def _compare() -> None:
    st.markdown(
        f"Both engines get the same {len(QUESTIONS)} questions; this one has answered. **Guess first: how many "
        "outcomes differ in PyTorch?**"
    )
    live = memoize("torch", 1, installed)
    here = memoize("questions", 1, lambda: {key: answer(question) for key, question in QUESTIONS.items()})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label, most = "Outcomes that differ", len(QUESTIONS)
        guessed = st.number_input(label, 0, most, None, key="engines-differ", bind="query-params", width=160)
        version, there = _pytorch(live)
        if there:
            differ = differing(here, there)
            judged = "" if guessed is None else verdict(guessed == len(differ))
            names = ", ".join(escape_markdown(QUESTIONS[key].name) for key in differ)
            st.markdown(f"{judged} **{len(differ)} of {len(QUESTIONS)} outcomes** differ: {names}.")
    if there and not live:
        st.caption(
            f"These answers were recorded with PyTorch {version}. It is not installed where this page runs; after "
            "`pip install torch` the snippets run here."
        )
    picture, lines = st.columns([2, 3], gap="medium")
    with picture:
        show_chart(charts.answers(rows(here, there), version, page.theme()), "answers")
    with lines:
        titles = {key: one.title for key, one in QUESTIONS.items()}
        key = pick("Question", titles, "engines-question", bind="query-params")
        question = QUESTIONS[key]
        sides = (("This engine", question.here, here[key]), ("PyTorch", question.torch, there.get(key)))
        for column, (name, code, reply) in zip(st.columns(2), sides, strict=True):
            column.code(code, wrap_lines=True)
            column.markdown(f"{name}: **{with_code(reply.text) if reply else '?'}**")
    with st.expander("How the two compare, and what is left out here"):
        _at_a_glance()


def rows(here: Mapping[str, EngineAnswer], there: Mapping[str, EngineAnswer]) -> list[AnswerRow]:
    """Return the rows of the chart of answers. there: {} until PyTorch is asked."""
    different = differing(here, there) if there else []
    return [
        AnswerRow(
            question.name,
            question.title,
            _cell(here[key]),
            _cell(there[key]) if there else None,
            key not in different if there else None,
        )
        for key, question in QUESTIONS.items()
    ]


def _cell(answer: EngineAnswer) -> AnswerCell:
    return AnswerCell(answer.text, answer.outcome, answer.failed)


def _pytorch(live: bool) -> tuple[str, dict[str, EngineAnswer]]:
    """Return PyTorch's version and answers; before it has been asked, draw a button and return none.

    live: PyTorch is installed, so its answers are not the recorded ones
    """
    session = st.session_state
    if session["engines-asked"] and not live:
        return recorded_answers()
    if session["engines-asked"]:
        try:
            with st.spinner("Importing PyTorch takes a few seconds."):
                return memoize("asked", 1, pytorch_answers)
        except RuntimeError as error:
            st.error(with_code(str(error)), icon=":material/block:")
            session["engines-asked"] = False

    def ask() -> None:
        session["engines-asked"] = True

    title = "Ask PyTorch" if live else "Show PyTorch’s recorded answers"
    way = "Runs in a separate process, which then ends." if live else "PyTorch is not installed where this page runs."
    st.button(title, icon=":material/play_arrow:", help=way, on_click=ask)
    return "", {}


def _at_a_glance() -> None:
    """Tabulate what both engines are; the facts about PyTorch are from its manual."""
    show_table(
        ["", "this engine", "PyTorch"],
        [
            ("a tensor holds", "a NumPy array, float64 or float32", "its own array, of twelve or more types"),
            ("it computes on", "the processor", "processors, graphics processors and others"),
            ("operations", f"{len(OPS)}", "more than 1,000"),
            ("the graph is made of", "tensors and closures", "objects of C++ (`grad_fn`)"),
            ("backward runs", "a loop over a sorted list", "queues by device, in several threads"),
        ],
    )
    st.markdown(
        "**Graphics processors.** NumPy runs on the CPU only. A framework implements each operation for each device, "
        "keeps the arrays there and does not wait for an operation to end. A compiler such as XLA, which JAX and "
        "TensorFlow use, fuses many operations into one. The graph and the chain rule stay the same.\n\n"
        "**Higher order.** Here a gradient is an array without a history, so the second derivative ends in an error. "
        "In PyTorch, backward rules use tensors, so the backward pass records a graph too (`create_graph=True`). JAX "
        "turns a function into its derivative (`grad`; `jvp` for forward mode, `vjp` for reverse), and can do so again:"
    )
    jax = READING["jax"]
    st.code(jax["code"], language="python")
    st.markdown(f"JAX {jax['version']} printed `{jax['printed']}`, in float32: the first and the second derivative.")


# ---------------------------------------------------------------- what comes after


def _next() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        key = switch("Layer", {key: _title(key) for key in AFTER}, "engines-layer", bare=True, bind="query-params")
        layer = AFTER[key]
        st.markdown(layer["question"], width=580)
    trace = memoize("beyond", key, lambda: record(parse(layer["text"]), layer["values"]))
    player(trace, key="beyond", title=_title(key), event=0, compact=True, grows=True)
    query = {"expression": layer["text"]}
    page.link_to("pages/graph_lab.py", f"{_title(key)} in the Graph lab", "account_tree", query)
    st.markdown(
        "Larger layers need no new engine: `lab/training/layers.py` builds each from the same operations, at any size."
    )


def _title(key: str) -> str:
    return key.replace("_", " ").capitalize()


# ---------------------------------------------------------------- where it comes from


def _history() -> None:
    st.markdown(
        "Backpropagation became famous in 1986. **Guess first: in which of these years was reverse mode first "
        "published for any program?** Software is listed under the year of its first release."
    )
    guess = st.segmented_control("The year", YEARS, key="engines-year", bind="query-params")
    if guess is None:
        st.info("Choose a year to see the history.", icon=":material/help:")
        return
    verdict = "You were right" if guess == "1970" else f"Not {guess}"
    st.markdown(f"**{verdict}: 1970**, in a master’s thesis in Helsinki, on how rounding errors add up.")
    show_table(["year", "what", "where it was published"], READING["history"])
    st.header("Books and videos")
    show_table(["by", "title", "published", "for"], READING["books"])
