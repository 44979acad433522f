"""The settings of the Training lab: its widgets, checked by `Config`, kept in the address, said as a command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from lab.training.config import DEFAULT_LR, SCHEDULES, Config, ConfigError, widths
from lab.training.datasets import BUILT_IN
from lab.ui import page
from lab.ui.training.own_data import your_points, your_table
from model import ACTIVATIONS, INITS

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
DATA = (*BUILT_IN, *OWN_DATA)  # no MNIST: a page loads nothing from the network
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
BATCHES = (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FRACTIONS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
LAYERS, WIDTH, EPOCHS = 6, 256, 300  # at most, so that one visitor cannot take the server from the others
FIELD = 148  # pixels: five settings side by side on a desk, two on a phone


def _hidden(text: str) -> tuple[int, ...]:
    """Widths such as "16 8", "16, 8" or "16-8". Raises ConfigError, a ValueError, with a sentence."""
    hidden = widths(text)
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


def from_link() -> Config:
    """The settings that the address carries, which the widgets show from now on; the usual ones where it has none."""
    chosen = {}
    for name, parse in PARSERS.items():

        def checked(text: str, name: str = name, parse: Callable = parse) -> Any:
            alone = {"optimizer": "sgd", "epochs": EPOCHS, name: parse(text)}
            return getattr(Config(**alone), name)  # a ConfigError is a ValueError

        chosen[name] = page.from_address(name, getattr(FIRST, name), checked)
    try:
        config = _fitting(chosen)
    except ConfigError as error:
        st.info(f"The settings in the address do not fit together, so the usual ones are used. {_sentence(error)}")
        config = FIRST
    set_widgets(config)
    return config


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


def set_widgets(config: Config) -> None:
    for name in PARSERS:
        value = getattr(config, name)
        st.session_state[_key(name)] = (
            _widths(value) if name == "hidden" else (value or 0) if name in UNLIMITED else value
        )


def _sentence(error: ConfigError) -> str:
    return re.sub(r"--(?=[a-z])", "", str(error))  # the dashes belong to the command line


def settings() -> Config | None:
    """The widgets; None, with a sentence below them, when what they say cannot be trained."""

    def choose_lesson() -> None:
        if st.session_state["training lesson"] in LESSONS:
            set_widgets(LESSONS[st.session_state["training lesson"]])

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


def command(config: Config) -> str:
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


def trainable(config: Config) -> bool:
    """Can this page train it? A run of the command line may have other data, or a larger network."""
    small = len(config.hidden) <= LAYERS and max(config.hidden, default=1) <= WIDTH and config.epochs <= EPOCHS
    return config.data in DATA and small
