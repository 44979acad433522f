"""The instruments of the Training lab: the script lays them out, and a fragment updates them during training."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab import charts
from lab.charts import Chart, CurveOptions, Plane
from lab.text import layer_name, short
from lab.training import points
from lab.training.config import Config
from lab.training.features import FEATURES, NAMES, of_inputs
from lab.training.live import LiveRun
from lab.training.measure import FLAT_ENDS
from lab.training.predictions import (
    PlaneGrid,
    answers,
    confusion,
    fixed_grid,
    grid,
    layer_maps,
    over_plane,
    probabilities,
)
from lab.training.records import Record, is_regression
from lab.training.shelf import ShelvedRun
from lab.training.worker import MAX_PROCESSES
from lab.ui import binding, page
from lab.ui.assets import keep_value
from lab.ui.binding import HeldValue
from lab.ui.chart_host import ChartHost, teller
from lab.ui.memoize import memoize
from lab.ui.widgets import pick, switch
from nn import MLP
from pages.parts.training import doctor, kept
from pages.parts.training.settings import FIELD, HELD, command, csv_name

ROUND, UPDATES = 3.0, 16  # seconds of one run of the fragment, and updates in that time
SLOW = 4  # updates in which one slow chart is redrawn
SPEEDS = (10, 30, 100, 300, 1000, math.inf)  # batches per second
TICK = 0.5  # seconds between two runs of the fragment
POINTS = 500  # samples drawn on the plane
CURVE = 120  # points of the curve of a regression
CELLS, SMALL = 40, 11  # cells of the plane along each side: in the main picture, in the small ones
IMAGES = 20  # samples drawn as images
PANEL = {  # tab -> chart; one of them is shown next to the plane
    "Norms and updates": "gradients",
    "Accuracy": "accuracy",
    "R²": "explained",
    "Lost units": "dead",
    "Confusion": "confusion",
}
TALL, HALF = "var(--training-tall)", "var(--training-half)"  # heights of the charts, from assets/training.css
HEIGHTS = {"loss": HALF, **dict.fromkeys(PANEL.values(), HALF)}
NOTES = {"loss": "band: loss of each batch", "accuracy": "rule of thumb: a gap of 10 points is a sign of overfitting"}
HEALTHY = (
    "Xavier’s standard deviation for this layer is √(2 / ({n_in} + {n_out})) = {xavier:.2g}. In a healthy run the hill "
    "grows a little wider. Look closer if it stays as it was, shrinks to a spike at 0, or runs off at both ends."
)
BY_HEADING = [{"query": {"minWidth": 361}, "option": {"legend": {"left": 176}}}]  # as in assets/training.css
ANSWER = "the answer of the network"
POINTS_OF = ("validation", "training")
RIDGES_OF = ("weights", "gradients")
TABS = ("Histograms over the epochs", "Command line")
LOG_RATIO = 10.0  # ratio of the highest to the lowest loss above which their axis is logarithmic


VIEW = (  # the visitor's choices for the instruments, which apply to any run
    HeldValue("training-speed", 300, lambda text: SPEEDS[SPEEDS.index(float(text))], binding.number),
    HeldValue("training-unit", ANSWER),
    binding.flag("training-tables"),
    binding.choice("training-lines", *charts.NETWORK_LINES),
    binding.choice("training-part", *POINTS_OF),
    HeldValue("training-panel", "Norms and updates"),
    binding.choice("training-tab", *TABS),
    HeldValue("training-ridges", "layer1"),
    binding.choice("training-ridges_of", *RIDGES_OF),
)


@dataclass(frozen=True)
class View:
    """The visitor's choices of what to see of a run."""

    run: LiveRun
    chosen: int  # epoch on the slider
    unit: tuple[int, int] | None  # layer and unit drawn on the plane, from 0; layer -1 has the features; None: answer
    lines: str  # of NETWORK_LINES, in the picture of the network
    points: str  # of POINTS_OF

    @property
    def log(self) -> bool:
        """Whether the axis of the loss is logarithmic, because an epoch or a batch is far above the lowest epoch."""
        losses = [record["train_loss"] or 0.0 for record in self.run.history]
        highest = np.fmax.reduce(self.run.losses(), initial=max(losses))
        return bool(highest > LOG_RATIO * min(losses) > 0)

    @property
    def cursor(self) -> int | None:
        """The epoch to look back at; None follows the training."""
        return self.chosen if self.chosen < self.run.trainer.epoch else None

    @property
    def held_out(self) -> bool:
        """Whether the run has validation samples."""
        return self.run.config.val_fraction > 0

    @property
    def part(self) -> str:
        """The part of the data that charts without a choice show: validation samples, or else training samples."""
        return "validation" if self.held_out else "training"

    @property
    def seen(self) -> list[Record]:
        """The history up to the cursor."""
        return self.run.history if self.cursor is None else self.run.history[: self.cursor + 1]

    def network(self) -> MLP:
        """Return a copy of the network at the cursor, or at the nearest earlier epoch that is kept."""
        return self.run.network(None if self.cursor is None else self.run.kept_epoch(self.cursor))


