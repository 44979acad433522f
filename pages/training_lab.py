"""Training lab: change one setting and watch loss, accuracy, gradients and weights answer."""

import contextlib
import math
import re
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.answers import confusion, grid, over_plane, probabilities, saliency, unit_maps
from lab.datasets import SYNTHETIC, Dataset
from lab.diagnose import diagnose
from lab.drawing import LEVELS, normalise
from lab.live import LiveRun
from lab.probe import MOST_WEIGHTS, loss_of_sample
from lab.runs import Record, RunError
from lab.shelf import Kept, delete, differences, from_folder, hosted, open_whole, put, rename, unused
from lab.trace import record
from lab.ui import charts, page
from lab.ui.charts import Chart
from lab.ui.digit_pad import digit_pad
from lab.ui.frames import Frames
from lab.ui.own_data import your_points, your_table
from lab.ui.player import player
from lab.ui.table import escape_markdown, markdown_table
from lab.ui.units import pointed_at, small_maps
from lab.worker import Worker
from model import ACTIVATIONS, INITS, MLP
from train import DEFAULT_LR, SCHEDULES, Config, ConfigError

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
OWN_DATA = {"points": your_points, "table": your_table}
DATA = (*SYNTHETIC, "digits", *OWN_DATA)  # no MNIST: a page loads nothing from the network
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
BATCHES = (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FRACTIONS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
SPEEDS = (10, 30, 100, 300, 1000, math.inf)  # batches per second
LAYERS, WIDTH, EPOCHS = 6, 256, 300  # at most, so that one visitor cannot take the server from the others
ROUND, UPDATES = 1.0, 6  # seconds that the page follows the training without a rest, and drawings in that time
POINTS = 500  # of the samples, on the plane
CELLS, SMALL = 40, 11  # of the plane, along each side: of the main picture, and of the small ones
MAPS = 64  # small ones at most
IMAGES = 18
FIELD = 148  # pixels: five settings side by side on a desk, two on a phone
RUNS = Path("runs")  # where the command line puts its runs
COMPARED = 3  # earlier runs in one chart
STYLE = """<style>
.st-key-training-instruments h3 {font-size: 1.05rem; padding: 0.25rem 0 0}
.st-key-training-instruments h3 span {font-weight: 400}
</style>"""
ROWS = (  # of instruments, each in two columns, so that a phone shows a row in this order, too
    (("plane", "samples", "confusion"), ("loss", "accuracy")),
    (("gradients", "dead"), ("weights",)),
)
NOTES = {"loss": "band behind: single batches", "weights": "dashed: before training"}
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
        "which layer’s gradients fade first. A change of a setting begins a new run at once; the slider "
        "**Show the epoch** goes back to where it went wrong.",
    )
    st.html(STYLE)
    _start()
    st.session_state["training worker"].take_turn()  # an older run of this page may still be on its way out
    if st.session_state["training opened"]:
        _recorded(st.session_state["training opened"])
        return
    config = _settings()
    own = OWN_DATA.get(st.session_state[_key("data")])
    data = own(st.session_state[_key("val_fraction")], st.session_state[_key("seed")]) if own else None
    if config and (data or not own):
        _keep_up(config, data)
    _transport()
    with st.container(key="training-instruments"):
        view = _view()
        places = _lay_out(view)
        _read_along(view)
    _shelf()
    page.closing(
        "Choose the lesson “Rate too high”, press Start, and read what the doctor says. Then lower the learning rate "
        "step by step and see the four instruments answer.",
        "pages/graph_lab.py",
        "Back to one graph: where a gradient comes from",
    )
    if st.session_state["training running"]:
        with places.units or st.container():
            st.fragment(_follow, run_every=ROUND)(view, places, st.session_state["training worker"].take_turn())


def _run() -> LiveRun:
    return st.session_state["training worker"].run


def _keep_up(config: Config, data: Dataset | None) -> None:
    """When the settings or the data are others, put a new run in the place of the present one, which goes on the shelf.

    data: the visitor's own, or None for what the config names.
    """
    state, run = st.session_state, _run()
    if config == run.config and (data is None or data.fingerprint == run.trainer.dataset.fingerprint):
        return
    state["training worker"].pause()
    state["training shelf"] = put(state["training shelf"], run.config, run.records)
    state["training worker"] = Worker(LiveRun(config, data))
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
    "schedule": page.one_of(*SCHEDULES),
    "warmup": int,
    "clip": float,
    "patience": int,
}
UNLIMITED = ("clip", "patience")  # None in a Config, 0 in their widgets


