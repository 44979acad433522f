"""Training lab: change one setting and watch loss, accuracy, gradients and weights answer."""

import math
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.config import ROOT
from lab.training.config import PAGE_EPOCHS, Config
from lab.training.datasets import Dataset
from lab.training.lessons import FIRST, LESSONS
from lab.training.live import LiveRun, Own
from lab.training.worker import Worker, start_spare_process
from lab.ui import binding, page, progress
from lab.ui.binding import HeldValue
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button
from pages.parts.training import doctor, four_points, kept, one_input, settings, shelf, upload
from pages.parts.training.instruments import (
    TICK,
    VIEW,
    choose_view,
    draw,
    empty_plane,
    follow,
    lay_out,
    train,
    unchecked,
)
from pages.parts.training.settings import HELD
from pages.parts.training.upload import OWN_DATA, POINTS, in_short

STYLE = ROOT / "assets" / "training.css"


def main() -> None:
    with page.frame("training-lab", *VALUES) as arrived:
        st.html(STYLE)
        if arrived:
            _begin()
        _show(arrived)


def _show(arrived: bool) -> None:
    session = st.session_state
    session["training worker"].take_turn()  # stops an older run of this page that has not ended yet
    kept.exchange(_receive)
    shelf.read_ticks()
    if session[four_points.OPEN]:
        _four_points()
    else:
        _train(arrived)


def _train(arrived: bool) -> None:
    """Draw the settings of a run, its buttons and its instruments."""
    session = st.session_state
    config, complaint = settings.chosen()
    session["training decided"] = session.get("training decided", False) or arrived
    if config:
        config = settings.decide(session["training worker"], config)
    bar = st.container(key="training-bar", horizontal=True, vertical_alignment="center", gap="small")
    with bar:
        st.title("Training lab", width="content")
        settings.choose_lesson(config)
        transport = st.container(key="training-transport", horizontal=True, gap="small", width="content")
        settings.more()
    with st.container(key="training-line", horizontal=True, vertical_alignment="bottom", gap="small"):
        settings.main_settings()
    word = st.container(key="training-word")
    own = OWN_DATA.get(session["training-data"])
    data = None
    with word:
        if complaint:
            st.error(with_code(complaint))
        if own:
            data = own(session["training-val_fraction"], session["training-seed"], bar)
    ready = bool(config and (data or not own))
    if config and ready:
        dataset, made_from = data or (None, {})
        _keep_up(config, dataset, made_from)
    if arrived:
        _go_to_epoch(config or _run().config)
        session["training led to pad"] = session[one_input.PAD]
    if ready:
        _train_again()
    _note_place()
    with transport:
        _transport(ready)
    if own and not data:  # the present run has other data: do not show it under this name
        session["training worker"].pause()
        session["training running"] = False
        if session["training-data"] == "points":
            empty_plane()
    else:
        _instruments(word, ready)
    shelf.shelf()
    _forget_button()
    if own and not data:
        return
    progress.done("trained-network", _run().done)
    page.closing(
        "Choose the lesson “Rate too high”, guess, press Start, and read what the doctor says. Then lower the "
        "[[learning rate]] step by step and see how [[loss]] and [[gradients|gradient]] respond in each [[epoch]].",
        "pages/graph_lab.py",
        "Back to one graph: where a gradient comes from",
    )


def _instruments(word: DeltaGenerator, ready: bool) -> None:
    """Draw the run, and go on with it. word: the place of what is said about it; ready: it can be trained."""
    session = st.session_state
    with word:
        if session["training-data"] == "table" and not _run().batches:  # then the picture needs the room
            in_short(word)
        if ready:
            _guess(_run())
        unchecked(_run().config)
    worker = session["training worker"]
    turn = worker.take_turn()
    worker.rate = math.inf if worker.until else session["training-speed"]
    if session["training running"]:
        train(_run(), turn)  # starts before the page is drawn, so it trains during that
    with st.container(key="training-progress-row", horizontal=True, vertical_alignment="center", gap="small"):
        epochs = st.container(key="training-progress")
        view = choose_view(settings.change_network, one_input.open_unit)
    with st.container(key="training-instruments"):
        places = lay_out(view, epochs)
        if session["training running"]:
            with places.doctor:
                st.fragment(follow, run_every=TICK)(view, places, turn)
        else:
            with places.doctor.container():  # as a fragment has one, too
                draw(view, places)
            start_spare_process()  # while the visitor reads
    one_input.show_one_input(view)


