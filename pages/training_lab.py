"""Training lab: change one setting and watch loss, accuracy, gradients and weights answer."""

import math
from dataclasses import replace
from pathlib import Path

import streamlit as st

from lab.training.config import Config
from lab.training.datasets import Dataset
from lab.training.lessons import FIRST
from lab.training.live import LiveRun, Own
from lab.training.shelf import default_name, differences, unused
from lab.training.worker import Worker, make_ready
from lab.ui import address, page, progress, state
from lab.ui.address import Field
from lab.ui.practice import choice, contest
from lab.ui.practice.finished import Engine
from lab.ui.state import PageState
from lab.ui.table import escape_markdown
from lab.ui.training import doctor, one_input, settings, shelf, upload, visit
from lab.ui.training.instruments import (
    TICK,
    VIEW,
    choose_view,
    draw,
    empty_plane,
    follow,
    follow_trial,
    lay_out,
    train,
    unchecked,
)
from lab.ui.training.settings import FIELD
from lab.ui.training.upload import OWN_DATA, POINTS

STYLE = Path(__file__).parents[1] / "assets" / "training.css"
SPEEDS = (10, 30, 100, 300, 1000, math.inf)  # batches per second


def main() -> None:
    with page.run("training", FIELDS) as current:
        st.html(STYLE)
        if current.restored:
            _begin()
        _show(current)


def _show(current: PageState) -> None:
    now = st.session_state
    now["training worker"].take_turn()  # an older run of this page may still be on its way out
    _welcome()
    shelf.read_ticks()
    if now["training opened"]:
        _write_address(current)
        shelf.recorded(now["training opened"])
        return
    choice.come_back("training")
    if engine := choice.chosen("training"):
        _with_own_engine(current, engine)
        return
    config, complaint = settings.chosen()
    now["training decided"] = now.get("training decided", False) or current.restored
    if config:
        config = settings.decide(now["training worker"], config)
    with st.container(key="training-bar", horizontal=True, vertical_alignment="center", gap="small"):
        st.title("Training lab", width="content")
        settings.choose_lesson(config)
        transport = st.container(key="training-transport", horizontal=True, gap="small", width="content")
        if not now["training hide"]:
            settings.more()
        choice.choose("training")
    if not now["training hide"]:
        with st.container(key="training-line", horizontal=True, vertical_alignment="bottom", gap="small"):
            settings.main_settings()
    word = st.container(key="training-word")
    own = OWN_DATA.get(now["training data"])
    data = None
    with word:
        if complaint:
            st.error(escape_markdown(complaint))
        _begin_again()
        if own:
            data = own(now["training val_fraction"], now["training seed"])
    ready = bool(config and (data or not own))
    if config and ready:
        _keep_up(config, *(data or (None, {})))
    if current.restored:
        if own and not data:  # an address carries no table: there is nothing to train on yet
            now["training epoch"] = None
        _go_to_epoch()
    _write_address(current)
    trying = doctor.watch(_run())
    with transport:
        _transport(ready)
    if own and not data:  # another run under the name of these data would be a lie
        now["training worker"].pause()
        now["training running"] = False
        if now["training data"] == "points":
            empty_plane()
        shelf.shelf(_put_in_place)
        return
    with word:
        if ready:
            _guess(_run())
        unchecked(_run().config)
    turn = now["training worker"].take_turn()
    now["training worker"].rate = now["training speed"]
    if now["training running"]:
        train(_run(), turn)  # before the page is drawn anew: it trains meanwhile
    with st.container(key="training-epochs", horizontal=True, vertical_alignment="center", gap="small"):
        bar = st.container(key="training-progress")
        view = choose_view(_choose_speed, settings.change_network)
    with st.container(key="training-instruments"):
        places = lay_out(view, bar)
        if now["training running"]:
            st.fragment(follow, run_every=TICK)(view, places, turn)
        elif trying:
            st.fragment(follow_trial, run_every=doctor.TICK)(view, places)
        else:
            draw(view, places)
            make_ready()  # while the visitor reads
    visit.keep()
    if complaint := visit.complaint():
        word.caption(complaint)
    one_input.read_along(view)
    one_input.take_weights(view)
    shelf.shelf(_put_in_place)
    progress.done("trained-network", _run().done)
    page.closing(
        "Choose the lesson “Rate too high”, guess, press Start, and read what the doctor says. Then lower the "
        "[[learning rate]] step by step and see [[loss]] and [[gradients|gradient]] answer in each [[epoch]].",
        "pages/graph_lab.py",
        "Back to one graph: where a gradient comes from",
    )


