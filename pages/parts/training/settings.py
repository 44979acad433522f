"""The settings of the Training lab: widgets that `Config` checks, their fields in the address, and the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from lab.text.encoding import ENCODINGS
from lab.training.config import (
    CHANGEABLE,
    PAGE_EPOCHS,
    Change,
    Config,
    ConfigError,
    changes_text,
    command_line,
    parse,
    parse_change,
    parse_widths,
    setting_text,
)
from lab.training.config import SETTINGS as DECLARED
from lab.training.datasets import BUILT_IN, SYNTHETIC, SYNTHETIC_SAMPLES
from lab.training.lessons import FIRST, LESSONS
from lab.training.live import Own
from lab.training.samples import TableSettings
from lab.training.worker import Worker
from lab.ui import binding
from lab.ui.binding import HeldValue, number
from lab.ui.widgets import button
from pages.parts.training import four_points

OWN_DATA = ("points", "table")
PLANES = (*(name for name in SYNTHETIC if name != "sine"), "points")  # data with two inputs and classes
DATA = (*BUILT_IN, *OWN_DATA)  # no MNIST, because a page loads nothing from the network
DECAYS = (0.0, 0.0001, 0.001, 0.01, 0.1, 1.0)
SCALES = {  # values to choose from
    "lr": (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    "weight_decay": DECAYS,
    "l1": DECAYS,
    "clip": (0.0, 0.1, 0.5, 1.0, 5.0, 10.0),
    "momentum": (0.0, 0.5, 0.8, 0.9, 0.95, 0.99),
    "noise": (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0),
    "samples": (20, 50, 100, 200, 500, 1000, 2000, 5000),
    "batch_size": (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
    "val_fraction": (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9),
}
LAYERS, WIDTH = 6, 256  # maxima, so that one visitor cannot occupy the server
MAX_CHANGES = 300  # of settings during training, in an address
FIELD = 140  # pixels; five settings fit side by side on a desktop, two on a phone
HELD: Mapping[str, Any] = {"persist_state": "session"}  # widgets keep their values while they are not on the page


def _hidden(text: str) -> tuple[int, ...]:
    """Parse widths of layers such as "16 8", "16, 8" or "16-8". Raises ConfigError, a ValueError."""
    hidden = parse_widths(text)
    if len(hidden) > LAYERS or max(hidden, default=1) > WIDTH:
        raise ConfigError(
            f"This page takes up to {LAYERS} layers of up to {WIDTH} units; the command line has no limit."
        )
    return hidden


def _features(text: str) -> tuple[str, ...]:
    """Parse names of features such as "x y x2". Raises ConfigError."""
    return Config(features=tuple(text.split())).features


def _key(name: str) -> str:
    return f"training-{name}"


def _in_widget(name: str, value: Any) -> Any:
    """Convert a value of a Config to that of its widget: lists become text, and no limit becomes 0."""
    return " ".join(map(str, value)) if name in LISTS else (value or UNLIMITED[name]) if name in UNLIMITED else value


def _held(name: str) -> HeldValue:
    """Make the value of a setting in the session and in the address."""
    known = DECLARED[name]

    def read(text: str) -> Any:
        if name == "data":
            value: Any = DATA[DATA.index(text)]
        else:
            value = PARSED[name](text) if name in PARSED else parse(name, [text])
        Config(**{"optimizer": "sgd", "epochs": PAGE_EPOCHS, name: value})  # a ConfigError is a ValueError
        value = _in_widget(name, value)
        if not _fits(name, value):
            raise ValueError(text)
        return value

    def show(value: Any) -> str:
        return number(value) if known.kind == "number" else ("no", "yes")[value] if known.kind == "flag" else str(value)

    return HeldValue(_key(name), _in_widget(name, getattr(FIRST, name)), read, show)


def _fits(name: str, value: Any) -> bool:
    """Return True if the value of a widget is within the limits of the page."""
    low, high = DECLARED[name].page
    return low is None or high is None or value is None or low <= value <= high


LISTS = ("hidden", "features")  # tuples in a Config, texts in the session


def _changes(text: str) -> tuple[Change, ...]:
    """Parse changes of settings during training, such as "0:lr=0.01 12:lr=0.1"; epoch 0 has the initial values.
    Raises ValueError."""
    changes = text.split()
    if len(changes) > MAX_CHANGES:
        raise ValueError(f"An address has at most {MAX_CHANGES} changes.")
    return tuple(map(parse_change, changes))


CHANGES = HeldValue(_key("changes"), (), _changes, lambda changes: changes_text(changes[:MAX_CHANGES]))
UNLIMITED = {"clip": 0.0, "patience": 0}  # values of the widgets for None in a Config
PARSED: Mapping[str, Callable[[str], Any]] = {"hidden": _hidden, "features": _features}
SETTINGS = {name: _held(name) for name, known in DECLARED.items() if known.label}
LABELS = {name: DECLARED[name].label for name in SETTINGS}


def restored() -> Config:
    """Return the settings in the address, or the usual ones if those do not fit together."""
    try:
        return _config()
    except ConfigError:
        set_widgets(FIRST)
        return FIRST


def _config() -> Config:
    """Build a Config from the widgets. Raises ConfigError."""
    settings = {name: st.session_state[_key(name)] for name in SETTINGS}
    settings["hidden"], settings["features"] = _hidden(settings["hidden"]), _features(settings["features"])
    if settings["data"] not in PLANES:
        settings["features"] = ()  # here and below, the widget keeps its value for other data or another optimizer
    if settings["data"] not in SYNTHETIC:
        settings["noise"] = settings["samples"] = None
    if settings["optimizer"] != "sgd":
        settings["momentum"] = 0.0  # Adam has its own
    config = Config(**settings | {name: settings[name] or None for name in UNLIMITED})
    changes = st.session_state[CHANGES.key]
    if changes:
        first = {name: value for after, name, value in changes if after == 0}
        changed = replace(config, **first, changes=tuple(change for change in changes if change[0] > 0))
        if changed.latest == config:  # otherwise a widget has been moved since
            return changed
    return config


def set_widgets(config: Config) -> None:
    """Set the widgets to a configuration's latest values, from which `decide` makes no change of the present run."""
    session, latest = st.session_state, config.latest
    for name in SETTINGS:
        session[_key(name)] = _in_widget(name, getattr(latest, name))
    changed = dict.fromkeys(name for _, name, _ in config.changes)
    session[CHANGES.key] = (*((0, name, getattr(config, name)) for name in changed), *config.changes)
    session["training decided"] = True