def _four_points() -> None:
    """Show a training of four points, all of whose numbers fit, in place of the network."""
    session = st.session_state
    session["training worker"].pause()
    session["training running"], session["training-trained"] = False, (0, 0)
    with st.container(key="training-bar", horizontal=True, vertical_alignment="center", gap="small"):
        st.title("Training lab", width="content")
        settings.choose_lesson(None)
    four_points.show()
    page.closing(four_points.TRY_THIS, "pages/descent.py", "Next: three optimizers on one surface")


def _run() -> LiveRun:
    return st.session_state["training worker"].run


def _keep_up(config: Config, data: Dataset | None, own: Own) -> None:
    """Replace the present run, which moves to the shelf, if the settings or the data have changed.

    data: the visitor's own, or None for those that the config names; own: what the visitor's data were made from.
    """
    run = _run()
    new, old = (
        (one.fingerprint, one.columns, one.classes) for one in (data or run.trainer.dataset, run.trainer.dataset)
    )
    if config != run.config or new != old:
        session = st.session_state
        session["training worker"].pause()
        _shelve(run)
        session["training worker"] = Worker(LiveRun(config, data, own=own), visitor=kept.visit())
        session["training cursor"] = config.epochs


def _shelve(run: LiveRun) -> None:
    """Keep a run that is being replaced, and say where."""
    # Streamlit removes from the address only what it knows, and static/keep/reached.js wrote this one past it.
    st.query_params["training-trained"] = kept.position_text(run.position)
    if name := shelf.shelve(run):
        st.toast(
            f"The previous run is kept as “{escape_markdown(name)}” under Earlier runs.", icon=":material/inventory_2:"
        )


def _receive(name: str, text: str) -> None:
    """Take over what the browser has kept."""
    if name == "table":
        upload.receive(text)
    elif name == "shelf":
        shelf.receive(text)


def _forget_button() -> None:
    """Draw the button that clears what the browser keeps, if there is something."""
    session = st.session_state

    def forget() -> None:
        session["training shelf"], session["training compared"] = [], []
        one_input.clear_pad()
        upload.forget()
        kept.forget()

    if session["training shelf"] or "own table" in session or one_input.drawn():
        button(
            "Forget what I brought",
            "training forget",
            forget,
            icon="delete",
            type="tertiary",
            help="Your table, your drawn digit and earlier runs are kept in this browser alone. This deletes them.",
        )


# ---------------------------------------------------------------- state: in the session, mirrored in the address


VALUES = (
    *settings.SETTINGS.values(),
    settings.CHANGES,
    POINTS,
    HeldValue("training-epoch", None, lambda text: range(PAGE_EPOCHS).index(int(text))),  # None: the last trained epoch
    HeldValue("training-trained", (0, 0), kept.parse_position, kept.position_text),
    # Findings whose remedies were tried
    HeldValue("training-tried", (), lambda text: tuple(text.split(",")), ",".join),
    HeldValue("training-guess", None),  # None also for an answer the lesson lacks
    binding.flag(one_input.PAD),
    *VIEW,
    binding.flag(four_points.OPEN),
)


def _begin() -> None:
    """Set up the session for the address, with a worker if the visit is new."""
    session = st.session_state
    config = settings.restored()
    if "training worker" not in session:
        if config.data in OWN_DATA:  # until the visitor's own data have been read
            config = replace(config, data=FIRST.data)
        session["training worker"] = Worker(LiveRun(config), visitor=kept.visit())
        session["training running"] = False
        session["training cursor"] = config.epochs
        session["training shelf"] = []
        session["training compared"] = []
        session["training tried"], session["training try again"] = [], ()
        session["training until"] = None


