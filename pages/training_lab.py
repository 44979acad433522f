"""Training lab: change one setting and watch loss, accuracy, gradients and weights answer."""

import math
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from lab.answers import confusion, grid, over_plane, probabilities, unit_maps
from lab.datasets import SYNTHETIC
from lab.diagnose import diagnose
from lab.live import LiveRun, Worker
from lab.runs import Record
from lab.shelf import Kept, differences, from_folder, put, unused
from lab.ui import charts, page
from lab.ui.charts import Chart
from lab.ui.table import escape_markdown, markdown_table
from model import ACTIVATIONS, INITS, MLP
from train import DEFAULT_LR, Config, ConfigError

FIRST = Config(data="moons", hidden=(16, 16), lr=0.01, epochs=60)  # what a visitor without a link sees
LESSONS = {
    "A healthy run": FIRST,
    "Rate too high": replace(FIRST, activation="tanh", lr=0.3),
    "Rate too low": replace(FIRST, optimizer="sgd", lr=0.0001),
    "All weights zero": replace(FIRST, init="zeros"),
    "Vanishing gradients": replace(
        FIRST, data="circles", hidden=(16,) * 5, activation="sigmoid", init="xavier", optimizer="sgd", lr=0.1
    ),
    "Exploding gradients": replace(
        FIRST, data="digits", hidden=(64,) * 3, init="normal", optimizer="sgd", lr=0.001, epochs=30
    ),
    "A layer dies": replace(FIRST, data="digits", hidden=(32, 32), lr=0.3, epochs=30),
    "Overfitting": replace(FIRST, data="xor", hidden=(64, 64), epochs=150, val_fraction=0.95),
    "The hardest: spirals": replace(FIRST, data="spirals", hidden=(32, 32), activation="tanh", epochs=150),
}
OWN = "Your own settings"
DATA = (*SYNTHETIC, "digits")  # no MNIST: a page loads nothing from the network
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
BATCHES = (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FRACTIONS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
SPEEDS = (10, 30, 100, 300, 1000, math.inf)  # batches per second
LAYERS, WIDTH, EPOCHS = 6, 256, 300  # at most, so that one visitor cannot take the server from the others
TICK = 0.15  # seconds between two drawings while training
CELLS, SMALL = 40, 11  # of the plane, along each side: of the main picture, and of the small ones
IMAGES = 18
FIELD = 148  # pixels: five settings side by side on a desk, two on a phone
RUNS = Path("runs")  # where the command line puts its runs
COMPARED = 3  # earlier runs in one chart
STYLE = """<style>
.st-key-training-instruments h3 {font-size: 1.05rem; padding: 0.25rem 0 0}
.st-key-training-instruments h3 span {font-weight: 400}
</style>"""
INSTRUMENTS = {  # of the doctor -> the chart that shows it
    "loss": "loss",
    "gap": "accuracy",
    "norms": "gradients",
    "histogram": "weights",
    "dead units": "dead",
}


def main() -> None:
    page.opening(
        "Training lab",
        "Choose data and a network, then press **Start**. Watch how far training and validation drift apart, and "
        "which layer’s gradients fade first. A change of a setting begins a new run at once; the **Epoch** slider goes "
        "back to where it went wrong.",
    )
    st.html(STYLE)
    _start()
    config = _settings()
    if config and config != _run().config:
        _begin(config)
    _transport()
    running = st.session_state["training running"]
    with st.container(key="training-instruments"):
        st.fragment(_instruments, run_every=TICK if running else None)()
    _shelf()
    page.closing(
        "Choose the lesson “Rate too high”, press Start, and read what the doctor says. Then lower the learning rate "
        "step by step and see the four instruments answer.",
        "pages/graph_lab.py",
        "Back to one graph: where a gradient comes from",
    )


def _run() -> LiveRun:
    return st.session_state["training worker"].run


def _begin(config: Config) -> None:
    """Put a new run in the place of the present one, which goes on the shelf."""
    state = st.session_state
    state["training worker"].pause()
    state["training shelf"] = put(state["training shelf"], _run().config, _run().records)
    state["training worker"] = Worker(LiveRun(config))
    state["training cursor"] = config.epochs


# ---------------------------------------------------------------- settings: widgets, checked by Config, in the address


def _hidden(text: str) -> tuple[int, ...]:
    """Widths such as "16 8", "16, 8" or "16-8". Raises ConfigError, a ValueError, with a sentence."""
    words = re.split(r"[\s,;]+|(?<=\d)[x-](?=\d)", text.strip()) if text.strip() else []
    hidden = Config(hidden=tuple(int(word) if word.isdecimal() else word for word in words)).hidden
    if len(hidden) > LAYERS or max(hidden, default=1) > WIDTH:
        raise ConfigError(
            f"This page takes up to {LAYERS} layers of up to {WIDTH} units; the command line has no limit."
        )
    return hidden


def _up_to(limit: float, convert: Callable[[str], Any]) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        value = convert(text)
        if value > limit:
            raise ValueError(text)
        return value

    return parse


PARSERS: dict[str, Callable[[str], Any]] = {
    "data": page.one_of(*DATA),
    "hidden": _hidden,
    "activation": page.one_of(*ACTIVATIONS),
    "init": page.one_of(*INITS),
    "optimizer": page.one_of(*DEFAULT_LR),
    "lr": _up_to(100, float),
    "momentum": float,
    "batch_size": _up_to(BATCHES[-1], int),
    "epochs": _up_to(EPOCHS, int),
    "seed": _up_to(2**32, int),
    "val_fraction": float,
}


def _start() -> None:
    """What the address asks for, on the first run of a session."""
    state = st.session_state
    if "training worker" in state:
        return
    opened = page.from_address("run", None, _command_line_run)
    base = opened.config if opened and _trainable(opened.config) else FIRST
    for name, parse in PARSERS.items():

        def checked(text: str, name: str = name, parse: Callable = parse) -> Any:
            return getattr(Config(**{"optimizer": "sgd", name: parse(text)}), name)  # a ConfigError is a ValueError

        state[_key(name)] = page.from_address(name, getattr(base, name), checked)
    state[_key("hidden")] = _widths(state[_key("hidden")])
    config = _config()
    epoch = page.from_address("epoch", None, page.one_of(*map(str, range(1, config.epochs))))
    state["training worker"] = Worker(LiveRun(config))
    # A link to an epoch trains at once, for real: nothing but the settings is stored in it.
    state["training running"] = epoch is not None
    state["training cursor"] = int(epoch or config.epochs)
    state["training speed"] = math.inf if epoch else 300
    state["training shelf"] = []
    state["training compared"] = [opened] if opened else []
    state["training base"] = base


def _command_line_run(name: str) -> Kept:
    """The run that a link names. A name is looked up in a list, it is never a path. Raises ValueError."""
    for kept in from_folder(RUNS)[0]:
        if kept.name == name:
            return kept
    raise ValueError(name)


def _key(name: str) -> str:
    return f"training {name}"


def _widths(hidden: tuple[int, ...]) -> str:
    return " ".join(map(str, hidden))


def _config() -> Config:
    """What the widgets show. Raises ConfigError."""
    chosen = {name: st.session_state[_key(name)] for name in PARSERS}
    chosen["hidden"] = _hidden(chosen["hidden"])
    if chosen["optimizer"] != "sgd":
        chosen["momentum"] = 0.0  # adam has its own; the slider of sgd keeps its place meanwhile
    return Config(**chosen)


def _set_widgets(config: Config) -> None:
    for name in PARSERS:
        value = getattr(config, name)
        st.session_state[_key(name)] = _widths(value) if name == "hidden" else value


def _settings() -> Config | None:
    """The widgets; None, with a sentence below them, when what they say cannot be trained."""

    def choose_lesson() -> None:
        if st.session_state["training lesson"] in LESSONS:
            _set_widgets(LESSONS[st.session_state["training lesson"]])

    keep = {"persist_state": "session", "width": FIELD}
    try:
        config, mistake = _config(), None
    except ConfigError as error:
        config, mistake = None, str(error)
    lesson = next((name for name, settings in LESSONS.items() if settings == config), OWN)
    st.session_state["training lesson"] = lesson
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Lesson", [*LESSONS, OWN], key="training lesson", on_change=choose_lesson, width=2 * FIELD + 16)
        st.selectbox("Data", DATA, key=_key("data"), **keep)
        st.text_input("Hidden layers", key=_key("hidden"), help="Their widths, such as 16 8. Empty: none.", **keep)
        st.selectbox("Activation", ACTIVATIONS, key=_key("activation"), **keep)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Initial weights", INITS, key=_key("init"), **keep)
        st.selectbox("Optimizer", tuple(DEFAULT_LR), key=_key("optimizer"), **keep)
        _scale("Learning rate", "lr", RATES)
        _scale("Batch size", "batch_size", BATCHES)
        with st.popover("More", icon=":material/tune:", width=FIELD):
            keep["width"] = "stretch"
            if st.session_state[_key("optimizer")] == "sgd":
                st.slider("Momentum", 0.0, 0.99, step=0.01, key=_key("momentum"), **keep)
            _scale("Share of the samples held out to validate", "val_fraction", FRACTIONS, width="stretch")
            st.number_input("Epochs", 1, EPOCHS, key=_key("epochs"), **keep)
            st.number_input("Seed", 0, 2**32, key=_key("seed"), help="Fixes weights and order of samples.", **keep)
    if config is None:
        st.error(re.sub(r"--(?=[a-z])", "", mistake))  # the dashes belong to the command line
        return None
    base = st.session_state["training base"]
    for name in PARSERS:
        value = getattr(config, name)
        text = _widths(value) if name == "hidden" else f"{value:g}" if isinstance(value, float) else str(value)
        page.to_address(**{name: None if value == getattr(base, name) else text})
    return config


def _scale(label: str, name: str, scale: tuple, width: Any = FIELD) -> None:
    """A slider over the values of a scale, and over those that a link or a run brought along."""
    options = sorted({*st.session_state.get(f"{_key(name)} scale", scale), st.session_state[_key(name)]})
    st.session_state[f"{_key(name)} scale"] = options
    st.select_slider(label, options, format_func="{:g}".format, key=_key(name), persist_state="session", width=width)


def _command(config: Config) -> str:
    """The same run on the command line."""
    default = Config()
    words = ["python train.py"]
    for name in PARSERS:
        value = getattr(config, name)
        if value != getattr(default, name):
            words.append(
                f"--{name.replace('_', '-')} {_widths(value) if name == 'hidden' else shlex.quote(str(value))}"
            )
    return " ".join(words)


# ---------------------------------------------------------------- start, pause, step, reset


def _transport() -> None:
    worker: Worker = st.session_state["training worker"]
    run, running = worker.run, st.session_state["training running"]

    def toggle() -> None:
        worker.pause()
        st.session_state["training running"] = not running

    def step() -> None:
        stop()
        run.advance()

    def reset() -> None:
        stop()
        run.rewind(0)

    def stop() -> None:
        worker.pause()
        st.session_state["training running"] = False
        st.session_state["training cursor"] = run.config.epochs

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Pause" if running else "Continue" if run.batches else "Start",
            icon=":material/pause:" if running else ":material/play_arrow:",
            type="primary",
            on_click=toggle,
            disabled=run.done,
            shortcut="P",
            key="training toggle",
        )
        st.button(
            "Step: one batch",
            icon=":material/skip_next:",
            on_click=step,
            disabled=run.done,
            shortcut="Right",
            key="training step",
        )
        st.button(
            "Reset",
            icon=":material/replay:",
            on_click=reset,
            disabled=not run.batches and not running,
            key="training reset",
            help="Back to the same initial weights.",
        )
        worker.rate = st.select_slider(
            "Batches per second",
            SPEEDS,
            format_func=lambda rate: f"{rate:,}" if math.isfinite(rate) else "full speed",
            key="training speed",
            persist_state="session",
            width=FIELD + 60,
        )