def decide(worker: Worker, config: Config) -> Config:
    """Return the Config to train, given the one in the widgets and the present run.

    Settings that can change during training are changed. Others begin another run, with the widgets' settings from the
    first epoch on.
    """
    session, run = st.session_state, worker.run
    if session.pop("training decided", False) or config == run.config or not run.batches:
        return config
    before, now = run.config.latest, config.latest
    other = {name: getattr(now, name) for name in SETTINGS if getattr(now, name) != getattr(before, name)}
    if run.done or not (other.keys() <= set(CHANGEABLE) and worker.change(other)):
        session[CHANGES.key] = ()
        return now
    set_widgets(run.config)
    session.pop("training decided")
    return run.config


def change_network(changed: Mapping[str, str]) -> None:
    """Set layers, units or features that were changed in the picture; ignore values that this page does not accept."""
    for name, text in changed.items():
        with contextlib.suppress(ConfigError):
            SETTINGS[name].parse(text)
            binding.step()
            st.session_state[_key(name)] = text


def _sentence(error: ConfigError) -> str:
    """Return an error that names the page's widget instead of the option of the command line."""
    return f"{LABELS.get(error.setting, error.setting.capitalize())} {error.problem}".strip()


def chosen() -> tuple[Config | None, str]:
    """Return the settings as a Config; or None and a sentence that says why they cannot be trained."""
    try:
        return _config(), ""
    except ConfigError as error:
        return None, _sentence(error)


def choose_lesson(config: Config | None) -> None:
    """Draw the menu of lessons; its button names the lesson of the settings."""

    session = st.session_state

    def begin() -> None:
        lesson = session["training lesson"]
        session[four_points.OPEN] = lesson == four_points.TITLE
        binding.step()
        if lesson in LESSONS:
            set_widgets(LESSONS[lesson].config)

    st.menu_button(
        four_points.TITLE if session[four_points.OPEN] else lesson_name(config),
        [*LESSONS, four_points.TITLE],
        key="training lesson",
        on_click=begin,
        help="Lessons: each sets up the lab and asks you to predict what happens.",
        icon=":material/menu_book:",
        width=220,
    )