def _go_to_epoch(config: Config) -> None:
    """Go to the epoch in the address, and ask for a run with these settings that has come as far as the address says.

    A link holds only settings, and no results: the run is trained again, and remedies are tried again.
    """
    session = st.session_state
    epoch, trained = session["training-epoch"], session["training-trained"]
    if epoch is None or epoch > config.epochs:
        epoch = config.epochs
    elif epoch > trained[0]:
        trained = config.epochs, 0
    session["training cursor"], session["training until"] = epoch, (config, trained)
    session["training try again"] = session["training-tried"]


def _train_again() -> None:
    """Train the run again to where it was before a reload, with the same numbers, unless it has come as far."""
    session, worker = st.session_state, st.session_state["training worker"]
    config, until = session["training until"] or (None, (0, 0))
    if config == worker.run.config and worker.run.position < until and not worker.run.done:
        worker.until, session["training running"] = until, True
    else:
        worker.until = session["training until"] = None


def _note_place() -> None:
    """Note for the address which epoch is looked at, how far the run is trained, or will be, and what was tried."""
    session, run = st.session_state, _run()
    chosen = session["training cursor"]
    session["training-epoch"] = chosen if chosen < run.config.epochs else None
    wanted = session["training until"][1] if session["training until"] else (0, 0)
    session["training-trained"] = max(run.position, wanted)
    tried = [trial.finding.key for trial in doctor.tried(run)]
    session["training-tried"] = tuple(dict.fromkeys((*tried, *session["training try again"])))


# ---------------------------------------------------------------- start, pause, step, reset


def _transport(ready: bool) -> None:
    """Draw the buttons Start, Step and Reset. ready: False if the settings do not make a run; nothing can start."""
    session = st.session_state
    worker: Worker = session["training worker"]
    run, running = worker.run, session["training running"]

    def stop() -> None:
        worker.pause()
        doctor.stop()
        session["training running"], session["training until"] = False, None
        session["training cursor"] = run.config.epochs

    def toggle() -> None:
        worker.pause()
        doctor.stop()
        session["training running"], session["training until"] = not running, None

    def step() -> None:
        stop()
        run.advance()

    def reset() -> None:
        stop()
        _shelve(run)
        run.rewind(0)
        settings.set_widgets(run.config)

    if "training complaint" in session:
        st.error(session.pop("training complaint"))
    button(
        "Done" if run.done and ready else "Pause" if running else "Continue" if run.batches else "Start",
        "training toggle",
        toggle,
        icon="check" if run.done and ready else "pause" if running else "play_arrow",
        type="primary",
        disabled=run.done or not ready,
        shortcut="P",
    )
    button(
        "Step",
        "training step",
        step,
        icon="skip_next",
        disabled=run.done or not ready,
        shortcut="Right",
        help="Train on one batch.",
    )
    button(
        "Reset",
        "training reset",
        reset,
        icon="replay",
        disabled=not run.batches and not running,
        help="Start again from the same initial weights. This run moves to the shelf.",
    )


def _guess(run: LiveRun) -> None:
    """Ask a lesson's question before the run, lock the guess during it, and answer from its records afterwards.

    Without a lesson, say what to do or what to watch.
    """
    lesson = LESSONS.get(settings.lesson_name(run.config))
    if not lesson:
        if run.own and not run.done:
            return
        running = st.session_state["training running"]
        if run.batches and not running and not run.done:
            st.caption(_paused(run))
            return
        if st.session_state["training worker"].until:
            st.caption("It is trained again, with the same numbers, to where it was. **Pause** stops it.")
            return
        watch = "how far training and validation drift apart" if run.config.val_fraction else "the loss fall"
        done = "Done. Drag the epoch slider to look back, or change a setting and press Start: this run is kept."
        st.caption(done if run.done else f"Watch {watch}." if running else f"Press **Start**, and watch {watch}.")
        return
    guess = st.session_state["training-guess"]
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
            "Your guess", lesson.answers, key="training-guess", disabled=begun, label_visibility="collapsed", **HELD
        )
        if run.batches and not st.session_state["training running"]:
            st.markdown(_paused(run), width="content")
        elif not begun:
            st.markdown("Guess, then press Start." if guess is None else "Press Start.", width="content")


def _paused(run: LiveRun) -> str:
    return f"Paused at epoch {run.trainer.epoch} of {run.config.epochs}. Press **Continue** to go on."


main()