# ---------------------------------------------------------------- the instruments: redrawn on their own while training


def _instruments() -> None:
    state = st.session_state
    worker: Worker = state["training worker"]
    run = worker.run
    if state["training running"]:
        if run.done:
            state["training running"] = False
            st.rerun()  # the buttons stand outside of this fragment
        worker.watch()
    records = list(run.records)  # the worker may add to the original
    _progress(run)
    cursor = _cursor(run, len(records))
    seen = records[:cursor]
    _doctor(seen)

    theme = page.theme()
    layers = run.trainer.layer_names
    others = [(kept.name, kept.records) for kept in _overlaid()]
    longest = max([len(records), *(len(compared) for _, compared in others)])
    by_epoch = {
        "until": charts.horizon(longest, run.config.epochs),
        "cursor": cursor,
        "theme": theme,
    }
    network, when = _network(run, cursor)
    left, right = st.columns(2, gap="medium")
    with left:
        if run.trainer.sizes[0] == 2:
            _plane(run, network, when)
        elif run.config.data == "digits":
            _digits(run, network, when)
    with right:
        log = state.get("training log", False)
        _show(
            charts.loss(records, run.losses(), run.trainer.steps_per_epoch, log=log, others=others, **by_epoch),
            "loss",
            "band behind: single batches",
        )
        st.toggle("Logarithmic loss", key="training log", persist_state="session")
        _show(charts.accuracy(records, others=others, **by_epoch), "accuracy")
    left, right = st.columns(2, gap="medium")  # a second row, so that a phone shows them in this order, too
    with left:
        _show(charts.gradient_norms(records, layers, **by_epoch), "gradients")
        if run.config.hidden:
            _show(charts.dead_units(records, layers[:-1], **by_epoch), "dead")
    with right:
        if records:
            initial = [layer.weight.numpy() for layer in run.network(0).layers]
            record = (seen or records[:1])[-1]
            note = f"epoch {record['epoch']}; dashed: before training"
            _show(charts.weight_histograms(record, initial, layers, theme), "weights", note)
    names = ["Weights over the epochs", "Updates", "Units of a layer", "Command line"]
    tabs = dict(zip(names, st.tabs(names, key="training tabs", on_change="rerun"), strict=True))
    for name, tab in tabs.items():
        if tab.open:
            with tab:
                _more(name, run, seen, network, by_epoch)