def _start() -> None:
    """What the address asks for, on the first run of a session."""
    state = st.session_state
    if "training worker" in state:
        return
    state["training opened"] = page.from_address("run", None, _command_line_run)
    settings = {}
    for name, parse in PARSERS.items():

        def checked(text: str, name: str = name, parse: Callable = parse) -> Any:
            alone = {"optimizer": "sgd", "epochs": EPOCHS, name: parse(text)}
            return getattr(Config(**alone), name)  # a ConfigError is a ValueError

        settings[name] = page.from_address(name, getattr(FIRST, name), checked)
    try:
        config = _fitting(settings)
    except ConfigError as error:
        st.info(f"The settings in the address do not fit together, so the usual ones are used. {_sentence(error)}")
        config = FIRST
    _set_widgets(config)
    if config.data in OWN_DATA:  # until the visitor's own have been read
        config = replace(config, data=FIRST.data)
    state["training worker"] = Worker(LiveRun(config))
    opened = state["training opened"]
    epochs = len(opened.records) + 1 if opened else config.epochs
    epoch = page.from_address("epoch", None, page.one_of(*map(str, range(1, epochs))))
    if opened:
        state["training recorded epoch"] = int(epoch or epochs - 1)
        epoch = None
    # A link to an epoch trains at once, for real: nothing but the settings is stored in it.
    state["training running"] = epoch is not None
    state["training cursor"] = int(epoch or config.epochs)
    state["training speed"] = math.inf if epoch else 300
    state["training shelf"] = []
    state["training compared"] = []


def _command_line_run(name: str) -> Kept:
    """The run that a link names. Raises ValueError."""
    try:
        return open_whole(RUNS, name)
    except RunError as error:
        raise ValueError(str(error)) from None


def _key(name: str) -> str:
    return f"training {name}"


def _widths(hidden: tuple[int, ...]) -> str:
    return " ".join(map(str, hidden))


def _fitting(settings: dict[str, Any]) -> Config:
    """The config of these settings. Momentum is sgd's: adam has its own, and leaves this one for later."""
    return Config(**settings | ({} if settings["optimizer"] == "sgd" else {"momentum": 0.0}))


def _config() -> Config:
    """What the widgets show. Raises ConfigError."""
    settings = {name: st.session_state[_key(name)] for name in PARSERS}
    settings["hidden"] = _hidden(settings["hidden"])
    return _fitting(settings | {name: settings[name] or None for name in UNLIMITED})


def _set_widgets(config: Config) -> None:
    for name in PARSERS:
        value = getattr(config, name)
        st.session_state[_key(name)] = (
            _widths(value) if name == "hidden" else (value or 0) if name in UNLIMITED else value
        )


def _sentence(error: ConfigError) -> str:
    return re.sub(r"--(?=[a-z])", "", str(error))  # the dashes belong to the command line


def _settings() -> Config | None:
    """The widgets; None, with a sentence below them, when what they say cannot be trained."""

    def choose_lesson() -> None:
        if st.session_state["training lesson"] in LESSONS:
            _set_widgets(LESSONS[st.session_state["training lesson"]])

    keep = {"persist_state": "session", "width": FIELD}
    try:
        config, mistake = _config(), None
    except ConfigError as error:
        config, mistake = None, _sentence(error)
    lesson = next((name for name, settings in LESSONS.items() if settings == config), OWN)
    st.session_state["training lesson"] = lesson
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Lesson", [*LESSONS, OWN], key="training lesson", on_change=choose_lesson, width=2 * FIELD + 16)
        st.selectbox(
            "Data",
            DATA,
            key=_key("data"),
            format_func=lambda name: f"your {name}" if name in OWN_DATA else name,
            **keep,
        )
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
            st.selectbox("Learning rate over time", SCHEDULES, key=_key("schedule"), **keep)
            st.number_input("Epochs of warm-up", 0, EPOCHS, key=_key("warmup"), **keep)
            st.number_input("Clip gradients to this norm (0: never)", 0.0, 1000.0, step=0.5, key=_key("clip"), **keep)
            st.number_input(
                "Stop after epochs without a better one (0: never)", 0, EPOCHS, key=_key("patience"), **keep
            )
            st.number_input("Epochs", 1, EPOCHS, key=_key("epochs"), **keep)
            st.number_input("Seed", 0, 2**32, key=_key("seed"), help="Fixes weights and order of samples.", **keep)
    if config is None:
        st.error(mistake)
        return None
    for name in PARSERS:
        value = getattr(config, name)
        text = _widths(value) if name == "hidden" else f"{value:g}" if isinstance(value, float) else str(value)
        page.to_address(**{name: None if value == getattr(FIRST, name) else text})
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
    state = st.session_state
    worker: Worker = state["training worker"]
    run, running = worker.run, state["training running"]

    def stop() -> None:
        worker.pause()
        state["training running"] = False
        state["training cursor"] = run.config.epochs

    def toggle() -> None:
        worker.pause()
        state["training running"] = not running

    def step() -> None:
        stop()
        run.advance()

    def reset() -> None:
        stop()
        run.rewind(0)

    if "training complaint" in state:
        st.error(state.pop("training complaint"))
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


