"""Training lab: change one setting and watch loss, accuracy, gradients and weights answer."""

import re
import shlex
from collections.abc import Callable
from typing import Any

import streamlit as st

from lab.boundary import grid, over_plane
from lab.datasets import SYNTHETIC
from lab.live import LiveRun
from lab.ui import charts, page
from lab.ui.charts import Chart
from lab.ui.table import markdown_table
from model import ACTIVATIONS, INITS
from train import DEFAULT_LR, Config, ConfigError

FIRST = Config(data="moons", hidden=(16, 16), lr=0.01, epochs=60)  # what a visitor without a link sees
DATA = (*SYNTHETIC, "digits")  # no MNIST: a page loads nothing from the network
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
BATCHES = (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
LAYERS, WIDTH, EPOCHS = 6, 256, 300  # at most, so that one visitor cannot take the server from the others
TICK = 0.1  # seconds between two drawings while training
WORK = 0.03  # seconds of training in each of them: the rest is for drawing, and for other visitors
CELLS = 40  # of the plane, along each side
FIELD = 148  # pixels: five settings side by side on a desk, two on a phone


def main() -> None:
    page.opening(
        "Training lab",
        "Choose data and a network, then press **Start**. Watch how far training and validation drift apart, and "
        "which layer’s gradients fade first. A change of a setting begins a new run at once.",
    )
    _start()
    config = _settings()
    if config and config != st.session_state["training run"].config:
        st.session_state["training run"] = LiveRun(config)
    _transport()
    running = st.session_state["training running"]
    st.fragment(_instruments, run_every=TICK if running else None)()
    page.closing(
        "Set the learning rate to 3 and press Start: the loss jumps instead of falling. Then choose the zeros init and "
        "see why every layer needs weights that differ.",
        "pages/graph_lab.py",
        "Back to one graph: where a gradient comes from",
    )


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
}


def _start() -> None:
    """What the address asks for, on the first run of a session."""
    if "training run" in st.session_state:
        return
    for name, parse in PARSERS.items():

        def checked(text: str, name: str = name, parse: Callable = parse) -> Any:
            return getattr(Config(**{"optimizer": "sgd", name: parse(text)}), name)  # a ConfigError is a ValueError

        st.session_state[_key(name)] = page.from_address(name, getattr(FIRST, name), checked)
    st.session_state[_key("hidden")] = _widths(st.session_state[_key("hidden")])
    st.session_state["training run"] = LiveRun(_config())
    st.session_state["training running"] = False


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


def _settings() -> Config | None:
    """The widgets; None, with a sentence below them, when what they say cannot be trained."""
    keep = {"persist_state": "session", "width": FIELD}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Data", DATA, key=_key("data"), **keep)
        st.text_input("Hidden layers", key=_key("hidden"), help="Their widths, such as 16 8. Empty: none.", **keep)
        st.selectbox("Activation", ACTIVATIONS, key=_key("activation"), **keep)
        st.selectbox("Initial weights", INITS, key=_key("init"), **keep)
        st.selectbox("Optimizer", tuple(DEFAULT_LR), key=_key("optimizer"), **keep)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _scale("Learning rate", "lr", RATES)
        if st.session_state[_key("optimizer")] == "sgd":
            st.slider("Momentum", 0.0, 0.99, step=0.01, key=_key("momentum"), **keep)
        _scale("Batch size", "batch_size", BATCHES)
        st.number_input("Epochs", 1, EPOCHS, key=_key("epochs"), **keep)
        st.number_input("Seed", 0, 2**32, key=_key("seed"), help="Fixes the weights and the order of samples.", **keep)
    try:
        config = _config()
    except ConfigError as error:
        st.error(re.sub(r"--(?=[a-z])", "", str(error)))  # the dashes belong to the command line
        return None
    for name in PARSERS:
        value = getattr(config, name)
        text = _widths(value) if name == "hidden" else f"{value:g}" if isinstance(value, float) else str(value)
        page.to_address(**{name: None if value == getattr(FIRST, name) else text})
    return config


def _scale(label: str, name: str, scale: tuple) -> None:
    """A slider over the values of a scale, and over the one that a link brought along."""
    own = st.session_state.setdefault(f"{_key(name)} scale", sorted({*scale, st.session_state[_key(name)]}))
    st.select_slider(label, own, format_func="{:g}".format, key=_key(name), persist_state="session", width=FIELD)


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
    run: LiveRun = st.session_state["training run"]
    running = st.session_state["training running"]

    def toggle() -> None:
        st.session_state["training running"] = not running

    def step() -> None:
        st.session_state["training running"] = False
        run.step()

    def reset() -> None:
        st.session_state["training running"] = False
        run.rewind(0)

    with st.container(horizontal=True):
        st.button(
            "Pause" if running else "Continue" if run.batch_losses else "Start",
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
            disabled=not run.batch_losses and not running,
            key="training reset",
        )


# ---------------------------------------------------------------- the instruments: redrawn on their own while training


def _instruments() -> None:
    run: LiveRun = st.session_state["training run"]
    if st.session_state["training running"]:
        run.advance(WORK)
    if run.done and st.session_state["training running"]:
        st.session_state["training running"] = False
        st.rerun()  # the buttons stand outside of the fragment
    _progress(run)
    trainer, theme = run.trainer, page.theme()
    until = charts.horizon(trainer.epoch, run.config.epochs)
    left, right = st.columns(2, gap="medium")
    with left:
        if trainer.sizes[0] == 2:
            _plane(run)
        _show(charts.gradient_norms(run.records, trainer.layer_names, until=until, theme=theme))
    with right:
        _show(charts.loss(run.records, run.batch_losses, trainer.steps_per_epoch, until=until, theme=theme))
        _show(charts.accuracy(run.records, until=until, theme=theme))
        if run.records:
            _show(charts.weight_histograms(run.records[-1], run.records[0], trainer.layer_names, theme))
    with st.expander("This run on the command line"):
        st.code(_command(run.config), language="bash", wrap_lines=True)


def _progress(run: LiveRun) -> None:
    trainer = run.trainer
    where = f"Epoch {trainer.epoch} of {run.config.epochs}"
    if trainer.batch:
        where += f", then batch {trainer.batch} of {trainer.steps_per_epoch}"
    if run.batch_losses:
        where += f". Loss of the last batch: {run.batch_losses[-1]:.3g}"
    st.progress(run.progress, text=where)
    if trainer.diverged:
        st.warning(
            f"The training diverged in epoch {trainer.epoch}: the loss is no longer a number. "
            f"Choose a smaller learning rate (it was {run.config.lr:g}).",
            icon=":material/warning:",
        )


def _plane(run: LiveRun) -> None:
    data = run.trainer.dataset
    xs, ys = grid(data.train_x, CELLS)
    answers = over_plane(run.trainer.model, xs, ys)
    _show(
        charts.boundary(
            answers, xs, ys, data.val_x, data.val_y, data.classes, title="Decision boundary", theme=page.theme()
        )
    )


def _show(chart: Chart) -> None:
    key = re.sub(r"[^a-z]+", "-", chart.title.partition(",")[0].lower())
    st.markdown(f"**{chart.title}**")
    st.echarts_chart(chart.spec, height=chart.height, alt=chart.alt, key=f"chart-{key}")
    table = st.expander("As a table", key=f"table-{key}", on_change="rerun", type="compact")
    if table.open:
        table.markdown(markdown_table(chart.headers, chart.rows))


main()
