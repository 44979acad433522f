"""Finds the causes that fit a log, pasted, uploaded or from a run of this visit, and marks the evidence."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import streamlit as st

from lab import charts
from lab.charts import Axis, Line, Mark
from lab.failures import curve
from lab.failures.catalogue import BY_KEY
from lab.failures.curve import CurveAnswer, CurveCause, LogError, UploadedCurve
from lab.failures.curve.first_bad import FirstBad, NoneBad, first_bad
from lab.failures.curve.roles import ROLES
from lab.training.config import Config, ConfigError
from lab.training.live import Own, own_dataset
from lab.training.samples import DataError
from lab.training.shelf import ShelvedRun
from lab.ui import binding, page
from lab.ui.chart_host import show_chart
from lab.ui.player import player
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button, row, switch
from pages.parts.failures import pasted
from train import train

Choose = Callable[[str], None]
TEXT = "curve text"  # session key
LOG = pasted.held("wrong-log")
WAYS = {"paste": "Your own", "run": "One of your runs"}
EXAMPLE = Config(data="moons", hidden=(16, 16), optimizer="sgd", lr=10.0, epochs=20)
CHOICES = [role for role in ROLES if role != "run"]  # eight
MAX_CHOICES = 60  # names to choose from
MAX_SUMMARY = 200  # characters
STEEP = 50  # ratio of the largest to the smallest loss above which the axis is logarithmic
IN_PYTORCH = """\
torch.autograd.set_detect_anomaly(True)   # slow, so only until it is found
for number, (x, y) in enumerate(loader):  # use the run's seed, to get the same batches
    loss = criterion(model(x), y)         # anomaly mode names the operation that gives NaN in the backward pass
    if not loss.isfinite():
        print(number, x.isfinite().all(), [name for name, p in model.named_parameters() if not p.isfinite().all()])
        break
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()"""


def restored() -> None:
    """Use the log in the address, if there is one; call it before the widgets are drawn."""
    pasted.restore(LOG, TEXT)


def take(text: str) -> None:
    """Use a text as the pasted curve; call it before the widgets are drawn."""
    binding.set_widget("wrong-from", "paste")
    st.session_state[TEXT] = text


def from_a_curve(choose: Choose) -> None:
    """Ask for a curve and show what may have caused it. choose: callback that opens the failure with a key."""
    way = switch("Where is the log?", WAYS, "wrong-from", bind="query-params")
    if way == "run":
        _of_visit(choose)
    elif source := _given():
        try:
            _show_answer(_read(source), None, choose)
        except LogError as error:
            st.error(with_code(str(error)), icon=":material/block:")


# ---------------------------------------------------------------- where it comes from


def _of_visit(choose: Choose) -> None:
    runs = {run.name: run for run in _runs()}
    if not runs:
        st.markdown("This page has no run yet. Train one in the Training lab, or open it if you had one there.")
        page.link_to("pages/training_lab.py", "Training lab", "model_training")
        return
    run = runs[st.selectbox("Which run?", [*runs], key="curve run")]
    _show_answer(curve.of_records(run.records, run.config), run, choose)


def _runs() -> list[ShelvedRun]:
    """Return the Training lab's runs of this visit."""
    session = st.session_state
    runs = [*session.get("training shelf", ())]
    if "training worker" in session and session["training worker"].run.records:
        run = session["training worker"].run
        runs.insert(0, ShelvedRun("The current run of the Training lab", run.config, run.records, run.own))
    return runs


def _given() -> str | bytes:
    """Ask for a log, as a text or in a file."""

    def example() -> None:
        st.session_state[TEXT] = _example()

    text: str = st.text_area(
        "What your training prints or saves: lines, a table, a dict or a list of losses",
        key=TEXT,
        persist_state="session",
        height=140,
        placeholder="Epoch 1/20 | loss=2.31 val_loss=2.30 lr=0.01\nEpoch 2/20 | loss=2.29 val_loss=2.31 lr=0.01",
    )
    with row():
        button("Read the log", "curve read", icon="monitoring", type="primary")
        button("Train one that goes wrong", "curve example", example, icon="model_training")
        with st.popover("Or a file", icon=":material/upload_file:"):
            file = st.file_uploader("A log, CSV or JSON", key="curve file")
    pasted.hold(LOG, text)
    return file.getvalue() if file else text.strip() and text


def _example() -> str:
    """Train a run with far too high a learning rate, and return its records as CSV."""
    rows = ["epoch,train_loss,val_loss,train_acc,val_acc"]
    for record in train(EXAMPLE):
        numbers = (record[name] for name in ("train_loss", "val_loss", "train_accuracy", "val_accuracy"))
        rows.append(",".join([str(record["epoch"]), *("nan" if n is None else f"{n:.5g}" for n in numbers)]))
    return "\n".join(rows)


@st.cache_data(max_entries=32, show_spinner=False)
def _of_text(source: str | bytes, chosen: Mapping[str, str | None], run: int | None) -> CurveAnswer:
    return curve.read_log(source, chosen, run)


def _read(source: str | bytes) -> CurveAnswer:
    """Read a log, say what was read as what, and let the visitor change that. Raises LogError."""
    answer = _of_text(source, {}, None)
    roles = {role: name for name, role in answer.columns.items()}
    read_as = ", ".join(f"“{roles[role]}” as {words}" for role, words in ROLES.items() if role in roles)
    if len(read_as) > MAX_SUMMARY:
        read_as = f"{read_as[:MAX_SUMMARY]} …"
    names = [*answer.columns, *answer.others][:MAX_CHOICES]
    log = zlib.crc32(source if isinstance(source, bytes) else source.encode("utf-8", "replace"))
    run = None
    with st.expander(f"Read {escape_markdown(read_as)}" if read_as else "Choose the loss", expanded=not answer.curve):
        if answer.runs > 1:
            run = st.selectbox("Run", range(answer.runs), answer.run, lambda at: f"{at + 1}", key=f"curve run {log}")
        chosen = {}
        for row in (CHOICES[:4], CHOICES[4:]):
            for column, role in zip(st.columns(4), row, strict=True):
                given = roles.get(role)
                name = column.selectbox(
                    ROLES[role].capitalize(),
                    [None, *names],
                    names.index(given) + 1 if given in names else 0,
                    lambda name: name or "–",
                    key=f"curve {role} {log}",
                )
                if name != given:
                    chosen[role] = name
    return _of_text(source, chosen, run) if chosen or run is not None else answer