def choose_view(change_network: Callable[[dict[str, Any]], None], open_unit: Callable[[int, int], None]) -> View:
    """Draw the widgets for a View and return it; they are outside the fragment that is redrawn during training.

    change_network: callback for settings as texts; open_unit: callback for a click on a unit.
    """
    session = st.session_state
    run: LiveRun = session["training worker"].run
    epochs = run.config.epochs

    def move() -> None:
        epoch = session["training epoch teller"].get("epoch")
        if type(epoch) is int:
            session["training cursor"] = min(max(epoch, 0), epochs)

    teller("epoch", "training epoch teller", on_epoch_change=move)  # a click on a curve
    chosen = min(session["training cursor"], epochs)
    speeds = {rate: f"{rate:,} batches/s" if math.isfinite(rate) else "full speed" for rate in SPEEDS}
    pick("Batches per second", speeds, "training-speed", bare=True, width=FIELD, **HELD)
    hidden = run.config.hidden if on_a_plane(run) else ()
    pointed = _pointed_unit(run.config, change_network, open_unit)
    units = {
        f"layer {above + 1}, unit {number + 1}": (above, number)
        for above, width in enumerate(hidden)
        for number in range(width)
    }
    if session["training-unit"] not in units:
        session["training-unit"] = ANSWER
    box = st.popover("View", icon=":material/visibility:", key="training view", on_change="rerun")
    if box.open:
        with box:
            if on_a_plane(run):
                st.selectbox("On the plane", [ANSWER, *units], key="training-unit", **HELD)
            if (on_a_plane(run) or is_regression(run.history[0])) and run.config.val_fraction:
                _switch("Samples", POINTS_OF, "training-part")
            _switch("Lines of the network", charts.NETWORK_LINES, "training-lines")
            st.toggle("Numbers of all pictures as tables", key="training-tables", **HELD)
    unit = (units.get(session["training-unit"]) if pointed is None else pointed) if on_a_plane(run) else None
    choices = (session[f"training-{name}"] for name in ("lines", "part"))
    return View(run, chosen, unit, *choices)


def _pointed_unit(
    config: Config, changed: Callable[[dict[str, Any]], None], opened: Callable[[int, int], None]
) -> tuple[int, int] | None:
    """Return the unit that the visitor points at, as layer and number from 0; layer -1 has the features.

    Returns None for no unit, or one that a network with this Config does not have. changed: callback for changes to
    the network, as texts; opened: for a click on a unit, with its layer and number.
    """
    key = "training-network-teller"

    def change() -> None:
        sent = st.session_state[key].get("change")
        if isinstance(sent, dict) and all(isinstance(text, str) for text in sent.values()):
            changed({name: text for name, text in sent.items() if name in ("hidden", "features")})

    def follow() -> None:
        match st.session_state[key].get("open"):
            case [int(column), int(unit)] if 1 <= column <= len(config.hidden) + 1 and unit >= 0:
                opened(column - 1, unit)

    told = teller("network", key, on_unit_change=keep_value, on_change_change=change, on_open_change=follow)
    place = told.get("unit")
    widths = (len(FEATURES), *config.hidden)
    places = {f"{at}.{k + 1}": (at - 1, k) for at, width in enumerate(widths) for k in range(width)}
    return places.get(place) if isinstance(place, str) else None