def _with_own_engine(current: PageState, engine: Engine) -> None:
    """What the visitor's engine can train, beside the lab's; the settings are for trainings with the lab's alone."""
    st.session_state["training worker"].pause()
    st.session_state["training running"] = False
    _write_address(current)
    with st.container(key="training-bar", horizontal=True, vertical_alignment="center", gap="small"):
        st.title("Training lab", width="content")
        choice.choose("training")
    contest.show(engine)
    page.closing(
        "Guess before you press Train: how many times slower than the lab’s engine is yours, and why?",
        "pages/build_it_yourself.py",
        "Next: your engine, and a page of it to keep",
        {"tab": "keep"},
    )


def _run() -> LiveRun:
    return st.session_state["training worker"].run


def _keep_up(config: Config, data: Dataset | None, own: Own) -> None:
    """When the settings or the data are others, put a new run in the place of the present one, which goes on the shelf.

    data: the visitor's own, or None for what the config names; own: what they were made from.
    """
    run = _run()
    if config != run.config or (data is not None and data.fingerprint != run.trainer.dataset.fingerprint):
        _put_in_place(LiveRun(config, data, own=own))


def _put_in_place(run: LiveRun) -> None:
    now = st.session_state
    now["training worker"].pause()
    _shelve(_run())
    now.pop("training proposal", None)
    now["training worker"] = Worker(run)
    now["training cursor"] = run.config.epochs


def _shelve(run: LiveRun) -> None:
    """Keep a run that is left, and say where."""
    if name := visit.shelve(run):
        st.toast(
            f"The run before is kept as “{escape_markdown(name)}” under Earlier runs.", icon=":material/inventory_2:"
        )


def _begin_again() -> None:
    """Ask before a run is left for settings that cannot change while it trains."""
    now, run = st.session_state, _run()
    proposal: Config | None = now.get("training proposal")

    def begin() -> None:
        assert proposal is not None  # or there is no button for it
        state.step()
        settings.set_widgets(proposal)

    def keep() -> None:
        now["training proposal"] = None

    if proposal:
        other = escape_markdown(differences(proposal, run.config.latest))
        name = escape_markdown(unused(default_name(run.config), now["training shelf"]))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**Begin again** with {other}? The run so far is kept as “{name}”.", width="content")
            st.button("Begin again", type="primary", on_click=begin, key="training begin again")
            st.button("Keep this run", on_click=keep, key="training keep run")


def _welcome() -> None:
    """In a visit's first run of the page: bring back what this visitor had before a reload."""
    now, arrived = st.session_state, visit.arrived()
    if not arrived:
        return
    now["training tried"] += [one for one in arrived.tried() if one not in now["training tried"]]
    known = {(str(kept.config), str(kept.own)) for kept in now["training shelf"]}
    now["training shelf"] += [k for k in arrived.shelf() if (str(k.config), str(k.own)) not in known]
    config = settings.chosen()[0]
    run = arrived.present(config)
    if run is None or not run.batches:
        return
    if run.own and run.config.data == now["training data"]:
        upload.restore(run.own)
    if config != run.config:
        visit.shelve(run)
    elif run.batches > _run().batches:
        now["training worker"].pause()
        now["training worker"], now["training running"] = Worker(run), False
        _go_to_epoch()


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _speed(text: str) -> float:
    return SPEEDS[SPEEDS.index(float(text))]


def _epoch(text: str) -> int:
    opened = st.session_state["training opened"]
    first, last = (1, len(opened.records)) if opened else (0, st.session_state["training epochs"])
    if not first <= int(text) <= last:
        raise ValueError(text)
    return int(text)


FIELDS = (
    *settings.SETTINGS.values(),
    settings.CHANGES,
    POINTS,
    shelf.OPENED,
    Field("epoch", "training epoch", None, _epoch, address.optional),  # None: at the end of what has been trained
    Field("guess", "training guess", None, str, address.optional),  # one that the lesson does not have is none
    Field("speed", "training speed", 300, _speed, address.number),
    Field("hide", "training hide", False, lambda text: text == "True"),
    *VIEW,
    choice.field("training"),
)


def _begin() -> None:
    """What the address asks for, in a session that is new or has another run."""
    now = st.session_state
    config = settings.restored()
    if "training worker" not in now:
        if config.data in OWN_DATA:  # until the visitor's own have been read
            config = replace(config, data=FIRST.data)
        now["training worker"] = Worker(LiveRun(config))
        now["training running"] = False
        now["training cursor"] = config.epochs
        now["training shelf"] = []
        now["training compared"] = []
        now["training tried"] = []
    if opened := now["training opened"]:
        now["training recorded epoch"] = now["training epoch"] or len(opened.records)