def _progress(run: LiveRun) -> None:
    trainer = run.trainer
    where = f"Epoch {trainer.epoch} of {run.config.epochs}"
    if trainer.batch:
        where += f", then batch {trainer.batch} of {trainer.steps_per_epoch}"
    losses = run.losses()
    if len(losses):
        where += f". Loss of the last batch: {losses[-1]:.3g}"
    st.progress(run.progress, text=where)


def _cursor(run: LiveRun, latest: int) -> int | None:
    """The slider that takes all instruments back to one epoch; None when they show the latest."""
    state = st.session_state
    epochs = run.config.epochs

    def rewind() -> None:
        state["training worker"].pause()
        state["training running"] = False
        run.rewind(run.kept_epoch(state["training cursor"]))
        state["training cursor"] = epochs

    with st.container(horizontal=True, vertical_alignment="bottom"):
        # The page never moves this slider while the training goes on: that would fight with the hand that moves it.
        chosen = st.slider(
            "Show the epoch", 0, epochs, key="training cursor", persist_state="session",
            help="At the right end, all instruments follow the training.",
        )  # fmt: skip
        back = run.kept_epoch(min(chosen, latest))
        if st.button(
            f"Rewind to epoch {back}",
            icon=":material/history:",
            on_click=rewind,
            disabled=back >= latest,
            key="training rewind",
            help="Train on from there: the same numbers come again.",
        ):
            st.rerun()
    page.to_address(epoch=str(chosen) if chosen < epochs else None)
    return chosen if chosen < latest else None