def on_a_plane(run: LiveRun) -> bool:
    """Return whether the run classifies samples with two inputs, so that its answers can be drawn on a plane."""
    return run.trainer.dataset.train_x.shape[1] == 2 and not is_regression(run.history[0])


@dataclass
class Places:
    """The places of the instruments on the page, which are updated during training."""

    host: ChartHost
    doctor: DeltaGenerator  # here `draw` and `follow` are called: all that they write themselves is the verdict
    slow: dict[str, Callable[[], Chart]]  # charts that are redrawn in turn, not at each update
    next_slow: int = 0
    complete: bool = False  # True once everything has been drawn


def lay_out(view: View, progress: DeltaGenerator) -> Places:
    """Reserve places for all instruments, which `draw` or `follow` fills. progress: place of the progress bar."""
    session, slow = st.session_state, _slow(view)
    first = _first(view)
    compared = (
        dict.fromkeys(("loss", "accuracy", "explained"), "with the validation of earlier runs") if _overlaid() else {}
    )
    host = ChartHost(
        "training",
        NOTES | compared | dict.fromkeys(("samples", "confusion"), _when(view)) | {"plane": _about_the_plane(view)},
        HEIGHTS | {first: "auto" if first == "samples" else TALL},
    )
    with progress:
        host.place("progress")
    net, left, right = st.columns([4, 4, 5], gap="small")
    with net:
        host.place("network")
    with left:
        host.place(first)
    with right:
        host.place("loss")
        titles = [title for title, key in PANEL.items() if key in slow and key != first]
        if session["training-panel"] not in titles:
            session["training-panel"] = titles[0]
        for title, tab in zip(titles, st.tabs(titles, key="training-panel", on_change="rerun"), strict=True):
            if tab.open:
                with tab:
                    host.place(PANEL[title])
            else:
                del slow[PANEL[title]]
    with st.container(key="training-doctor", horizontal=True, vertical_alignment="top", gap="small"):
        verdict = st.container()
        if not session["training running"]:  # the fragment that runs during training must not draw buttons
            doctor.prescribe(view.seen, view.run)
    detail = _tabs(view)
    if detail:
        key, slow[key] = detail
        host.place(key)
    return Places(host, verdict, slow)


def _first(view: View) -> str:
    """Return the key of the main chart: the plane or fitted curve, the answers to images, or the confusion matrix."""
    trainer = view.run.trainer
    plane = on_a_plane(view.run) or is_regression(view.run.history[0])
    return "plane" if plane else "samples" if trainer.dataset.image_shape else "confusion"


def draw(view: View, places: Places) -> None:
    """Fill all instruments."""
    session, shown = st.session_state, _quick(view) | places.slow
    chosen = [session[key] for key in ("training-tables", "training-ridges", "training-ridges_of", "training compared")]
    contents = memoize(
        "training instruments",
        (view, view.run.batches, list(shown), chosen, _waiting(), page.theme()),
        lambda: ({key: make() for key, make in shown.items()}, _besides_charts(view)),
    )
    _write(view, places, *contents)
    places.complete = True


def _write(view: View, places: Places, charts: dict[str, Chart], others: dict[str, Any]) -> None:
    """Write everything for the first time in a run of the script or the fragment."""
    places.host.fill(charts, others)
    doctor.say(view.seen, view.run.config, doctor.tried(view.run))


def train(run: LiveRun, turn: int) -> None:
    """Update the run from its worker; when it is done or has failed, rerun the script."""
    session, worker = st.session_state, st.session_state["training worker"]
    try:
        worker.watch(turn)
    except RuntimeError as error:
        session["training running"], session["training complaint"] = False, str(error)
        st.rerun()
    if run.done or (worker.until and run.position >= worker.until):
        worker.pause()
        session["training running"] = False
        st.rerun()