def _go_to_epoch() -> None:
    """A link to an epoch shows the run that was trained here before, or trains it at once: it holds only settings."""
    now, run = st.session_state, _run()
    epoch = now["training epoch"]
    now["training cursor"] = run.config.epochs if epoch is None else epoch
    if epoch is not None and epoch > run.trainer.epoch and not run.done:
        if known := visit.finished(run.config):
            now["training worker"] = Worker(known)
            return
        now["training running"] = True
        now["training speed"] = math.inf


def _write_address(current: PageState) -> None:
    now, run = st.session_state, _run()
    opened = now["training opened"]
    if opened:
        chosen, last = now["training recorded epoch"], len(opened.records)
    else:
        chosen, last = now["training cursor"], run.config.epochs
    # The last epoch belongs into the address of a finished run only: the page then trains up to it.
    now["training epoch"] = chosen if chosen < last or (run.done and not opened) else None
    current.write()


# ---------------------------------------------------------------- start, pause, step, reset


def _transport(ready: bool) -> None:
    """ready: is the run that of the settings? Without that nothing starts."""
    now = st.session_state
    worker: Worker = now["training worker"]
    run, running = worker.run, now["training running"]

    def stop() -> None:
        worker.pause()
        doctor.stop()
        now["training running"] = False
        now["training cursor"] = run.config.epochs

    def toggle() -> None:
        worker.pause()
        doctor.stop()
        now["training running"] = not running

    def step() -> None:
        stop()
        run.advance()

    def reset() -> None:
        stop()
        _shelve(run)
        run.rewind(0)
        settings.set_widgets(run.config)

    if "training complaint" in now:
        st.error(now.pop("training complaint"))
    st.button(
        "Done" if run.done else "Pause" if running else "Continue" if run.batches else "Start",
        icon=":material/check:" if run.done else ":material/pause:" if running else ":material/play_arrow:",
        type="primary",
        on_click=toggle,
        disabled=run.done or not ready,
        shortcut="P",
        key="training toggle",
    )
    st.button(
        "Step",
        icon=":material/skip_next:",
        on_click=step,
        disabled=run.done or not ready,
        shortcut="Right",
        key="training step",
        help="Train on one batch.",
    )
    st.button(
        "Reset",
        icon=":material/replay:",
        on_click=reset,
        disabled=not run.batches and not running,
        key="training reset",
        help="Start again from the same initial weights. This run moves to the shelf.",
    )


def _choose_speed() -> None:
    st.selectbox(
        "Batches per second",
        SPEEDS,
        format_func=lambda rate: f"{rate:,} batches/s" if math.isfinite(rate) else "full speed",
        key="training speed",
        label_visibility="collapsed",
        width=FIELD,
    )


def _guess(run: LiveRun) -> None:
    """The question of a lesson: open before the run, locked in it, answered after it by its own records."""
    lesson = settings.lesson()
    if not lesson or run.config != lesson.config:
        if run.own and not run.done:
            return
        running = st.session_state["training running"]
        if run.batches and not running and not run.done:
            st.caption(_paused(run))
            return
        watch = "how far training and validation drift apart" if run.config.val_fraction else "the loss fall"
        done = "Done. Drag the epoch to look back. Or change a setting and press Start: this run is kept."
        st.caption(done if run.done else f"Watch {watch}." if running else f"Press **Start**, and watch {watch}.")
        return
    guess = st.session_state["training guess"]
    if run.done:
        answer, why = lesson.judge(run.records)
        right = guess == lesson.answers[answer]
        guessed = (
            "" if guess is None else ":material/check: As you guessed: " if right else f":material/close: {guess}? No: "
        )
        st.markdown(f"{lesson.question} {guessed}**{lesson.answers[answer]}**; {why}")
        return
    begun = run.batches > 0 or st.session_state["training running"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{lesson.question}**", width="content")
        st.segmented_control(
            "Your guess", lesson.answers, key="training guess", disabled=begun, label_visibility="collapsed"
        )
        if run.batches and not st.session_state["training running"]:
            st.markdown(_paused(run), width="content")
        elif not begun:
            st.markdown("Guess, then press Start." if guess is None else "Press Start.", width="content")


def _paused(run: LiveRun) -> str:
    return f"Paused at epoch {run.trainer.epoch} of {run.config.epochs}. Press **Continue** to go on."


main()
