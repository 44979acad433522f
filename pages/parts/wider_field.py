"""The wider field: this engine and PyTorch compared, memory against time, larger layers, history and books."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import streamlit as st

from lab import charts
from lab.charts import AnswerCell, AnswerRow, Axis, Line, Mark
from lab.designs import checkpoint
from lab.designs.frameworks import QUESTIONS, EngineAnswer, answer, differing, pytorch_answers, recorded_answers
from lab.expression import parse
from lab.expression.run_pytorch import installed
from lab.operation_table import OPS
from lab.text import numeral as number
from lab.text import read_rows
from lab.trace.recording import record
from lab.ui import address, expression_box, page
from lab.ui.address import Field
from lab.ui.chart_host import ChartHost, show_chart
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.state import PageState
from lab.ui.table import escape_markdown, show_table, with_code
from lab.ui.widgets import FIRST, guess, pick, switch, verdict

KEPT_TITLE = "Bytes kept at the worst moment"
READING = read_rows(Path(__file__).parents[2] / "lab" / "lessons" / "reading.toml")
YEARS = ("1847", "1951", "1964", "1970", "1986", "2015")
TRY_THIS = {
    "beside": "Change one of the snippets in a notebook so that both engines use the same dtype.",
    "memory": "Double the layers. Does the best number of segments double, or grow by a factor of about √2?",
    "next": "Open the attention in the Graph lab, go backward, and find the softmax: whose gradient has row sums of 0?",
}


def _tab(name: str, draw: Callable[[], None], _current: PageState) -> None:
    draw()
    page.closing(TRY_THIS[name], "pages/graph_lab.py", "Next: any expression of your own in the Graph lab")


# ---------------------------------------------------------------- state: in the session, mirrored in the address


SEGMENT_GUESSES = {"two": "two segments", "root": "about √layers segments", "all": "a segment for each layer"}
AFTER = {preset["key"]: preset for preset in expression_box.presets() if "question" in preset}
LAYERS = Field("layers", "field layers", 24, int, limits=(4, 32))
WIDTH = Field("width", "field width", 16, int, limits=(4, 32))
ROWS = Field("rows", "field rows", 32, int, limits=(1, 128))
SEGMENTS = Field("segments", "field segments", 2, int, limits=(2, 32))
DIFFER = Field("differ", "field differ", None, int, address.optional, limits=(0, len(QUESTIONS)))
FIELDS = (
    DIFFER,
    Field("asked", "field asked", False, address.flag, address.flagged),  # so that a reload asks again
    Field("question", "field question", next(iter(QUESTIONS)), address.one_of(*QUESTIONS)),
    LAYERS,
    WIDTH,
    ROWS,
    SEGMENTS,
    Field("fewest", "field fewest", None, address.one_of(*SEGMENT_GUESSES), address.optional),
    Field("layer", "field layer", next(iter(AFTER)), address.one_of(*AFTER)),
    Field("year", "field year", None, address.one_of(*YEARS), address.optional),
)


# ---------------------------------------------------------------- this engine, PyTorch, JAX, static graphs


def _compare() -> None:
    st.markdown(
        f"Both engines get the same {len(QUESTIONS)} questions; this one has answered. **Guess first: how many "
        "outcomes differ in PyTorch?**"
    )
    live = memoize("torch", 1, installed)
    here = memoize("questions", 1, lambda: {key: answer(question) for key, question in QUESTIONS.items()})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        guessed = st.number_input("Outcomes that differ", *DIFFER.limits, value=None, key="field differ", width=160)
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
        key = pick("Question", {key: one.title for key, one in QUESTIONS.items()}, "field question")
        question = QUESTIONS[key]
        sides = (("This engine", question.source, here[key]), ("PyTorch", question.torch, there.get(key)))
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
    if session["field asked"] and not live:
        return recorded_answers()
    if session["field asked"]:
        try:
            with st.spinner("Importing PyTorch takes a few seconds."):
                return memoize("asked", 1, pytorch_answers)
        except RuntimeError as error:
            st.error(with_code(str(error)), icon=":material/block:")
            session["field asked"] = False

    def ask() -> None:
        session["field asked"] = True

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


# ---------------------------------------------------------------- memory against time


def _memory() -> None:
    st.markdown(
        "Cut a chain of layers into segments: only the last segment records its graph, the others keep their input and "
        "run again in the backward pass. **How many segments need the least memory?**"
    )
    columns = st.columns(4)
    for column, (field, word) in zip(
        columns, ((LAYERS, "Layers"), (WIDTH, "Width of a layer"), (ROWS, "Rows in the batch")), strict=False
    ):
        column.slider(word, *field.limits, key=str(field.key))
    session = st.session_state
    layers = session["field layers"]
    session["field segments"] = min(session["field segments"], layers)
    segments = columns[3].slider("Segments", 2, layers, key="field segments")
    chain = layers, session["field width"], session["field rows"]
    full, costs = memoize("checkpointing", chain, lambda: checkpoint.costs(*chain))
    best, chosen = min(costs, key=lambda cost: cost.kept), costs[segments - 2]
    guessed = guess("Guess: the fewest bytes are kept with", SEGMENT_GUESSES, "field fewest")
    if guessed is None:
        st.markdown(f"{FIRST} Until then, the charts show only the number of segments that the slider is at.")
    else:
        _judge_segments(guessed, layers, best)
    left, middle, right = st.columns([2, 2, 1])
    with right, st.container(gap="xsmall"):
        _counted(full, chosen)
    host = ChartHost("field")
    for column, key in ((left, "kept"), (middle, "runs")):
        with column:
            host.place(key)
    theme = page.theme()
    shown, least = ([chosen], None) if guessed is None else (costs, best)
    of = chain, shown, theme
    host.fill(memoize("checkpointing drawn", of, lambda: _curves(full, shown, least, layers, theme)))


def _counted(full: checkpoint.Cost, chosen: checkpoint.Cost) -> None:
    for name, count, of_plain in (
        ("Bytes kept", f"{chosen.kept:,}", f"{chosen.kept / full.kept:.0%} of all"),
        ("Layers run forward", f"{chosen.runs}", f"{chosen.runs / full.runs:.2f} times the {full.runs}"),
        ("Gradients differ by", number(chosen.difference), None),
    ):
        st.metric(name, count, of_plain, delta_color="off", delta_arrow="off")


def _judge_segments(guessed: str, layers: int, best: checkpoint.Cost) -> None:
    """Say whether the guess was right, and why."""
    away = {
        name: abs(math.log(best.segments / count))
        for name, count in (("two", 2), ("root", layers**0.5), ("all", layers))
    }
    st.markdown(
        f"{verdict(away[guessed] == min(away.values()))} Least with **{best.segments} segments**, {best.kept:,} bytes. "
        "Memory holds the input of every segment and the graph of one, so it grows with segments + layers / segments. "
        f"That is least near √{layers} = {layers**0.5:.1f}, times a constant. Parameters and gradients are not counted."
    )


def _curves(
    full: checkpoint.Cost, costs: list[checkpoint.Cost], best: checkpoint.Cost | None, layers: int, theme: str
) -> dict[str, charts.Chart]:
    """Draw the measured costs next to those of a plain pass. best: the cheapest, or None before the guess."""
    segments = Axis("segments", ends=(0, layers))
    marks = [Mark("y", full.kept, "everything kept")]
    if best:
        marks.append(Mark("x", best.segments, f"least: {best.segments}"))
    kept, ran = ([(cost.segments, getattr(cost, name)) for cost in costs] for name in ("kept", "runs"))
    return {
        "kept": charts.lines(
            KEPT_TITLE,
            [Line("bytes kept", kept)],
            segments,
            Axis("bytes", ends=(0, full.kept)),
            marks=marks,
            height=230,
            theme=theme,
        ),
        "runs": charts.lines(
            "Layers run forward",
            [Line("runs", ran)],
            segments,
            Axis("runs", ends=(0, 2 * full.runs)),
            marks=[Mark("y", full.runs, "a plain pass")],
            height=230,
            theme=theme,
        ),
    }


# ---------------------------------------------------------------- what comes after


def _next() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        key = switch("Layer", {key: _title(key) for key in AFTER}, "field layer", bare=True)
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
    guess = st.segmented_control("The year", YEARS, key="field year")
    if guess is None:
        st.info("Choose a year to see the history.", icon=":material/help:")
        return
    verdict = "You were right" if guess == "1970" else f"Not {guess}"
    st.markdown(f"**{verdict}: 1970**, in a master’s thesis in Helsinki, on how rounding errors add up.")
    show_table(["year", "what", "where it was published"], READING["history"])
    st.header("Books and videos")
    show_table(["by", "title", "published", "for"], READING["books"])


def _reading() -> None:
    _next()
    st.header("History")
    _history()


PART = page.TabGroup(
    FIELDS,
    {
        "beside": partial(_tab, "beside", _compare),
        "memory": partial(_tab, "memory", _memory),
        "next": partial(_tab, "next", _reading),
    },
)