def follow(view: View, places: Places, turn: int) -> None:
    """Update the instruments during training, for one round.

    The browser goes through the whole page whenever a run begins or ends and for each update. So this is one long run
    of a fragment instead of many short ones, with one slow chart at a time. Moving a widget ends the run.
    """
    if not places.complete:  # in the full run of the script, which must be short: the rounds begin after it
        train(view.run, turn)  # the training has advanced since the beginning of this run
        draw(view, places)
        return
    begun, behind = time.monotonic(), view.cursor is not None
    for update in range(UPDATES):
        train(view.run, turn)
        if behind != (view.cursor is not None):
            st.rerun()  # elements outside the fragment change, too
        shown = _quick(view)
        if update % SLOW == 1:
            key = list(places.slow)[places.next_slow % len(places.slow)]
            places.next_slow += 1
            shown[key] = places.slow[key]
        contents = {key: make() for key, make in shown.items()}
        others = _besides_charts(view)  # in each update, as the browser may skip a text
        if update == 0:
            _write(view, places, contents, others)
        else:
            places.host.update(contents, others)
        due = begun + (update + 1) * ROUND / UPDATES
        while update < UPDATES - 1 and (now := time.monotonic()) < due:
            # Reading it lets Streamlit end this run when the visitor moves a widget.
            st.session_state["training running"]
            time.sleep(min(0.01, due - now))


def _when(view: View) -> str:
    """Name the epoch of a chart, or the nearest one that is kept; "" if it follows the training."""
    if view.cursor is None:
        return ""
    kept = view.run.kept_epoch(view.cursor)
    return f"epoch {kept}" if kept == view.cursor else f"epoch {kept}, the nearest that is kept to {view.cursor}"


def _about_the_plane(view: View) -> str:
    """Say which samples the plane shows, along which columns of the visitor's table, and when."""
    columns = view.run.trainer.dataset.columns if "table" in view.run.own and on_a_plane(view.run) else ()
    axes = [f"{axis}:\u00a0{name[:16]}" for axis, name in zip("xy", columns, strict=False)]  # more would wrap
    part = "all" if "points" in view.run.own else view.points if view.held_out else "training"
    return ", ".join(filter(None, [f"{part} samples", *axes, _when(view)]))


def _progress(view: View) -> dict[str, Any]:
    """Return the data of the progress bar, for "progress" of the chart host."""
    run, trainer, losses = view.run, view.run.trainer, view.run.losses()
    where = f"Epoch {trainer.epoch} of {run.config.epochs}"
    if trainer.batch:
        where += f", then batch {trainer.batch} of {trainer.steps_per_epoch}"
    if len(losses):
        where += f", loss of the last batch {short(losses[-1])}"
    if trainer.stopped_early:
        where += f". Stopped early, {run.config.patience} epochs after the best"
    where += _waiting()
    shown = {"reached": run.reached, "epochs": run.config.epochs, "cursor": view.cursor, "text": where}
    wanted = st.session_state["training worker"].until or run.position  # a run that is trained again will come there
    return {"progress": shown | {"trained": kept.position_text(max(run.position, wanted))}}


def _waiting() -> str:
    """Say that the run waits for others; "" if it does not."""
    ahead = st.session_state["training worker"].queue_position
    if not ahead:
        return ""
    return f". Waiting: this server trains {MAX_PROCESSES} runs at once, and {ahead} must end before this goes on"


def _quick(view: View) -> dict[str, Callable[[], Chart]]:
    """Return functions that draw the charts of each update, several times a second."""
    run = view.run

    def loss() -> Chart:
        chart = charts.loss(run.history, run.losses(), run.loss_epochs(), _both_parts(view), log=view.log)
        return replace(chart, spec=chart.spec | {"media": BY_HEADING})

    picture = _plane if on_a_plane(run) else _fit if is_regression(run.history[0]) else None
    return ({"plane": lambda: picture(view)} if picture else {}) | {"loss": loss}