# ---------------------------------------------------------------- what to look at


@dataclass(frozen=True)
class View:
    """What the visitor wants to see of a run."""

    run: LiveRun
    chosen: int  # epoch
    unit: tuple[int, int] | None  # a layer and a unit that fill the plane, both from 0
    layer: int | None  # whose units are drawn small, from 0
    points: str
    images: str
    log: bool

    @property
    def cursor(self) -> int | None:
        """The epoch to look back at; None follows the training."""
        return self.chosen if self.chosen < self.run.trainer.epoch else None

    @property
    def seen(self) -> list[Record]:
        """The history up to the cursor."""
        return self.run.history if self.cursor is None else self.run.history[: self.cursor + 1]


def _view() -> View:
    """The widgets that choose it. They stand outside of what is redrawn while training."""
    state = st.session_state
    run: LiveRun = state["training worker"].run
    epochs, latest = run.config.epochs, run.trainer.epoch

    def rewind() -> None:
        state["training worker"].pause()
        state["training running"] = False
        run.rewind(run.kept_epoch(state["training cursor"]))
        state["training cursor"] = epochs

    with st.container(horizontal=True, vertical_alignment="bottom"):
        # The page never moves this slider while the training goes on: that would fight with the hand that moves it.
        chosen = st.slider(
            "Show the epoch", 0, epochs, key="training cursor", persist_state="session",
            help="All instruments go back to this epoch. At the right end they follow the training.",
        )  # fmt: skip
        back = run.kept_epoch(min(chosen, latest))
        st.button(
            f"Rewind to epoch {back}",
            icon=":material/history:",
            on_click=rewind,
            disabled=back >= latest,
            key="training rewind",
            help="Train on from there: the same numbers come again.",
        )
    page.to_address(epoch=str(chosen) if chosen < epochs else None)
    unit, layer, points, images = None, None, "validation", "first"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if run.trainer.sizes[0] == 2:
            units = {
                f"layer {layer + 1}, unit {number + 1}": (layer, number)
                for layer, width in enumerate(run.config.hidden)
                for number in range(width)
            }
            answer = "the answer of the network"
            if state.get("training unit") not in units:
                state["training unit"] = answer
            unit = units.get(st.selectbox("On the plane", [answer, *units], key="training unit", width=230))
            if run.config.hidden:
                layers = list(range(len(run.config.hidden)))
                if state.get("training unit layer") not in layers:
                    state["training unit layer"] = 0
                layer = state["training unit layer"]
                pointed = pointed_at(min(run.config.hidden[layer], MAPS))
                unit = unit if pointed is None else (layer, pointed)
            points = _choice("Samples", ["validation", "training"], "training points")
        elif run.config.data == "digits":
            images = _choice("Samples", ["first", "mistakes"], "training images")
        log = _choice("Loss axis", ["linear", "logarithmic"], "training log") == "logarithmic"
    return View(run, chosen, unit, layer, points, images, log)


def _choice(label: str, options: list[str], key: str) -> str:
    return st.segmented_control(label, options, default=options[0], key=key, required=True, persist_state="session")


# ---------------------------------------------------------------- the instruments


@dataclass
class Places:
    """Where the instruments stand, to be filled again while the training goes on."""

    progress: DeltaGenerator
    doctor: DeltaGenerator
    frames: Frames
    units: DeltaGenerator | None = None  # for the small maps
    unit_table: DeltaGenerator | None = None  # while it is open
    detail: tuple[str, Callable[[], Chart]] | None = None  # of the open tab