def _doctor(records: list[Record]) -> None:
    """What the training doctor says of the epochs up to the cursor."""
    if not records:
        st.caption("The doctor speaks after the first epoch.")
        return
    first, *more = diagnose(records)
    text = f"**{first.name}.** {' '.join(first.evidence)} {first.remedy}"
    if first.instrument == "updates":
        text += " See the tab “Updates”."
    else:
        text += f" [See the chart.](#training-{INSTRUMENTS[first.instrument]})"
    if first.key == "healthy":
        st.success(text, icon=":material/check_circle:")
    elif first.key == "early":
        st.info(text, icon=":material/hourglass_top:")
    else:
        st.warning(text, icon=":material/stethoscope:")
    if more:
        also = st.expander(f"The doctor also sees: {', '.join(finding.name for finding in more)}", type="compact")
        for finding in more:
            also.markdown(f"**{finding.name}.** {' '.join(finding.evidence)} {finding.remedy}")


def _network(run: LiveRun, cursor: int | None) -> tuple[MLP, str]:
    """The network that the pictures show, and the words for when that was."""
    if cursor is None:
        return run.network(), f"after {run.batches:,} batches" if run.batches else "before training"
    kept = run.kept_epoch(cursor)
    if kept == 0:
        return run.network(0), "before training"
    return run.network(kept), f"epoch {kept}" + ("" if kept == cursor else f", the nearest that is kept to {cursor}")