def _slow(view: View) -> dict[str, Callable[[], Chart]]:
    """Return functions that draw the charts that are redrawn in turn."""
    run, layers = view.run, view.run.trainer.layer_names

    if is_regression(run.history[0]):
        slow = {"explained": lambda: charts.r_squared(run.history, _both_parts(view))}
    else:
        slow = {"accuracy": lambda: charts.accuracy(run.history, _both_parts(view))}
        slow["confusion"] = lambda: _confusion(view)
    if run.trainer.dataset.image_shape:
        slow["samples"] = lambda: _samples(view)
    slow["gradients"] = lambda: charts.norms_and_updates(run.history, layers, _by_epoch(view))
    if run.config.hidden:
        lost = charts.saturation if run.config.activation in FLAT_ENDS else charts.dead_units
        slow["dead"] = lambda: lost(run.history, layers[:-1], _by_epoch(view))
    return slow


def _plane(view: View) -> Chart:
    data, network = view.run.trainer.dataset, view.network()
    # The network's inputs are standardised, but a visitor's own points are drawn where they were placed.
    xs, ys = seen_xs, seen_ys = grid(np.concatenate([data.train_x, data.val_x]), CELLS)
    inputs, labels = (data.train_x, data.train_y) if view.points == "training" else (data.val_x, data.val_y)
    placing = "points" in view.run.own
    if placing:
        seen_xs, seen_ys = fixed_grid(points.REACH, CELLS)
        (xs, ys) = ((seen - data.mean[i]) / data.scale[i] for i, seen in enumerate((seen_xs, seen_ys)))
        parts = [(data.train_x, data.train_y), *([(data.val_x, data.val_y)] if view.held_out else [])]
        inputs = np.concatenate([x for x, _ in parts]) * data.scale + data.mean
        labels = np.concatenate([y for _, y in parts])
    plane = Plane(seen_xs, seen_ys, inputs[:POINTS], labels[:POINTS], data.classes, page.theme())
    if view.unit is None:
        chart = charts.boundary(over_plane(network, xs, ys), plane)
    else:
        layer, number = view.unit
        if layer < 0:
            name = list(FEATURES)[number]
            outputs = of_inputs(PlaneGrid(xs, ys).points, (name,)).reshape(len(ys), len(xs))
            title = f"feature {NAMES[name]}"
        else:
            outputs = layer_maps(network, PlaneGrid(xs, ys))[layer][..., number]
            title = f"unit {number + 1} of layer {layer + 1}"
        chart = charts.unit(outputs, title, plane)
    return replace(chart, spec=chart.spec | {"placing": True}) if placing else chart


def _fit(view: View) -> Chart:
    """Draw a regression's curve if it has one input, or else its answers against the targets."""
    data, network = view.run.trainer.dataset, view.network()
    inputs, wanted = (data.train_x, data.train_y) if view.points == "training" else (data.val_x, data.val_y)
    inputs, wanted = inputs[:POINTS], data.in_units(wanted[:POINTS])
    if inputs.shape[1] > 1:
        return charts.answers_against_targets(data.in_units(answers(network, inputs)), wanted, page.theme())
    xs = np.linspace(data.train_x.min(), data.train_x.max(), CURVE)[:, np.newaxis]
    seen, seen_xs = (part[:, 0] * data.scale[0] + data.mean[0] for part in (inputs, xs))
    return charts.curve(seen_xs, data.in_units(answers(network, xs)), seen, wanted, page.theme())


def empty_plane() -> None:
    """Draw the visitor's own points while they are too few to train on."""
    host = ChartHost("training", heights=HEIGHTS)
    host.place("plane")
    host.fill(
        {"plane": charts.placed_points(st.session_state["training-points"], points.CLASSES, points.REACH, page.theme())}
    )


def unchecked(config: Config) -> None:
    """Say what cannot be judged if a run has no validation samples."""
    if not config.val_fraction:
        st.caption(
            "**No samples are held out for validation.** There is no gap to see, the doctor cannot detect overfitting, "
            "and the best epoch is judged on the training samples."
        )


