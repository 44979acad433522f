"""The wider field: this engine and PyTorch compared, larger layers, history and books."""

from pathlib import Path

import streamlit as st

from lab.designs.pytorch_questions import QUESTIONS, EngineAnswer, answer, differing, pytorch_answers, recorded_answers
from lab.expression import parse
from lab.expression.run_pytorch import installed
from lab.operation_table import OPS
from lab.text import read_rows
from lab.trace.recording import record
from lab.ui import expression_box, page
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.table import escape_markdown, show_table, with_code
from lab.ui.widgets import FIRST, ask, pick, row, switch, verdict

READING = read_rows(Path(__file__).parents[2] / "lab" / "lessons" / "reading.toml")
AFTER = {preset["key"]: preset for preset in expression_box.presets() if "question" in preset}
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
    with row(bottom=True):
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
    answers, lines = st.columns([2, 3], gap="medium")
    with answers:
        rows = [_row(here[key], there.get(key), question.name) for key, question in QUESTIONS.items()]
        show_table(["", "this engine", "", f"PyTorch {version}"], rows)
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


def _row(here: EngineAnswer, there: EngineAnswer | None, name: str) -> tuple[str, ...]:
    if there is None:
        return (name, here.outcome, "", "?")
    return (name, here.outcome, "=" if here.outcome == there.outcome else "≠", there.outcome)


def _pytorch(live: bool) -> tuple[str, dict[str, EngineAnswer]]:
    """Return PyTorch's version and answers; none until the learner asks for them.

    live: PyTorch is installed, so its answers are not the recorded ones
    """
    title = "Ask PyTorch" if live else "Show PyTorch’s recorded answers"
    way = "Runs in a separate process, which then ends." if live else "PyTorch is not installed where this page runs."
    if not st.toggle(title, key="engines-asked", help=way, bind="query-params"):
        return "", {}
    if not live:
        return recorded_answers()
    try:
        with st.spinner("Importing PyTorch takes a few seconds."):
            return memoize("asked", 1, pytorch_answers)
    except RuntimeError as error:
        st.error(with_code(str(error)), icon=":material/block:")
        return "", {}


def _at_a_glance() -> None:
    """Tabulate what both engines are; the facts about PyTorch are from its manual."""
    show_table(
        ["", "this engine", "PyTorch"],
        [
            ("a tensor holds", "a NumPy array, float64 or float32", "its own array, of twelve or more types"),
            ("it computes on", "the processor", "processors, graphics processors and others"),
            ("operations", f"{len(OPS)}", "more than 1,000"),
            ("the graph is made of", "tensors and closures", "objects of C++ (grad_fn)"),
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
    with row():
        key = switch("Layer", {key: _title(key) for key in AFTER}, "engines-layer", bare=True, bind="query-params")
        layer = AFTER[key]
        st.markdown(layer["question"], width=580)
    trace = memoize("beyond", key, lambda: record(parse(layer["text"]), layer["values"]))
    player(trace, key="beyond", title=_title(key), event=0, compact=True, grows=0)
    query = {"expression": layer["text"]}
    page.link_to("pages/graph_lab.py", f"{_title(key)} in the Graph lab", "account_tree", query)
    st.markdown("Larger layers need no new engine: the same operations build them at any size.")


def _title(key: str) -> str:
    return key.replace("_", " ").capitalize()


# ---------------------------------------------------------------- where it comes from


def _history() -> None:
    st.markdown(
        "Backpropagation became famous in 1986. **Guess first: in which of these years was reverse mode first "
        "published for any program?** Software is listed under the year of its first release."
    )
    guess = ask("The year", dict(zip(YEARS, YEARS, strict=True)), "engines-year", FIRST)
    if guess is None:
        return
    thesis = "in a master’s thesis in Helsinki, on how rounding errors add up"
    st.markdown(f"{verdict(guess == '1970')} **1970**, {thesis}.")
    show_table(["year", "what", "where it was published"], READING["history"])
    st.header("Books and videos")
    show_table(["by", "title", "published", "for"], READING["books"])