def _plane(run: LiveRun, network: MLP, when: str) -> None:
    data, theme = run.trainer.dataset, page.theme()
    units = {
        f"layer {layer + 1}, unit {unit + 1}": (layer, unit)
        for layer, width in enumerate(run.config.hidden)
        for unit in range(width)
    }
    answer = "the answer of the network"
    if st.session_state.get("training unit") not in units:
        st.session_state["training unit"] = answer
    shown = st.session_state["training unit"]
    xs, ys = grid(data.train_x, CELLS)
    points = st.session_state.get("training points", "validation")
    inputs, labels = (data.train_x, data.train_y) if points == "training" else (data.val_x, data.val_y)
    samples = xs, ys, inputs, labels, data.classes, theme
    if shown in units:
        layer, unit = units[shown]
        chart = charts.unit(unit_maps(network, layer, xs, ys)[..., unit], shown, *samples)
    else:
        chart = charts.boundary(over_plane(network, xs, ys), *samples)
    _show(chart, "plane", when)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Show on the plane", [answer, *units], key="training unit", width=230)
        st.segmented_control(
            "Samples", ["validation", "training"], default="validation", key="training points", required=True
        )


def _digits(run: LiveRun, network: MLP, when: str) -> None:
    data, theme = run.trainer.dataset, page.theme()
    answers = probabilities(network, data.val_x)
    predicted = answers.argmax(axis=1)
    wanted = st.session_state.get("training images", "first")
    rows = np.arange(len(predicted)) if wanted == "first" else np.flatnonzero(predicted != data.val_y)
    rows = rows[:IMAGES]
    side = math.isqrt(data.val_x.shape[1])
    pixels = (data.val_x[rows] * data.scale + data.mean).reshape(-1, side, side)
    images = np.clip(pixels / (data.train_x.max() * data.scale + data.mean), 0, 1)
    if len(rows):
        _show(charts.samples(images, data.val_y[rows], answers[rows], data.classes, theme), "samples", when)
    else:
        st.markdown("No mistakes among the validation samples.")
    st.segmented_control(
        "Which samples", ["first", "mistakes"], default="first", key="training images", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    counts = confusion(data.val_y, predicted, len(data.classes))
    _show(charts.confusion_matrix(counts, data.classes, theme), "confusion", when)


def _more(name: str, run: LiveRun, records: list[Record], network: MLP, by_epoch: dict[str, Any]) -> None:
    """The contents of the tab called `name`, drawn only while it is open."""
    layers, theme = run.trainer.layer_names, by_epoch["theme"]
    if name == "Command line":
        st.markdown("The same run, with the same numbers, in a terminal:")
        st.code(_command(run.config), language="bash", wrap_lines=True)
    elif name == "Updates":
        st.caption("How far the last step of each epoch moved a layer’s weights, over their norm. 0.001 is usual.")
        _show(charts.update_ratios(list(run.records), layers, **by_epoch), "updates")
    elif name == "Weights over the epochs":
        layer = st.segmented_control(
            "Layer", layers, default=layers[0], key="training ridge layer", required=True, format_func=charts.layer_name
        )
        if records:
            _show(charts.ridges(records, layer, theme), "ridges")
    elif run.trainer.sizes[0] == 2 and run.config.hidden:
        hidden = layers[:-1]
        layer = st.segmented_control(
            "Layer", hidden, default=hidden[0], key="training unit layer", required=True, format_func=charts.layer_name
        )
        xs, ys = grid(run.trainer.dataset.train_x, SMALL)
        maps = unit_maps(network, hidden.index(layer), xs, ys)
        _show(charts.thumbnails(maps, layer, theme), "units", "blue above 0, pink below; in reading order")
    else:
        st.markdown("Units can be drawn for data with two inputs and a network with a hidden layer.")


def _show(chart: Chart, key: str, note: str = "") -> None:
    """A chart under its heading, and its numbers as a table for whoever opens it."""
    st.subheader(f"{chart.title} :small[:gray[{note}]]" if note else chart.title, anchor=f"training-{key}")
    st.echarts_chart(chart.spec, height=chart.height, alt=chart.alt, key=f"chart-{key}")
    table = st.expander("As a table", key=f"table-{key}", on_change="rerun", type="compact")
    if table.open:
        table.markdown(markdown_table(chart.headers, chart.rows))


# ---------------------------------------------------------------- the shelf: earlier runs, to compare and to go back to


def _overlaid() -> list[Kept]:
    return [kept for kept in st.session_state["training compared"] if kept.config != _run().config]


def _shelf() -> None:
    state = st.session_state
    own = state["training shelf"]
    shelf = st.expander(f"Earlier runs ({len(own)} of this visit)", key="training shelf open", on_change="rerun")
    if not shelf.open:
        return
    shared, complaints = from_folder(RUNS)
    with shelf:
        if not own and not shared:
            st.markdown("Change a setting after a few epochs: the run that you leave comes here, to be compared.")
        for kept in own:
            _shelved(kept)
        if shared:
            st.markdown(f"**From the command line** ({RUNS}/)")
        for kept in shared:
            _shelved(kept)
        for sentence in complaints:
            st.warning(escape_markdown(sentence), icon=":material/warning:")


def _shelved(kept: Kept) -> None:
    """One run of the shelf: what it reached, what it did differently, and what can be done with it."""
    state = st.session_state

    def compare() -> None:
        others = [other for other in state["training compared"] if other.name != kept.name]
        state["training compared"] = [*others, kept][-COMPARED:] if state[f"compare {kept.name}"] else others

    def load() -> None:
        _set_widgets(kept.config)

    def rename() -> None:
        others = [other for other in state["training shelf"] if other is not kept]
        kept.name = unused(state[f"name {identity}"].strip() or kept.name, others)

    def delete() -> None:
        for place in ("training shelf", "training compared"):
            state[place] = [other for other in state[place] if other is not kept]

    identity = id(kept)
    with st.container(border=True):
        best = max((record["val_accuracy"] for record in kept.records), default=0.0)
        st.markdown(
            f"**{escape_markdown(kept.name)}**, {len(kept.records)} epochs, best validation accuracy {best:.1%}. "
            f"Against the present run: {escape_markdown(differences(kept.config, _run().config))}."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            state[f"compare {kept.name}"] = any(other.name == kept.name for other in state["training compared"])
            st.toggle("Compare", key=f"compare {kept.name}", on_change=compare)
            if _trainable(kept.config):
                st.button("Use its settings", key=f"load {kept.name}", on_click=load)
            st.download_button("Download", kept.to_jsonl(), f"{kept.name}.jsonl", key=f"download {kept.name}")
            if not kept.shared:
                with st.popover("Rename"):
                    st.text_input("New name", kept.name, 60, key=f"name {identity}", on_change=rename)
                st.button("Delete", key=f"delete {kept.name}", on_click=delete)


def _trainable(config: Config) -> bool:
    """Can this page train it? A run of the command line may have other data, or a larger network."""
    small = len(config.hidden) <= LAYERS and max(config.hidden, default=1) <= WIDTH and config.epochs <= EPOCHS
    return config.data in DATA and config.clip is None and small


main()