def _by_epoch(view: View) -> CurveOptions:
    longest = max([view.run.trainer.epoch, *(len(kept.records) for kept in _overlaid())])
    return CurveOptions(charts.horizon(longest, view.run.config.epochs), view.cursor, page.theme())


def _both_parts(view: View) -> CurveOptions:
    """Return the options of `_by_epoch` and those of a chart of training and validation, with the runs to compare."""
    named = [(one.name if one.config.val_fraction else f"{one.name} (training)", one.records) for one in _overlaid()]
    return replace(_by_epoch(view), held_out=view.held_out, others=named)


def _samples(view: View) -> Chart:
    data = view.run.trainer.dataset
    answers = probabilities(view.network(), data.val_x)
    right = answers.argmax(axis=1) == data.val_y
    rows = np.argsort(right, kind="stable")[:IMAGES]  # the mistakes first
    pixels = (data.val_x[rows] * data.scale + data.mean) / (data.train_x.max() * data.scale + data.mean)
    images = np.clip(pixels, 0, 1).reshape(-1, *(data.image_shape or ()))
    return charts.samples(images, data.val_y[rows], answers[rows], data.classes, page.theme(), view.part)


def _confusion(view: View) -> Chart:
    data = view.run.trainer.dataset
    predicted = probabilities(view.network(), data.val_x).argmax(axis=1)
    counts = confusion(data.val_y, predicted, len(data.classes))
    return charts.confusion_matrix(counts, data.classes, page.theme(), view.part)


def _besides_charts(view: View) -> dict[str, Any]:
    """Return what else the chart host shows: the progress, the network, and whether tables are open."""
    run, plane = view.run, None
    if on_a_plane(run):
        plane = grid(run.trainer.dataset.train_x, SMALL)
    note = "gradients of the next batch" if view.lines == "gradients" else ""
    shown = charts.network(run, view.network(), plane, lines=view.lines, height=TALL, theme=page.theme(), note=note)
    return _progress(view) | {"network": shown, "tables": st.session_state["training-tables"]}


def _tabs(view: View) -> tuple[str, Callable[[], Chart]] | None:
    """Draw the open tab, and return the key of its chart and the function that draws it; None without a chart."""
    drawings = (_ridges, _terminal)
    for draw, tab in zip(drawings, st.tabs(TABS, key="training-tab", on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                return draw(view)
    return None


def _ridges(view: View) -> tuple[str, Callable[[], Chart]]:
    with st.container(horizontal=True):
        layers = {name: layer_name(name) for name in view.run.trainer.layer_names}
        if st.session_state["training-ridges"] not in layers:
            st.session_state["training-ridges"] = next(iter(layers))
        layer = _switch("Layer", layers, "training-ridges")
        of = _switch("Histograms of the", RIDGES_OF, "training-ridges_of").removesuffix("s")
    if of == "weight":
        n_in, n_out = view.run.trainer.sizes[int(layer.removeprefix("layer")) - 1 :][:2]
        st.caption(HEALTHY.format(n_in=n_in, n_out=n_out, xavier=math.sqrt(2 / (n_in + n_out))))

    def chart() -> Chart:
        counted = [record for record in view.seen if f"{of}_histogram" in record]  # none of gradients before epoch 1
        return charts.ridges(counted, layer, of, page.theme())

    return "ridges", chart


def _terminal(view: View) -> None:
    own = view.run.own
    st.markdown("The same run, with the same numbers, in a terminal:")
    st.code(command(view.run.config, own), language="bash", wrap_lines=True)
    if own:
        st.markdown("It needs the data as a file, in the folder where you run the command:")
        content = own["table"] if "table" in own else points.to_csv(points.from_text(own["points"]))
        st.download_button("Download the data", content, csv_name(own), "text/csv", key="training data download")


def _switch(label: str, options: Mapping[str, str] | Sequence[str], key: str) -> str:
    """Draw a row of buttons whose value is held while it is not on the page."""
    return switch(label, options, key, default=None, **HELD)


def _overlaid() -> list[ShelvedRun]:
    present = st.session_state["training worker"].run.config
    return [kept for kept in st.session_state["training compared"] if kept.config != present]