def _lay_out(view: View) -> Places:
    """All instruments, as they are now."""
    frames, shown = Frames(), _quick(view) | _slow(view)
    notes = NOTES | dict.fromkeys(("plane", "samples", "confusion"), _when(view))
    places = Places(st.empty(), st.empty(), frames)
    _progress(view.run, places.progress)
    for number, row in enumerate(ROWS):
        if number == 1:
            places.doctor = st.empty()
            _doctor(view.seen, places.doctor)
        for column, keys in zip(st.columns(2, gap="medium"), row, strict=True):
            with column:
                for key in keys:
                    if key in shown:
                        frames.add(key, shown[key], notes.get(key, ""))
                if "plane" in keys and view.layer is not None:
                    _lay_out_units(view, places)
    places.detail = _tabs(view, frames)
    return places


def _follow(view: View, places: Places, turn: int) -> None:
    """Train for a round, and keep the instruments up to date.

    One long run of a fragment instead of many short ones: the browser goes through all of the page whenever a run
    begins and ends. Moving a widget ends it at once.
    """
    state, run, behind = st.session_state, view.run, view.cursor is not None
    places.frames.forget()
    begun = time.monotonic()
    for update in range(UPDATES):
        try:
            state["training worker"].watch(turn)
        except RuntimeError as error:
            state["training running"], state["training complaint"] = False, str(error)
            st.rerun()
        if run.done:
            state["training running"] = False
        if run.done or behind != (view.cursor is not None):
            st.rerun()  # what stands outside of this fragment changes, too
        shown = _quick(view)  # all that is to be computed first, then all that is to be sent: one update of the browser
        if update == 0:
            shown |= _slow(view)
            if places.detail:
                key, chart = places.detail
                shown[key] = chart()
            if places.units:
                _units(view, places)
            _doctor(view.seen, places.doctor)
        _progress(run, places.progress)
        for key, chart in shown.items():
            places.frames.fill(key, chart)
        due = begun + (update + 1) * ROUND / UPDATES
        while update < UPDATES - 1 and (now := time.monotonic()) < due:
            state["training running"]  # reading it lets Streamlit end this run when the visitor moves a widget
            time.sleep(min(0.01, due - now))


def _when(view: View) -> str:
    """The words for the epoch of a picture. Not every epoch of a long run is kept."""
    if view.cursor is None:
        return ""
    kept = view.run.kept_epoch(view.cursor)
    return f"epoch {kept}" if kept == view.cursor else f"epoch {kept}, the nearest that is kept to {view.cursor}"


def _progress(run: LiveRun, place: DeltaGenerator) -> None:
    trainer, losses = run.trainer, run.losses()
    where = f"Epoch {trainer.epoch} of {run.config.epochs}"
    if trainer.batch:
        where += f", then batch {trainer.batch} of {trainer.steps_per_epoch}"
    if len(losses):
        where += f". Loss of the last batch: {losses[-1]:.3g}"
    if trainer.stopped_early:
        where += f". Stopped early, {run.config.patience} epochs after the best"
    place.progress(run.progress, text=where)


def _quick(view: View) -> dict[str, Chart]:
    """What is watched: it is drawn several times a second."""
    run, options = view.run, _by_epoch(view)
    others = [(kept.name, kept.records) for kept in _overlaid()]
    shown = {"plane": _plane(view)} if run.trainer.sizes[0] == 2 else {}
    shown["loss"] = charts.loss(
        run.history, run.losses(), run.trainer.steps_per_epoch, log=view.log, others=others, **options
    )
    shown["accuracy"] = charts.accuracy(run.history, others=others, **options)
    return shown


def _slow(view: View) -> dict[str, Chart]:
    """What is read rather than watched."""
    run, layers, options = view.run, view.run.trainer.layer_names, _by_epoch(view)
    shown = _digits(view) if run.config.data == "digits" else {}
    shown["gradients"] = charts.gradient_norms(run.history, layers, **options)
    if run.config.hidden:
        shown["dead"] = _lost_units(run.config, run.history, layers[:-1], options)
    record = run.measure() if view.cursor is None and run.trainer.batch else view.seen[-1]
    shown["weights"] = charts.weight_histograms(record, run.history[0], layers, options["theme"])
    return shown