def lesson_name(config: Config | None) -> str:
    """Return the name of the lesson with these settings, or what other settings are called."""
    return next((name for name in LESSONS if LESSONS[name].config == config), "Your own settings")


def main_settings() -> None:
    """Draw the settings that visitors change most, in one line, the most important first."""
    _draw("data", "lr", "activation", "optimizer", "weight_decay", "batch_size", "noise", "val_fraction")


def more() -> None:
    """Draw a popover with the other settings."""
    box = st.popover("More", icon=":material/tune:", key="training settings", on_change="rerun")
    if box.open:  # widgets in a closed popover would show the values of their first run
        with box, st.container(horizontal=True, vertical_alignment="bottom"):
            _draw("hidden", "epochs", "samples", "l1", "init", "skip", "seed", "schedule", "warmup", "clip")
            _draw("patience", "momentum")


def _draw(*names: str) -> None:
    """Draw the widgets of those of these settings that have an effect."""
    session = st.session_state
    generated = session[_key("data")] in SYNTHETIC
    idle = {"noise": not generated, "samples": not generated, "momentum": session[_key("optimizer")] != "sgd"}
    for name in names:
        if not idle.get(name):
            _widget(name)


def _step(name: str) -> None:
    """Make a setting that begins another run one that the browser's Back undoes; a callback."""
    run = st.session_state["training worker"].run
    if run.records and not run.done and name not in CHANGEABLE:
        binding.step()


def _widget(name: str) -> None:
    """Draw the widget of a setting, as it is declared."""
    known, value = DECLARED[name], st.session_state[_key(name)]
    shared: dict[str, Any] = {"key": _key(name), "width": FIELD, "help": known.note or None, **HELD}
    shared |= {"on_change": _step, "args": (name,)}
    if name == "data":
        st.selectbox(known.label, DATA, format_func=lambda name: f"your {name}" if name in OWN_DATA else name, **shared)
    elif name in SCALES:  # with the value that a link or a run has
        options = sorted({*SCALES[name], *([] if value is None else [value])})
        if name in ("noise", "samples"):  # None, which a cross sets, is the usual value
            usual = SYNTHETIC[st.session_state[_key("data")]][1] if name == "noise" else SYNTHETIC_SAMPLES
            shared |= {"index": None, "placeholder": f"{usual:g}"}
        st.selectbox(known.label, options, format_func="{:g}".format, **shared)
    elif known.choices:
        st.selectbox(known.label, known.choices, **shared)
    elif known.kind == "flag":
        st.toggle(known.label, **shared | {"width": "content"})  # its name has its own width
    elif known.kind == "widths":
        st.text_input(known.label, **shared)
    else:
        st.number_input(known.label, *known.page, **shared)


def remedy_button(config: Config, remedy: Mapping[str, Any], key: str) -> None:
    """Draw a button that applies a remedy to a run's settings, if this page can train them."""
    if not remedy or not trainable(changed := replace(config.latest, **remedy)):
        return

    def set_them() -> None:
        binding.step()
        set_widgets(changed)

    button(f"Set {in_words(remedy, ' to ')}", key, set_them, icon="healing")


def in_words(remedy: Mapping[str, Any], between: str = " ") -> str:
    """Describe a remedy by the labels of its settings: "learning rate 0.001 and initial weights he"."""
    labels = {name: label if label.startswith("L1") else label.lower() for name, label in LABELS.items()}
    return " and ".join(f"{labels[name]}{between}{setting_text(value)}" for name, value in remedy.items())


def csv_name(own: Own) -> str:
    """Return the name of the file with the visitor's own data."""
    return str(own.get("name", "points.csv"))


def command(config: Config, own: Own) -> str:
    """Write the command that trains the same run; the visitor's own data are in a file then."""
    if own:
        chosen = {name: own[name] for name in TableSettings._fields if name in own}
        chosen = {name: value for name, value in chosen.items() if name != "encoding" or value in ENCODINGS}
        config = replace(config, data=f"csv:{csv_name(own)}", **chosen)
    return command_line(config)


def trainable(config: Config) -> bool:
    """Return whether this page can train a Config; the command line allows other data and larger values."""
    small = len(config.hidden) <= LAYERS and max(config.hidden, default=1) <= WIDTH
    values = {name: _in_widget(name, getattr(config, name)) for name in SETTINGS}
    return config.data in DATA and small and all(_fits(name, value) for name, value in values.items())