# ---------------------------------------------------------------- what it says


def _show_answer(answer: CurveAnswer, run: ShelvedRun | None, choose: Choose) -> None:
    if answer.notes:
        st.caption(escape_markdown(" ".join(answer.notes)))
    if answer.curve is None:
        return
    if not answer.causes:
        st.info(
            "**Nothing seen.** No rule fits these numbers. That does not mean that all is well: see below what they "
            "cannot show.",
            icon=":material/search:",
        )
    for cause in answer.causes[:1]:
        _cause(1, cause, "" if cause.sure else "First to check: ", choose)
    _draw_curve(answer.curve, answer.causes)
    for number, cause in enumerate(answer.causes[1:], 2):
        _cause(number, cause, "The same numbers also fit: ", choose)
    if answer.ended:
        _no_number(answer, run)
    if answer.unseen:
        with st.expander("What this curve cannot show, and what to log next time", key="curve unseen"):
            st.markdown("\n".join(f"- {with_code(sentence)}" for sentence in answer.unseen))
            if answer.log:
                st.code("\n".join(answer.log), language="python")


def _cause(number: int, cause: CurveCause, before: str, choose: Choose) -> None:
    with st.container(border=True, key=f"curve-cause-{number}", gap="xsmall"):
        st.markdown(f"**{before}{cause.known.name}.** {escape_markdown(' '.join(cause.evidence))}")
        st.markdown(f"**To do:** {escape_markdown(cause.advice)}")
        if not cause.sure:
            st.markdown(f"**What would confirm it:** {escape_markdown(cause.known.apart)}")
        _links(cause, choose)


def _links(cause: CurveCause, choose: Choose) -> None:
    """Link to the failure, if the cause is in the catalogue, and to a run that goes wrong in the same way."""
    failure = BY_KEY.get(cause.known.failure)
    with row():
        if failure:
            button(
                f"{failure.number} {failure.name}",
                f"curve failure {failure.key}",
                choose,
                failure.key,
                icon="arrow_forward",
                type="tertiary",
            )
        if cause.known.settings:
            page.link_to(
                "pages/training_lab.py", "Cause it in the Training lab", "model_training", cause.known.settings
            )


def _draw_curve(c: UploadedCurve, causes: Sequence[CurveCause]) -> None:
    drawn = [Line("training loss", _points(c, c.loss))]
    if c.config.val_fraction:
        drawn.append(Line("validation loss", _points(c, c.val_loss)))
    values = np.array([y for line in drawn for _, y in line.points if math.isfinite(y)])
    if not values.size:
        return
    log = bool(values.min() > 0 and values.max() > STEEP * values.min())
    marks = [
        Mark("x", cause.at, f"cause {number}")
        for number, cause in enumerate(causes, 1)
        if cause.at is not None and cause.evidence
    ]
    x, y = Axis(c.counter), Axis("loss", log=log)
    show_chart(charts.lines("The curve", drawn, x, y, marks=marks, theme=page.theme()), "curve")


def _points(c: UploadedCurve, values: np.ndarray) -> list[tuple[float, float]]:
    return [(place, float(value)) for place, value in zip(c.places, values, strict=True)]


# ---------------------------------------------------------------- no longer a number


def _no_number(answer: CurveAnswer, run: ShelvedRun | None) -> None:
    st.markdown(f"**No longer a number.** {answer.ended}")
    if run is None:
        st.markdown("The curve does not show which batch it was. In PyTorch, these lines find it:")
        st.code(IN_PYTORCH, language="python")
        return
    if not st.toggle("Find the batch and the operation: train it once more", key="curve find"):
        return
    try:
        found = _found(run.config, run.own)
    except (DataError, ConfigError) as error:
        st.error(with_code(str(error)), icon=":material/block:")
        return
    if isinstance(found, NoneBad):
        st.info(
            "Trained once more, the loss of each batch is a number; only the loss over all samples is not."
            if found.whole
            else f"Trained once more, the losses of the first {found.steps:,} steps are numbers. The search stops "
            "there and has not found the batch."
        )
        return
    st.markdown(
        f"It is batch {found.batch} of epoch {found.epoch}, with {found.samples} samples. The largest weight was "
        f"{found.largest:.3g} by then. Training sample {found.sample} is the first whose own loss is not a number."
        if found.alone
        else f"It is batch {found.batch} of epoch {found.epoch}. The loss of each of its {found.samples} samples is a "
        f"number, but their sum is larger than a float32 can hold; the largest weight was {found.largest:.3g} by then."
    )
    for sentence in found.sentences[:1]:
        st.markdown(with_code(sentence))
    if found.trace is not None:
        player(found.trace, key="curve player", event=found.event, address="at")
    elif found.alone:
        st.markdown("The network is too large to be drawn: with narrower hidden layers the player shows the operation.")


@st.cache_resource(max_entries=8, show_spinner="Training it once more, up to the batch ...")
def _found(config: Config, own: Own) -> FirstBad | NoneBad:
    return first_bad(config, own_dataset(own, config.val_fraction, config.seed))