def _lost_units(config: Config, records: list[Record], hidden: list[str], options: dict[str, Any]) -> Chart:
    """Units that no longer learn: an activation with flat ends loses them there, the others where they give 0."""
    flat = config.activation in ("tanh", "sigmoid")
    return (charts.saturation if flat else charts.dead_units)(records, hidden, **options)


def _shown_network(view: View) -> MLP:
    return view.run.network(None if view.cursor is None else view.run.kept_epoch(view.cursor))


def _plane(view: View) -> Chart:
    data, network = view.run.trainer.dataset, _shown_network(view)
    xs, ys = grid(data.train_x, CELLS)
    inputs, labels = (data.train_x, data.train_y) if view.points == "training" else (data.val_x, data.val_y)
    samples = xs, ys, inputs[:POINTS], labels[:POINTS], data.classes, page.theme()
    if view.unit is None:
        return charts.boundary(over_plane(network, xs, ys), *samples)
    layer, number = view.unit
    outputs = unit_maps(network, layer, xs, ys)[..., number]
    return charts.unit(outputs, f"unit {number + 1} of layer {layer + 1}", *samples)


def _by_epoch(view: View) -> dict[str, Any]:
    longest = max([view.run.trainer.epoch, *(len(kept.records) for kept in _overlaid())])
    return {"until": charts.horizon(longest, view.run.config.epochs), "cursor": view.cursor, "theme": page.theme()}


def _digits(view: View) -> dict[str, Chart]:
    data, theme = view.run.trainer.dataset, page.theme()
    answers = probabilities(_shown_network(view), data.val_x)
    predicted = answers.argmax(axis=1)
    rows = np.flatnonzero(predicted != data.val_y) if view.images == "mistakes" else np.arange(len(predicted))
    rows = rows[:IMAGES]
    side = math.isqrt(data.val_x.shape[1])
    pixels = (data.val_x[rows] * data.scale + data.mean) / (data.train_x.max() * data.scale + data.mean)
    images = np.clip(pixels, 0, 1).reshape(-1, side, side)
    counts = confusion(data.val_y, predicted, len(data.classes))
    return {
        "samples": charts.samples(images, data.val_y[rows], answers[rows], data.classes, theme),
        "confusion": charts.confusion_matrix(counts, data.classes, theme),
    }


def _doctor(seen: list[Record], place: DeltaGenerator) -> None:
    """What the training doctor says of the records up to the cursor."""
    records = [record for record in seen if record["epoch"] > 0]
    if not records:
        place.caption("The doctor speaks after the first epoch.")
        return
    box = place.container()
    first, *more = diagnose(records)
    text = f"**{first.name}.** {' '.join(first.evidence)} {first.remedy}"
    if first.instrument == "updates":
        text += " See “Updates” below."
    else:
        text += f" [See the chart.](#training-{INSTRUMENTS[first.instrument]})"
    if first.key == "healthy":
        box.success(text, icon=":material/check_circle:")
    elif first.key == "early":
        box.info(text, icon=":material/hourglass_top:")
    else:
        box.warning(text, icon=":material/stethoscope:")
    if more:
        also = box.expander(f"The doctor also sees: {', '.join(finding.name for finding in more)}", type="compact")
        for finding in more:
            also.markdown(f"**{finding.name}.** {' '.join(finding.evidence)} {finding.remedy}")


def _lay_out_units(view: View, places: Places) -> None:
    """The units of a layer, small; pointing at one fills the plane with it."""
    hidden = view.run.config.hidden
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Units**, blue above 0. Point at one, or tab to it: the plane shows it.", width="content")
        if len(hidden) > 1:
            st.segmented_control(
                "Layer of the units", range(len(hidden)), key="training unit layer", required=True,
                format_func=lambda layer: f"layer {layer + 1}", label_visibility="collapsed",
            )  # fmt: skip
    places.units = st.container()
    if hidden[view.layer] > MAPS:
        st.caption(f"The first {MAPS} of {hidden[view.layer]} units.")
    table = st.expander("As a table", key="table-units", on_change="rerun", type="compact")
    places.unit_table = table.empty() if table.open else None
    if not st.session_state["training running"]:
        with places.units:
            _units(view, places)


def _units(view: View, places: Places) -> None:
    """Draw the small maps where the page is just now: a fragment may do so only in a place of its own."""
    xs, ys = grid(view.run.trainer.dataset.train_x, SMALL)
    maps = unit_maps(_shown_network(view), view.layer, xs, ys)[..., :MAPS]
    small_maps(maps, f"layer {view.layer + 1}", page.theme())
    if places.unit_table:
        places.unit_table.markdown(markdown_table(*charts.unit_table(maps)))


def _tabs(view: View, frames: Frames) -> tuple[str, Callable[[], Chart]] | None:
    """Only the open tab is drawn. Returns its chart's key, and what makes the chart again."""
    names = {"Over the epochs": _ridges, "Updates": _updates, "Command line": _terminal}
    for draw, tab in zip(names.values(), st.tabs(list(names), key="training tabs", on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                detail = draw(view)
                if detail:
                    frames.add(detail[0], detail[1]())
                return detail
    return None


def _ridges(view: View) -> tuple[str, Callable[[], Chart]]:
    with st.container(horizontal=True):
        layer = _layer("Layer", view.run.trainer.layer_names, "training ridge layer")
        of = _choice("Histograms of the", ["weights", "gradients"], "training ridge of").removesuffix("s")

    def chart() -> Chart:
        return charts.ridges([r for r in view.seen if f"{of}_histogram" in r], layer, of, page.theme())

    return "ridges", chart


def _updates(view: View) -> tuple[str, Callable[[], Chart]]:
    st.markdown("How far the last step of each epoch moved a layer’s weights, over their norm. 0.001 is usual.")
    return "updates", lambda: charts.update_ratios(view.run.history, view.run.trainer.layer_names, **_by_epoch(view))


def _terminal(view: View) -> None:
    st.markdown("The same run, with the same numbers, in a terminal:")
    st.code(_command(view.run.config), language="bash", wrap_lines=True)


def _layer(label: str, layers: list[str], key: str) -> str:
    return st.segmented_control(label, layers, default=layers[0], key=key, required=True, format_func=charts.layer_name)


# ---------------------------------------------------------------- one input of one's own


def _read_along(view: View) -> None:
    """One sample in the player; for digits, also a pad to draw one on."""
    player_box = st.expander("One sample, step by step, in the player", key="training probe open", on_change="rerun")
    if player_box.open:
        with player_box:
            _play_sample(view)
    if view.run.config.data == "digits":
        pad = st.expander("Draw a digit and let the network read it", key="training pad open", on_change="rerun")
        if pad.open:
            with pad:
                st.fragment(_read_drawing)()


def _play_sample(view: View) -> None:
    run = view.run
    if st.session_state["training running"]:
        st.markdown("Pause the training to follow one sample: the weights must stand still for it.")
        return
    network = _shown_network(view)
    if sum(parameter.size for parameter in network.parameters()) > MOST_WEIGHTS:
        st.markdown(f"The player shows networks of up to {MOST_WEIGHTS} weights: choose narrower hidden layers.")
        return
    data = run.trainer.dataset
    number = st.number_input("Training sample", 1, len(data.train_x), key="training sample", width=FIELD) - 1
    label = int(data.train_y[number])
    st.markdown(
        f"Sample {number + 1} is of class {escape_markdown(data.classes[label])}. Its loss, and the gradient of that "
        "loss for every weight, with the weights of the epoch shown above."
    )
    build, leaves = loss_of_sample(network, data.train_x[number], label)
    try:
        trace = record(build, leaves)
    except RuntimeError as error:
        st.warning(str(error))
        return
    if player(trace, key="training player").failed:
        st.code(trace.to_text(), language=None)


def _read_drawing() -> None:
    run, theme = _run(), page.theme()
    data = run.trainer.dataset
    left, right = st.columns(2, gap="medium")
    with left:
        bitmap = digit_pad("training pad")
        st.caption("Draw large, with the pointer, or with arrow keys and space. The network in training reads along.")
    if bitmap is None:
        return
    image = normalise(bitmap)
    x = (image.ravel() - data.mean) / data.scale
    network = run.network()
    answer = probabilities(network, x[np.newaxis])[0]
    best = int(answer.argmax())
    slopes = saliency(network, x, best).reshape(image.shape)
    frames = Frames()
    with right:
        st.markdown(f"The network takes it for **{data.classes[best]}**.")
        for key, chart in (
            ("likelihoods", charts.likelihoods(answer, data.classes, theme)),
            ("drawing", charts.drawing(image / LEVELS, slopes, data.classes[best], theme)),
        ):
            frames.add(key, chart)


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
        if "training shelf complaint" in state:
            st.error(escape_markdown(state.pop("training shelf complaint")))
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

    def show() -> None:
        with _complaining():
            state["training opened"] = open_whole(RUNS, kept.name)
            state["training recorded epoch"] = len(kept.records)
            state["training worker"].pause()
            state["training running"] = False

    def change_name() -> None:
        name = state[f"name {identity}"].strip()
        if not kept.shared:
            others = [other for other in state["training shelf"] if other is not kept]
            kept.name = unused(name or kept.name, others)
        elif name:
            with _complaining():
                rename(RUNS, kept.name, name)
                forget("training compared")

    def remove() -> None:
        with _complaining():
            if kept.shared:
                delete(RUNS, kept.name)
            forget("training shelf")
            forget("training compared")

    def forget(place: str) -> None:
        state[place] = [other for other in state[place] if other.name != kept.name]

    identity = kept.name if kept.shared else id(kept)
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
            if kept.shared and kept.records:
                st.button("Open", key=f"open {kept.name}", on_click=show, help="As it was recorded, epoch by epoch.")
            if not kept.shared or not hosted():
                with st.popover("Rename"):
                    name = kept.name.rpartition("/")[2] if kept.shared else kept.name
                    st.text_input("New name", name, 60, key=f"name {identity}", on_change=change_name)
                with st.popover("Delete"):
                    st.markdown("This cannot be undone.")
                    st.button("Delete it", key=f"delete {kept.name}", on_click=remove)


@contextlib.contextmanager
def _complaining() -> Iterator[None]:
    """What cannot be done to a run on disk becomes a sentence above the shelf."""
    try:
        yield
    except (RunError, ConfigError) as error:
        st.session_state["training shelf complaint"] = str(error)


def _recorded(kept: Kept) -> None:
    """A run of the command line as it was recorded, instead of the one in training: nothing is trained for it."""
    state, last, theme = st.session_state, len(kept.records), page.theme()

    def close() -> None:
        state["training opened"] = None
        page.to_address(run=None, epoch=None)

    def train_again() -> None:
        close()
        _set_widgets(kept.config)

    st.subheader(f"{escape_markdown(kept.name)} :small[:gray[recorded by the command line]]")
    best = max(record["val_accuracy"] for record in kept.records)
    st.markdown(
        f"{last} epochs, best validation accuracy {best:.1%}. Against the usual settings of the command line: "
        f"{escape_markdown(differences(kept.config, Config()))}."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Back to training", icon=":material/arrow_back:", on_click=close, key="training recorded close")
        if _trainable(kept.config):
            st.button("Train it again here", icon=":material/replay:", on_click=train_again, key="training again")
        epoch = last
        if last > 1:
            epoch = st.slider("Show the epoch", 1, last, key="training recorded epoch", persist_state="session")
    page.to_address(run=kept.name, epoch=str(epoch) if epoch < last else None)
    layers = [f"layer{number}" for number in range(1, len(kept.config.hidden) + 2)]
    options = {"until": charts.horizon(last, kept.config.epochs), "theme": theme}
    options["cursor"] = epoch if epoch < last else None
    seen, now = kept.records[:epoch], kept.records[epoch - 1]
    frames = Frames()
    with st.container(key="training-instruments"):
        left, right = st.columns(2, gap="medium")
        with left:
            frames.add("loss", charts.loss(kept.records, np.empty(0), 1, **options))
        with right:
            frames.add("accuracy", charts.accuracy(kept.records, **options))
        _doctor(seen, st.empty())
        left, right = st.columns(2, gap="medium")
        with left:
            frames.add("gradients", charts.gradient_norms(kept.records, layers, **options))
            frames.add("updates", charts.update_ratios(kept.records, layers, **options))
            if kept.config.hidden:
                frames.add("dead", _lost_units(kept.config, kept.records, layers[:-1], options))
        with right:
            frames.add("weights", charts.weight_histograms(now, kept.records[0], layers, theme), "dashed: epoch 1")
            with st.container(horizontal=True):
                layer = _layer("Layer", layers, "training ridge layer")
                of = _choice("Histograms of the", ["weights", "gradients"], "training ridge of").removesuffix("s")
            frames.add("ridges", charts.ridges(seen, layer, of, theme))


def _trainable(config: Config) -> bool:
    """Can this page train it? A run of the command line may have other data, or a larger network."""
    small = len(config.hidden) <= LAYERS and max(config.hidden, default=1) <= WIDTH and config.epochs <= EPOCHS
    return config.data in DATA and small


main()
